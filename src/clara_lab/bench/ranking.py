"""How good a ranking is, of one question: which of the documents that answer it are among the first k, and how far up."""

from collections.abc import Callable, Mapping, Sequence
from math import log2
from typing import Final

from clara_lab.bench.record import QuestionRecord, Score

DEPTHS: Final = (1, 3, 5, 10, 20)
# Stands before the names of measures over what generation was given after reranking.
RERANKED: Final = "reranked_"


Value = Callable[[Sequence[str], frozenset[str]], float]


def recall_at(k: int) -> Value:
    """Share of the answering documents among the first k."""
    return lambda ranked, gold: len(gold & set(ranked[:k])) / len(gold)


def reciprocal_rank(ranked: Sequence[str], gold: frozenset[str]) -> float:
    """1 / rank of the first answering document, 0 where there is none."""
    return next((1 / rank for rank, name in enumerate(ranked, 1) if name in gold), 0.0)


def hit_at(k: int) -> Value:
    """1 when an answering document is among the first k, else 0."""
    return lambda ranked, gold: float(any(name in gold for name in ranked[:k]))


def failure_at(k: int) -> Value:
    """1 when no answering document is among the first k, else 0: what people understand by a failure."""
    return lambda ranked, gold: float(not any(name in gold for name in ranked[:k]))


def complement_recall_at(k: int) -> Value:
    """1 - recall at k: the share of the answering documents that is missing. One of two found is half of it, and no failure."""
    recall = recall_at(k)
    return lambda ranked, gold: 1 - recall(ranked, gold)


def ndcg_at(k: int) -> Value:
    """Discounted gain over the best possible, relevance 0 or 1, discount 1 / log2(rank + 1) (Järvelin & Kekäläinen 2002)."""

    def measure(ranked: Sequence[str], gold: frozenset[str]) -> float:
        gained = sum(1 / log2(rank + 1) for rank, name in enumerate(ranked[:k], 1) if name in gold)
        return gained / sum(1 / log2(rank + 1) for rank in range(1, min(k, len(gold)) + 1))

    return measure


_FAMILIES: Final = {
    "hit": hit_at,
    "recall": recall_at,
    "ndcg": ndcg_at,
    "failure": failure_at,
    "complement_recall": complement_recall_at,
}

# By name, in the order in which they are reported. `mrr` is of the whole ranking.
RANKING: Final[Mapping[str, Value]] = {
    "mrr": reciprocal_rank,
    **{f"{family}@{k}": made(k) for family, made in _FAMILIES.items() for k in DEPTHS},
}
# How deep each of them looks; 0 is as deep as the ranking goes, whatever was asked for.
_DEPTH_OF: Final = {name: int(name.partition("@")[2] or 0) for name in RANKING}


def measure_ranking(ranked: Sequence[str], gold: frozenset[str], depth: int = max(DEPTHS)) -> dict[str, float]:
    """Give the measures of one ranking up to `depth`, which is how many were asked for, not how many were found.

    A document named twice counts at its first place. Without gold there is nothing to measure, so nothing is given.
    """
    if not gold:
        return {}
    once = list(dict.fromkeys(ranked))
    return {name: measure(once, gold) for name, measure in RANKING.items() if _DEPTH_OF[name] <= depth}


def first_gold_rank(ranked: Sequence[str], gold: frozenset[str]) -> int | None:
    """Give the rank, from 1, of the first answering document; None when there is none."""
    return next((rank for rank, name in enumerate(dict.fromkeys(ranked), 1) if name in gold), None)


def measures_of(question: QuestionRecord, reranked_depth: int = 0) -> dict[str, Score]:
    """Give all measures of a question: of the ranking before reranking, after it up to `reranked_depth`, and of the answer.

    Where the search failed there is no ranking to measure: each measure then is an error, not a zero.
    """
    gold = question.question.gold
    found = {name: Score(value) for name, value in measure_ranking(question.retrieved, gold).items()}
    if question.reranked is not None and reranked_depth:
        after = measure_ranking(question.context, gold, reranked_depth)
        found.update({f"{RERANKED}{name}": Score(value) for name, value in after.items()})
    if question.failures and not question.retrieved:
        found = {name: Score(None, f"not searched: {question.failures[0]}") for name in found}
    return {**found, **question.measures}


def reranked_depth(questions: Sequence[QuestionRecord]) -> int:
    """Give up to which depth rankings after reranking can be measured: the most documents that generation was given."""
    return max((len(question.context) for question in questions if question.reranked is not None), default=0)
