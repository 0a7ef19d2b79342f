"""Ways to choose the hits of a query among the candidates that an index brought up; configuration names one of them."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from clara.errors import Invalid
from clara.retrieval.passage import Hit, Passage, Query, Search


@dataclass(frozen=True, slots=True)
class Boosts:
    """How much each signal raises a score. The defaults are DevMatrix's; a factor of 1 or a share of 0 switches one off.

    `approved` multiplies the score of a passage whose metadata has `approved` true. `usage_count` adds a hundredth for each
    use, up to the share `most_usage`. `handy` multiplies where the text has `shortest` to `longest` characters. `indexed_at`
    (ISO 8601; UTC where it names no zone) adds up to the share `recent`, halved every `half_life_days`.
    Raises ValueError for factors below 1, shares below 0, a half life that is not above 0, or what is no finite number.
    """

    approved: float = 1.2
    most_usage: float = 0.3
    handy: float = 1.1
    shortest: int = 50
    longest: int = 500
    # The source names recency without a value, and none was measured here: off until an ablation shows a gain.
    recent: float = 0.0
    half_life_days: float = 90.0

    def __post_init__(self) -> None:
        numbers = (self.approved, self.handy, self.most_usage, self.recent, self.half_life_days)
        if not all(math.isfinite(number) for number in numbers):
            raise ValueError(f"{self}: every number must be finite")
        if min(self.approved, self.handy) < 1 or min(self.most_usage, self.recent) < 0 or self.half_life_days <= 0:
            raise ValueError(f"{self}: a boost only raises; give factors from 1, shares from 0 and a half life above 0")


def boosted(hits: Sequence[Hit], boosts: Boosts, now: datetime) -> list[Hit]:
    """Raise the fused score of each hit by what its metadata says, in the order given. `now` needs a zone.

    Metadata is whatever JSON its owner wrote: a value of another type than expected raises nothing and is no error. There is
    no cap at 1.0 as in the source: the best candidates would all reach it, and tie.
    """
    return [replace(hit, score=_raised(hit.score, _factor(hit.passage, boosts, now))) for hit in hits]


def _raised(score: float, factor: float) -> float:
    return score * factor if score >= 0 else score / factor  # multiplying would push a score below zero further down


def _factor(passage: Passage, boosts: Boosts, now: datetime) -> float:
    approved = boosts.approved if passage.metadata.get("approved") is True else 1.0
    handy = boosts.handy if boosts.shortest <= len(passage.text) <= boosts.longest else 1.0
    used = min(_uses(passage.metadata) / 100, boosts.most_usage)
    return approved * handy * (1 + used) * (1 + boosts.recent * _freshness(passage.metadata, boosts.half_life_days, now))


def _uses(metadata: Mapping[str, Any]) -> float:
    count = metadata.get("usage_count")
    if isinstance(count, bool) or not isinstance(count, int | float) or not count > 0:
        return 0.0
    return float(min(count, 1e9))  # JSON allows integers that no float can hold


def _freshness(metadata: Mapping[str, Any], half_life_days: float, now: datetime) -> float:
    """Give 1 for what was indexed now (or later, where clocks disagree), halved every half life; 0 where unknown."""
    written = metadata.get("indexed_at")
    if not isinstance(written, str):
        return 0.0
    try:
        indexed = datetime.fromisoformat(written)
    except ValueError:
        return 0.0
    indexed = indexed if indexed.tzinfo is not None else indexed.replace(tzinfo=UTC)
    age: float = max(0.0, (now - indexed) / timedelta(days=1))
    return float(0.5 ** (age / half_life_days))


@dataclass(frozen=True, slots=True)
class Diversity:
    """How unlike each other hits are: 0 when all say the same, 1 when their vectors are at right angles (2 at most).

    `mean` is 1 - the mean cosine of all pairs. `least` is 1 - the highest, the figure that DevMatrix proposes: a single pair
    of twins takes it to 0, however different the rest.
    """

    mean: float
    least: float


def unit_vectors(hits: Sequence[Hit]) -> NDArray[np.float64]:
    """Give one row of length 1 for each hit; a row of zeros for the zero vector. Every hit must have a vector."""
    rows = np.array([hit.vector for hit in hits], dtype=np.float64) if hits else np.zeros((0, 0))
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    return rows / np.where(lengths > 0, lengths, 1.0)


def diversity(hits: Sequence[Hit]) -> Diversity | None:
    """Measure the hits that have a vector; None when there are fewer than two."""
    vectors = unit_vectors([hit for hit in hits if hit.vector is not None])
    pairs = (vectors @ vectors.T)[np.triu_indices(len(vectors), k=1)]
    return Diversity(mean=float(1 - pairs.mean()), least=float(1 - pairs.max())) if pairs.size else None


def diversified(candidates: Sequence[Hit], balance: float, limit: int, pool: int) -> list[Hit]:
    """Choose up to `limit` hits by maximal marginal relevance (Carbonell and Goldstein 1998), best first.

    From the `pool` candidates nearest to the question, each time the one with the highest balance * sim(question, it)
    - (1 - balance) * max sim(chosen, it); of equals the nearer, then the earlier. The similarity to the question is the hit's
    cosine, so nothing is embedded again. Candidates without a vector or a cosine follow at the end, in their order.
    """
    weighed = [hit for hit in candidates if hit.vector is not None and _nearness(hit) > -math.inf]
    nearest = sorted(weighed, key=_nearness, reverse=True)[:pool]
    rest = [hit for hit in candidates if hit.vector is None or _nearness(hit) == -math.inf]
    return ([nearest[place] for place in _greedy(nearest, balance, limit)] + rest)[:limit]


def _nearness(hit: Hit) -> float:
    return -math.inf if hit.cosine is None or math.isnan(hit.cosine) else hit.cosine


def _greedy(hits: Sequence[Hit], balance: float, limit: int) -> list[int]:
    vectors = unit_vectors(hits)
    gains = balance * np.array([_nearness(hit) for hit in hits])
    closest = np.zeros(len(hits))  # nothing is chosen yet, so nothing is repeated
    chosen: list[int] = []
    for _ in range(min(limit, len(hits))):
        marginal = gains - (1 - balance) * closest
        marginal[chosen] = -np.inf
        best = int(np.argmax(marginal))
        alike = vectors @ vectors[best]
        closest = np.maximum(closest, alike) if chosen else alike
        chosen.append(best)
    return chosen


Order = Callable[[Query, Sequence[Hit]], Sequence[Hit]]

# The most that a Query may ask for, and all there is: an index brings up 50 candidates by vector and 50 by words.
WHOLE_POOL = 100
# DevMatrix: maximal marginal relevance chooses among three times the limit, and never more than 50.
MMR_FACTOR, MMR_POOL = 3, 50
# Cormack, Clarke and Büttcher (SIGIR 2009) found 60 the best constant of reciprocal rank fusion, and a flat optimum.
RRF_CONSTANT = 60


class UnknownStrategyError(Invalid, ValueError):
    """No strategy has this name; the message lists those there are."""


@dataclass(frozen=True, slots=True)
class Strategy:
    """A named way to choose the hits of a query among candidates. Called, it does no I/O and changes no candidate.

    It gives at most `query.limit` of the candidates, best first, each passage once; where it finds two equally good, they keep
    the order in which they came. `wanted` tells how many candidates it needs for a limit. `needs_vectors` says that it
    compares the hits with each other, so that `Hit.vector` has to be fetched.
    """

    name: str
    order: Order
    wanted: Callable[[int], int]
    needs_vectors: bool = False

    def __call__(self, query: Query, candidates: Sequence[Hit]) -> list[Hit]:
        """Choose the hits of `query`."""
        first = {hit.passage.id: hit for hit in reversed(candidates)}
        distinct = [hit for hit in candidates if first[hit.passage.id] is hit]
        return list(self.order(query, distinct))[: query.limit]


def similarity(min_similarity: float = 0.0) -> Strategy:
    """Order by the similarity of the vectors, which becomes the score; leave out what is below or was not compared.

    It wants the whole pool: the index cuts by its fused score, so the nearest vectors may stand at its end. Kept for ablation:
    right passage first .915, fused .962 (XQuAD es).
    """

    def order(_query: Query, candidates: Sequence[Hit]) -> Sequence[Hit]:
        near = [replace(hit, score=hit.cosine) for hit in candidates if hit.cosine is not None and hit.cosine >= min_similarity]
        return _best_first(near)

    return Strategy("similarity", order, lambda limit: max(limit, WHOLE_POOL))


def hybrid(boosts: Boosts | None = None, clock: Callable[[], datetime] = lambda: datetime.now(UTC)) -> Strategy:
    """Order by the fused score of vectors and words; with `boosts`, multiplied by what the passages' metadata says."""

    def order(_query: Query, candidates: Sequence[Hit]) -> Sequence[Hit]:
        return _best_first(candidates if boosts is None else boosted(candidates, boosts, clock()))

    return Strategy("hybrid" if boosts is None else "boosted", order, lambda limit: max(limit, min(2 * limit, WHOLE_POOL)))


