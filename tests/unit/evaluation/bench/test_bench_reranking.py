"""Tests of choosing what generation is given, with a reranker that answers and one that fails."""

from collections.abc import Sequence
from dataclasses import dataclass

from clara.evaluation.bench.dataset import BenchDocument, BenchQuestion
from clara.evaluation.bench.reranking import Reranked, rerank, unranked
from clara.retrieval.reranking import RerankerUnavailableError

QUESTION = BenchQuestion("q", "Who?")
FOUND = [BenchDocument(f"d{number}", "T" if number else "", f"text {number}") for number in range(6)]


@dataclass
class FixedScorer:
    """Gives these scores, or is out."""

    given: Sequence[float]
    name: str = "ranker"

    def scores(self, question: str, texts: Sequence[str]) -> list[float]:
        """Give them."""
        assert question == "Who?"
        assert texts[:2] == ["text 0", "T\ntext 1"]
        if not self.given:
            raise RerankerUnavailableError("answered 500")
        return list(self.given)


def test_every_candidate_is_kept_by_id_in_the_order_of_the_search() -> None:
    """DT-5: all that the reranker saw, so that a promoted document can be traced to where it stood."""
    chosen = rerank(QUESTION, FOUND, FixedScorer([0, 1, 2, 3, 4, 5]), 2)
    assert chosen.candidates == ("d0", "d1", "d2", "d3", "d4", "d5")
    assert [document.id for document in chosen.documents] == ["d5", "d4"]
    assert {document.id for document in chosen.documents} <= set(chosen.candidates)
    assert chosen.reranked is True


def test_a_reranker_that_fails_is_told_and_costs_only_the_order() -> None:
    """DT-7: the first documents of the search, marked as not reranked, with a reason that names the reranker."""
    chosen = rerank(QUESTION, FOUND, FixedScorer([]), 3)
    assert chosen.documents == tuple(FOUND[:3])
    assert (chosen.reranked, chosen.failure) == (False, "reranker ranker answered 500")
    assert len(chosen.candidates) == 6


def test_without_a_reranker_there_are_no_candidates() -> None:
    """DT-5, DT-7: neither a status nor ids, and the documents as they were found."""
    assert unranked(FOUND, 4) == Reranked(tuple(FOUND[:4]))
    assert unranked(FOUND, 4).reranked is None


def test_the_best_score_comes_first_and_equal_ones_stay() -> None:
    """DT-8: sorted by score whatever the service does; negative logits are scores like any other."""
    chosen = rerank(QUESTION, FOUND, FixedScorer([-3.0, 0.5, -1.0, 0.5, 9.0, 0.5]), 6)
    assert [document.id for document in chosen.documents] == ["d4", "d1", "d3", "d5", "d2", "d0"]
