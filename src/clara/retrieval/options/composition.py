"""The search of a corpus whose profile asks for more than the default: a strategy, no repetitions, collections in phases."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from math import ceil
from typing import Literal

from clara.errors import Invalid
from clara.retrieval.options.strategies import choosing, diversity, strategy_named, unit_vectors
from clara.retrieval.passage import Gather, Gathered, Hit, Passage, Query, Search
from clara.retrieval.profile import HYBRID, Profile

# DevMatrix. Not fitted: a property of the model, like every threshold on a cosine.
SAME = 0.95
MOST_CANDIDATES = 100
# A run of digits with what joins them: 1.234,56 and 01/02/2026 and 10:30 and 39-2015 are one figure each.
_FIGURE = re.compile(r"\d+(?:[.,:/'’\-\u00a0\u202f]\d+)*")


def deduplicated(hits: Sequence[Hit], threshold: float = SAME, *, across_languages: bool = True) -> list[Hit]:
    """Drop each hit whose vector is above `threshold` (cosine) from a better ranked one that is kept; keep the order.

    Two passages whose figures differ, in heading or text, are never taken for the same: vectors hardly see numbers, and
    "600 euros" and "900 euros" are what people ask about. Unless `across_languages`, neither are a passage and its
    translation. Hits without a vector are kept.
    """
    rows = [place for place, hit in enumerate(hits) if hit.vector is not None]
    vectors = unit_vectors([hits[place] for place in rows])
    alike = vectors @ vectors.T > threshold
    kept: list[int] = []
    for row, place in enumerate(rows):
        twins = (rows[other] for other in range(row) if alike[row, other] and rows[other] in kept)
        if not any(_replaceable(hits[place].passage, hits[twin].passage, across_languages) for twin in twins):
            kept.append(place)
    dropped = set(rows) - set(kept)
    return [hit for place, hit in enumerate(hits) if place not in dropped]


def folding(search: Search) -> Search:
    """Ask for twice as many hits, up to 100, and give the best of those that say different things."""

    def fold(query: Query) -> list[Hit]:
        return deduplicated(search(_wider(query)))[: query.limit]

    return fold


def once_each(search: Search) -> Search:
    """Ask for twice as many hits, up to 100, and give of passages that were cut from one text, their parent, the best."""

    def best(query: Query) -> list[Hit]:
        kept: dict[object, Hit] = {}
        for hit in search(_wider(query)):
            kept.setdefault(hit.passage.metadata.get("parent_id", hit.passage.id), hit)
        return list(kept.values())[: query.limit]

    return best


def _wider(query: Query) -> Query:
    return replace(query, limit=min(2 * query.limit, max(query.limit, MOST_CANDIDATES)))


def _replaceable(passage: Passage, twin: Passage, across_languages: bool) -> bool:
    if not across_languages and passage.language != twin.language:
        return False
    return _FIGURE.findall(passage.indexed_text) == _FIGURE.findall(twin.indexed_text)


class MissingThresholdError(Invalid, ValueError):
    """A collection has no threshold, and without one nothing could be refused; the message says which."""


@dataclass(frozen=True, slots=True)
class Phase:
    """A collection, the least cosine (-1..1) at which its passages count, and the share (0..1] of the limit asked of it.

    It is asked only while fewer hits than `below`, a share of the limit, have passed; 1 is the whole limit. Raises ValueError
    when a number is out of its range.
    """

    name: str
    threshold: float
    share: float = 1.0
    below: float = 1.0

    def __post_init__(self) -> None:
        if not -1 <= self.threshold <= 1 or not 0 < self.share <= 1:
            raise ValueError(f"{self}: give a threshold from -1 to 1 and a share above 0, at most 1")


@dataclass(frozen=True, slots=True)
class Relaxation:
    """How thresholds are lowered when nothing passed: multiplied by `step` (0..1) again and again, never under `floor`.

    The defaults are DevMatrix's. A model whose cosines lie close together needs a step nearer to 1. Raises ValueError.
    """

    step: float = 0.8
    floor: float = 0.3

    def __post_init__(self) -> None:
        if not 0 < self.step < 1 or not 0 < self.floor <= 1:
            raise ValueError(f"{self}: give a step between 0 and 1 and a floor above 0, at most 1")

    def lower(self, threshold: float) -> float:
        """Give the next threshold; one that is at the floor or under it stays."""
        return min(threshold, max(self.floor, threshold * self.step))


def phases_of(names: Sequence[str], thresholds: Mapping[str, float]) -> tuple[Phase, ...]:
    """Ask collections by DevMatrix's rule; raises MissingThresholdError.

    The first is asked for the whole limit; the second too, when fewer than half of it passed; every other for a third of it,
    when fewer than .7 of it passed.
    """
    missing = next((name for name in names if name not in thresholds), None)
    if missing is not None:
        raise MissingThresholdError(f"collection {missing!r} has no threshold: calibrate it, or leave the collection out")
    rules = [(1.0, 1.0), (1.0, 0.5)] + [(1 / 3, 0.7)] * len(names)
    return tuple(Phase(name, thresholds[name], share, below) for name, (share, below) in zip(names, rules, strict=False))


# The thresholds were published for another embedding model: fit them before using them with this one.
DEVMATRIX = phases_of(("curated", "project_code", "standards"), {"curated": 0.65, "project_code": 0.55, "standards": 0.60})
# Checked facts, articles of law, common procedure: `phases_of(CLARA, thresholds)`, the thresholds being calibrated data.
CLARA = ("curado", "normativa", "comun")


def phased(
    search: Search,
    phases: Sequence[Phase],
    relaxation: Relaxation | None = Relaxation(),
    order: Literal["cosine", "phase"] = "cosine",
) -> Gather:
    """Ask one collection after the other, each at most once and only when it is needed.

    Each search has the query's own vector, so give it one: the text is then embedded once. A hit without a cosine passes no
    threshold. A collection that the query leaves out is not asked. When nothing at all passed, the thresholds are lowered
    together over what was fetched already; without a `relaxation`, never. Raises what `search` raises.

    Fused scores compare within one search only. Cosines are of one question in one space, so they order the hits of several;
    with order="phase" an earlier collection stands before a later one however near its passages are.
    """

    def gather(query: Query) -> Gathered:
        asked = _asked(search, phases, query)
        if relaxation is not None and not _passing(asked):
            asked = _relaxed(asked, relaxation)
        passing = _passing(asked)
        hits = [hit for _, hit in passing]
        if order == "cosine":
            hits.sort(key=lambda hit: hit.cosine or 0.0, reverse=True)
        return Gathered(
            hits=tuple(hits[: query.limit]),
            relaxed={one.name: one.threshold for one in asked if one.relaxed and passing},
            passed={one.name: sum(name == one.name for name, _ in passing) for one in asked},
        )

    return gather


@dataclass(frozen=True, slots=True)
class _AskedCollection:
    """A collection that was asked, what it gave, and the threshold that holds now."""

    name: str
    hits: Sequence[Hit]
    threshold: float
    relaxed: bool = False

    def lowered(self, relaxation: Relaxation) -> "_AskedCollection":
        threshold = relaxation.lower(self.threshold)
        return replace(self, threshold=threshold, relaxed=self.relaxed or threshold < self.threshold)


def _asked(search: Search, phases: Sequence[Phase], query: Query) -> list[_AskedCollection]:
    asked: list[_AskedCollection] = []
    for phase in phases:
        if query.collections and phase.name not in query.collections:
            continue
        if len(_passing(asked)) < phase.below * query.limit:
            limit = ceil(query.limit * phase.share)
            hits = search(replace(query, collections=(phase.name,), limit=limit))
            asked.append(_AskedCollection(phase.name, hits, phase.threshold))
    return asked


def _relaxed(asked: list[_AskedCollection], relaxation: Relaxation) -> list[_AskedCollection]:
    """Lower all thresholds step by step until something passes or all are at the floor."""
    lower = [one.lowered(relaxation) for one in asked]
    while lower != asked and not _passing(lower):
        asked, lower = lower, [one.lowered(relaxation) for one in lower]
    return lower


def _passing(asked: Sequence[_AskedCollection]) -> list[tuple[str, Hit]]:
    """Give the hits that reach their threshold, each with its collection, in the order asked, each passage once."""
    passing: dict[str, tuple[str, Hit]] = {}
    for one in asked:
        for hit in one.hits:
            if hit.cosine is not None and hit.cosine >= one.threshold:
                passing.setdefault(hit.passage.id, (one.name, hit))
    return list(passing.values())


# How often thresholds are lowered when nothing passed: three steps of .98 go from the cosine that 95 of 100 right answers reach
# to below what all of them do (1,100 questions to code, prose and across languages).
RELAXED_STEPS = 3


def needs_vectors(profile: Profile) -> bool:
    """Whether hits are compared with each other, so that their vectors have to be fetched. Raises UnknownStrategyError."""
    return strategy_named(profile.strategy).needs_vectors or profile.deduplicate


def composed(profile: Profile, search: Search) -> Gather:
    """Search as a profile says; if hits have vectors, `trace["diversity"]` says how unlike each other those that hold are."""
    # The statement orders by the fused score already, and cuts where the hybrid strategy would.
    chosen = search if profile.strategy == HYBRID else choosing(search, strategy_named(profile.strategy))
    for wanted, wrap in ((profile.deduplicate, folding), (profile.once_each, once_each)):
        chosen = wrap(chosen) if wanted else chosen
    gather = _phased(profile, chosen) if profile.collections else lambda query: Gathered(tuple(chosen(query)))

    def gathered(query: Query) -> Gathered:
        found = gather(query)
        return replace(found, trace=_diversity(found.hits))

    return gathered if needs_vectors(profile) else gather


def _phased(profile: Profile, search: Search) -> Gather:
    lowest = min(profile.collections.values()) * profile.relaxing**RELAXED_STEPS
    return phased(search, phases_of(list(profile.collections), profile.collections), Relaxation(profile.relaxing, lowest))


def _diversity(hits: Sequence[Hit]) -> dict[str, dict[str, float]]:
    spread = diversity([hit for hit in hits if not hit.ended])
    return {} if spread is None else {"diversity": asdict(spread)}
