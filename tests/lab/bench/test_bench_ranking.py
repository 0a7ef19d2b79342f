"""Tests of the measures over rankings: by hand, and against ir_measures on random rankings."""

from math import log2

import ir_measures
import pytest
from hypothesis import given
from hypothesis import strategies as st

from clara_lab.bench.dataset import BenchQuestion
from clara_lab.bench.ranking import DEPTHS, RANKING, first_gold_rank, measure_ranking, measures_of, reranked_depth
from clara_lab.bench.record import QuestionRecord, Score

GOLD = frozenset({"b", "d"})

# ranking, measure, value by hand
CASES = [
    ("abcd", "mrr", 1 / 2),
    ("abcd", "hit@1", 0),
    ("abcd", "hit@3", 1),
    ("abcd", "recall@1", 0),
    ("abcd", "recall@3", 1 / 2),
    ("abcd", "recall@5", 1),
    ("abcd", "ndcg@1", 0),
    ("abcd", "ndcg@3", (1 / log2(3)) / (1 + 1 / log2(3))),
    ("abcd", "ndcg@5", (1 / log2(3) + 1 / log2(5)) / (1 + 1 / log2(3))),
    ("bd", "ndcg@1", 1),
    ("bd", "ndcg@20", 1),
    ("abcd", "failure@1", 1),
    ("abcd", "failure@3", 0),
    ("abcd", "complement_recall@3", 1 / 2),
    ("bbdd", "recall@3", 1),
    ("bbdd", "ndcg@3", 1),
    ("xyz", "mrr", 0),
    ("xyz", "failure@20", 1),
    ("", "recall@20", 0),
    ("", "failure@1", 1),
]


@pytest.mark.parametrize(("ranked", "name", "value"), CASES)
def test_by_hand(ranked: str, name: str, value: float) -> None:
    """Each measure of a short ranking, where b and d answer."""
    assert measure_ranking(ranked, GOLD)[name] == pytest.approx(value)


@given(
    ranked=st.lists(st.integers(0, 40).map(str), unique=True, max_size=30),
    gold=st.frozensets(st.integers(0, 45).map(str), min_size=1, max_size=8),
)
def test_against_ir_measures(ranked: list[str], gold: frozenset[str]) -> None:
    """Success, R, nDCG and RR of ir_measures are our hit, recall, ndcg and mrr."""
    same = {"hit": ir_measures.Success, "recall": ir_measures.R, "ndcg": ir_measures.nDCG}
    theirs = {f"{ours}@{k}": measure @ k for ours, measure in same.items() for k in DEPTHS}
    theirs["mrr"] = ir_measures.RR
    qrels = [ir_measures.Qrel("q", document, 1) for document in gold]
    # A run without a document has no question for ir_measures: one that never answers stands for it.
    run = [ir_measures.ScoredDoc("q", document, -float(rank)) for rank, document in enumerate(ranked or ["none"])]
    found = {measure.measure: measure.value for measure in ir_measures.iter_calc(list(theirs.values()), qrels, run)}
    ours = measure_ranking(ranked, gold)
    assert {name: found[measure] for name, measure in theirs.items()} == pytest.approx({name: ours[name] for name in theirs})


@given(ranked=st.lists(st.sampled_from("abcdef")), gold=st.frozensets(st.sampled_from("abcdef"), min_size=1))
def test_failure_is_no_hit_and_complement_is_missing_recall(ranked: list[str], gold: frozenset[str]) -> None:
    """Every measure is within 0..1; the two that sound alike are what their names say."""
    measured = measure_ranking(ranked, gold)
    assert measured.keys() == RANKING.keys()
    assert all(0 <= value <= 1 for value in measured.values())
    for k in DEPTHS:
        assert measured[f"failure@{k}"] == 1 - measured[f"hit@{k}"]
        assert measured[f"complement_recall@{k}"] == 1 - measured[f"recall@{k}"]


def record(**changed: object) -> QuestionRecord:
    return QuestionRecord(BenchQuestion("q", "?", gold=GOLD), **changed)  # type: ignore[arg-type]


def test_measures_of_a_question() -> None:
    """Before reranking the list of the search counts, after it what generation was given, as deep as that is."""
    question = record(retrieved=("a", "b", "c"), context=("b", "d"), reranked=True, measures={"f1": Score(0.5)})
    depth = reranked_depth([question, record(retrieved=("a",), context=tuple("abcdefgh"))])
    assert depth == 2
    found = measures_of(question, 5)
    assert found["recall@5"] == Score(0.5)
    assert found["reranked_recall@5"] == Score(1.0)
    assert found["reranked_mrr"] == Score(1.0)
    assert "reranked_recall@10" not in found
    assert found["f1"] == Score(0.5)
    assert "reranked_mrr" not in measures_of(record(retrieved=("a",), context=("a",)), 5)


def test_what_was_not_searched_has_no_value() -> None:
    """A search that failed is an error of each measure and not a zero; a search that found nothing is a zero."""
    assert measures_of(record(failures=("retrieve: timeout",)))["mrr"] == Score(None, "not searched: retrieve: timeout")
    assert measures_of(record())["mrr"] == Score(0.0)
    assert measures_of(QuestionRecord(BenchQuestion("q", "?"), retrieved=("a",))) == {}


def test_first_rank() -> None:
    """The first answering document, from 1; repeated ids do not count."""
    assert (first_gold_rank("aab", GOLD), first_gold_rank("xyz", GOLD)) == (2, None)
