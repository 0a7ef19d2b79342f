"""Merging the rankings of several searches into one."""

from collections.abc import Callable, Sequence
from dataclasses import replace

from clara.retrieval.passage import Hit

# The lists of hits, that of the question itself first, become one: best first, each passage once.
Merge = Callable[[Sequence[Sequence[Hit]]], list[Hit]]

# Cormack, Clarke and Buettcher, SIGIR 2009.
RANK_CONSTANT = 60
# The question counts as much as two of its rewordings, so that two which go astray together do not outvote it. Not measured.
QUESTION_WEIGHT = 2.0
# A rewording's score counts a tenth less: the order between equals, no more. Not measured.
REWORDING_WEIGHT = 0.9


def reciprocal_ranks(question: float = QUESTION_WEIGHT, constant: int = RANK_CONSTANT) -> Merge:
    """Merge by reciprocal rank fusion, the first list weighing `question` times each other; 1 is first in every list."""

    def merge(lists: Sequence[Sequence[Hit]]) -> list[Hit]:
        weights = [question if number == 0 else 1.0 for number in range(len(lists))]
        shares = [
            (weight / (constant + rank), hit)
            for weight, hits in zip(weights, lists, strict=True)
            for rank, hit in enumerate(hits, 1)
        ]
        totals: dict[str, float] = {}
        for share, hit in shares:
            totals[hit.passage.id] = totals.get(hit.passage.id, 0.0) + share
        scale = (constant + 1) / (sum(weights) or 1.0)
        return _ordered(_best(shares), {name: total * scale for name, total in totals.items()})

    return merge


def weighted_scores(rewording: float = REWORDING_WEIGHT) -> Merge:
    """Merge by the best score of each passage, those of every list but the first times `rewording`.

    For scores that compare between searches, such as cosines or calibrated ones; fused scores do not.
    """

    def merge(lists: Sequence[Sequence[Hit]]) -> list[Hit]:
        scored = [
            (hit.score if number == 0 else hit.score * rewording, hit) for number, hits in enumerate(lists) for hit in hits
        ]
        best = _best(scored)
        return _ordered(best, {name: score for name, (score, _) in best.items()})

    return merge


def _best(scored: Sequence[tuple[float, Hit]]) -> dict[str, tuple[float, Hit]]:
    """Keep for each passage the hit with the best share; among equals the first."""
    best: dict[str, tuple[float, Hit]] = {}
    for score, hit in scored:
        if hit.passage.id not in best or score > best[hit.passage.id][0]:
            best[hit.passage.id] = (score, hit)
    return best


def _ordered(best: dict[str, tuple[float, Hit]], scores: dict[str, float]) -> list[Hit]:
    names = sorted(best, key=lambda name: -scores[name])
    return [replace(best[name][1], score=scores[name]) for name in names]
