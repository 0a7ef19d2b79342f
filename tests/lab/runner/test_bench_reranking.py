"""Tests of what a record of the bench keeps of reranking, with a reranker that answers, one that fails, and none."""

from collections.abc import Sequence
from dataclasses import dataclass

from clara.retrieval.options.rerankers import RerankerUnavailableError, TextScorer
from clara.retrieval.passage import Found, Hit, Passage, Query, Status
from clara_lab.bench.dataset import BenchQuestion
from clara_lab.bench.plan import RunPlan
from clara_lab.bench.record import QuestionRecord
from clara_lab.runner.run import Asker

COUNT = 30
PLAN = RunPlan(RETRIEVAL_K=20, RETRIEVAL_PRE_FUSION_K=COUNT, RERANKER_ENABLED=True, RERANKER_TOP_N=3)
IDS = tuple(f"d{number}" for number in range(COUNT))


@dataclass
class FixedScorer:
    """Gives these scores, or is out."""

    given: Sequence[float]
    name: str = "ranker"

    def scores(self, question: str, texts: Sequence[str]) -> list[float]:
        """Give them."""
        assert (question, len(texts)) == ("Who?", COUNT)
        if not self.given:
            raise RerankerUnavailableError("answered 500")
        return list(self.given)


def search(query: Query) -> Found:
    """Find as many passages as are asked for, in the order of their numbers."""
    passages = (Passage(f"p-{name}", "c", "default", name, "", ("T",), f"text of {name}", "en") for name in IDS[: query.limit])
    return Found(Status.FOUND, "t", tuple(Hit(passage, 1.0) for passage in passages))


def asked(scorer: TextScorer | None, plan: RunPlan = PLAN) -> QuestionRecord:
    return Asker(search, "c", plan, scorer).ask(BenchQuestion("q", "Who?"))


def test_every_candidate_is_kept_by_its_id() -> None:
    """DT-5: all that the reranker saw, so that a promoted document can be traced to where it stood; no contents."""
    record = asked(FixedScorer([float(number) for number in range(COUNT)]))
    assert record.pre_rerank_candidate_ids == IDS
    assert record.retrieved == IDS[:20]
    assert record.context == ("d29", "d28", "d27")
    assert record.reranked is True
    assert "text of" not in repr(record)


def test_a_reranker_that_fails_is_told_and_costs_only_the_order() -> None:
    """DT-7: the first documents of the search, marked as not reranked, with the reason."""
    record = asked(FixedScorer([]))
    assert record.context == IDS[:3]
    assert (record.reranked, record.failures) == (False, ("rerank: answered 500",))
    assert record.pre_rerank_candidate_ids == IDS


def test_without_a_reranker_there_is_neither_status_nor_candidates() -> None:
    """DT-5, DT-7: None and nothing, and generation is given what the measures are of."""
    record = asked(None, RunPlan(RETRIEVAL_K=20))
    assert (record.reranked, record.pre_rerank_candidate_ids, record.failures) == (None, (), ())
    assert record.context == record.retrieved == IDS[:20]


def test_the_best_score_comes_first_and_equal_ones_stay() -> None:
    """DT-8: sorted by score whatever the service does; negative logits are scores like any other."""
    record = asked(FixedScorer([-3.0, 0.5, -1.0, 0.5, 9.0, *[-5.0] * (COUNT - 5)]))
    assert record.context == ("d4", "d1", "d3")
