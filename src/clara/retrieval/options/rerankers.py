"""Reranking: a second, dearer look at the order of the passages that a search found."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from time import perf_counter
from typing import Protocol

from clara.errors import Unavailable
from clara.retrieval.passage import Found, Hit, Query, Retrieve, Status

STAGE = "rerank"
# The largest `limit` of a query.
MOST_CANDIDATES = 100


class RerankerUnavailableError(Unavailable):
    """The reranker gave no usable scores. The message is a short reason without a word of the question or a passage."""


class Reranker(Protocol):
    """Scores the hits of one search against its question; higher is better, on a scale of its own."""

    @property
    def name(self) -> str:
        """What traces and failures call it."""

    def scores(self, query: Query, hits: Sequence[Hit]) -> Sequence[float]:
        """Give one finite score a hit, in the order of the hits. Raises RerankerUnavailableError."""


class TextScorer(Protocol):
    """A model that reads a question and texts; one call for the whole list.

    Any text is allowed, blank and hostile ones too, and no text may change how another is judged.
    """

    @property
    def name(self) -> str:
        """What traces and failures call it."""

    def scores(self, question: str, texts: Sequence[str]) -> list[float]:
        """Give one finite score a text, in the order of the texts. Raises RerankerUnavailableError, also when it is late."""


@dataclass(frozen=True, slots=True)
class TextReranker:
    """Reranks with a text scorer, which sees the question and what the search had indexed, and nothing else."""

    scorer: TextScorer

    @property
    def name(self) -> str:
        """The scorer's name."""
        return self.scorer.name

    def scores(self, query: Query, hits: Sequence[Hit]) -> Sequence[float]:
        """Score heading and text of each hit. Raises RerankerUnavailableError."""
        return self.scorer.scores(query.text, [hit.passage.indexed_text for hit in hits])


@dataclass(frozen=True, slots=True)
class HeuristicWeights:
    """What the heuristic adds to the similarity; lengths are characters of a passage's text.

    The bonuses are DevMatrix's; the two penalties are the graded ones that its own review proposes instead of -.01 for
    everything extremely short or long.
    """

    curated: frozenset[str]
    curated_bonus: float = 0.05
    medium_bonus: float = 0.02
    medium_from: int = 200
    medium_to: int = 1_200
    short_penalty: float = 0.02
    short_below: int = 30
    long_penalty: float = 0.01
    long_above: int = 3_000


def _heuristic_score(hit: Hit, weights: HeuristicWeights) -> float:
    score = hit.score if hit.cosine is None else hit.cosine
    if hit.passage.collection in weights.curated:
        score += weights.curated_bonus
    length = len(hit.passage.text)
    if length < weights.short_below:
        score -= weights.short_penalty
    elif length > weights.long_above:
        score -= weights.long_penalty
    elif weights.medium_from <= length <= weights.medium_to:
        score += weights.medium_bonus
    return min(1.0, max(0.0, score))


@dataclass(frozen=True, slots=True)
class HeuristicReranker:
    """Reranks by where a passage comes from and how long it is; asks nobody and never fails."""

    weights: HeuristicWeights
    name: str = "heuristic"

    def scores(self, _query: Query, hits: Sequence[Hit]) -> Sequence[float]:
        """Score each hit 0..1: similarity, a bonus for a curated collection, and a bonus or penalty for the text's length.

        The similarity is the cosine, or the fused score where the tier measures no cosine.
        """
        return [_heuristic_score(hit, self.weights) for hit in hits]


def in_order(scored: Iterable[tuple[int, float]], count: int) -> list[float]:
    """Put (index, score) pairs, in whatever order a model gave them, in the order of the `count` texts.

    Raises RerankerUnavailableError unless every index from 0 is there exactly once.
    """
    pairs = sorted(scored)
    if [index for index, _ in pairs] != list(range(count)):
        raise RerankerUnavailableError("did not score every passage exactly once")
    return [score for _, score in pairs]


def reranked(retrieve: Retrieve, reranker: Reranker, *, candidates: int) -> Retrieve:
    """Search for `candidates` passages (at most 100, at least the limit), reorder them, keep the limit.

    Hits with equal scores stay in their order. Status, confidence and the hits' own scores stay as the search gave them. A
    reranker that is unavailable, or answers with too few, too many or infinite scores, changes no order and is told in
    `failures`. `trace["rerank"]` has every candidate's new score, in the order before, and the number of hits that moved.
    Fewer than two hits are not reranked.
    """

    def reordering(query: Query) -> Found:
        found = retrieve(replace(query, limit=min(MOST_CANDIDATES, max(candidates, query.limit))))
        if found.status is Status.FOUND and found.hits[1:]:
            found = _reordered(found, reranker, query)
        return replace(found, hits=found.hits[: query.limit])

    return reordering


def _reordered(found: Found, reranker: Reranker, query: Query) -> Found:
    started = perf_counter()
    try:
        scores = _checked(reranker.scores(query, found.hits), len(found.hits))
        failures = found.failures
    except RerankerUnavailableError as error:
        scores = []
        failures = (*found.failures, f"{reranker.name}: {error}")
    milliseconds = (perf_counter() - started) * 1000
    order = sorted(range(len(found.hits)), key=lambda place: -scores[place]) if scores else range(len(found.hits))
    told = {
        "reranker": reranker.name,
        "moved": sum(place != before for place, before in enumerate(order)),
        "scores": {hit.passage.id: score for hit, score in zip(found.hits, scores, strict=False)},
    }
    return replace(
        found,
        hits=tuple(found.hits[place] for place in order),
        failures=failures,
        timings_ms={**found.timings_ms, STAGE: milliseconds},
        trace={**found.trace, STAGE: told},
    )


def _checked(scores: Sequence[float], count: int) -> Sequence[float]:
    if len(scores) != count:
        raise RerankerUnavailableError(f"gave {len(scores)} scores for {count} passages")
    if not all(map(math.isfinite, scores)):
        raise RerankerUnavailableError("gave a score that is not a finite number")
    return scores