def mmr(balance: float = 0.5) -> Strategy:
    """Order by maximal marginal relevance: near the question, and unlike what was chosen before. Scores stay as they were.

    `balance` is the weight (0..1) of nearness. Hits without a vector or a cosine cannot be weighed and come after the others.
    Raises ValueError for a balance outside 0..1.
    """
    if not 0 <= balance <= 1:
        raise ValueError(f"balance = {balance}: give a weight from 0 (variety alone) to 1 (similarity alone)")

    def pool(limit: int) -> int:
        return max(limit, min(MMR_FACTOR * limit, MMR_POOL))

    def order(query: Query, candidates: Sequence[Hit]) -> Sequence[Hit]:
        return diversified(candidates, balance, query.limit, pool(query.limit))

    return Strategy("mmr", order, pool, needs_vectors=True)


def rrf(constant: int = RRF_CONSTANT) -> Strategy:
    """Order by reciprocal rank fusion of the two legs, whose sum becomes the score. Raises ValueError for a constant below 0.

    It wants both legs whole. Kept for ablation: right passage first .935, against .962 for the sum of scores (XQuAD es).
    """
    if constant < 0:
        raise ValueError(f"constant = {constant}: give 0 or more, {RRF_CONSTANT} is usual")

    def order(_query: Query, candidates: Sequence[Hit]) -> Sequence[Hit]:
        return _best_first([replace(hit, score=_fused(hit, constant)) for hit in candidates])

    return Strategy("rrf", order, lambda limit: max(limit, WHOLE_POOL))


def _fused(hit: Hit, constant: int) -> float:
    return sum(1 / (constant + rank) for rank in (hit.dense_rank, hit.lexical_rank) if rank is not None)


def _best_first(hits: Sequence[Hit]) -> list[Hit]:
    # A score that is no number is last: it would make the order depend on where it stands.
    return sorted(hits, key=lambda hit: math.inf if math.isnan(hit.score) else -hit.score)


STRATEGIES: Mapping[str, Strategy] = MappingProxyType(
    {strategy.name: strategy for strategy in (similarity(), hybrid(), hybrid(Boosts()), mmr(), rrf())}
)


def strategy_named(name: str) -> Strategy:
    """Give the strategy of this name, with its usual settings. Raises UnknownStrategyError."""
    if name not in STRATEGIES:
        raise UnknownStrategyError(f"there is no strategy {name!r}: choose one of {', '.join(sorted(STRATEGIES))}")
    return STRATEGIES[name]


def choosing(search: Search, strategy: Strategy) -> Search:
    """Fetch as many candidates as the strategy wants, and give the hits it chooses. Raises what `search` raises."""

    def searching(query: Query) -> Sequence[Hit]:
        return strategy(query, search(replace(query, limit=strategy.wanted(query.limit))))

    return searching
