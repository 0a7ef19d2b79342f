"""Ways to choose the hits of a query among the candidates that an index brought up; configuration names one of them."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from types import MappingProxyType

from clara.errors import Invalid
from clara.retrieval.options.boosts import Boosts, boosted
from clara.retrieval.options.mmr import diversified
from clara.retrieval.passage import Hit, Query, Search

Order = Callable[[Query, Sequence[Hit]], Sequence[Hit]]

# The most that a Query may ask for, and all there is: an index brings up 50 candidates by vector and 50 by words.
WHOLE_POOL = 100
# DevMatrix: maximal marginal relevance chooses among three times the limit, and never more than 50.
MMR_FACTOR, MMR_POOL = 3, 50
# Cormack, Clarke and Büttcher (SIGIR 2009) found 60 the best constant of reciprocal rank fusion, and a flat optimum.
RRF_CONSTANT = 60


class UnknownStrategyError(Invalid, ValueError):
    """No strategy has this name; the message lists those there are."""

    def __init__(self, name: str) -> None:
        super().__init__(f"there is no strategy {name!r}: choose one of {', '.join(sorted(STRATEGIES))}")


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
        msg = f"balance = {balance}: give a weight from 0 (variety alone) to 1 (similarity alone)"
        raise ValueError(msg)

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
        msg = f"constant = {constant}: give 0 or more, {RRF_CONSTANT} is usual"
        raise ValueError(msg)

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
        raise UnknownStrategyError(name)
    return STRATEGIES[name]


def choosing(search: Search, strategy: Strategy) -> Search:
    """Fetch as many candidates as the strategy wants, and give the hits it chooses. Raises what `search` raises."""

    def searching(query: Query) -> Sequence[Hit]:
        return strategy(query, search(replace(query, limit=strategy.wanted(query.limit))))

    return searching
