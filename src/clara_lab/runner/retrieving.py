"""Asking the questions of a run: their vectors beforehand and in batches, then one search each, then the reranker."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from time import perf_counter
from typing import Final

from clara.container import Container
from clara.container.knowledge import subject_of
from clara.retrieval.hybrid import hybrid
from clara.retrieval.options.policies import Policy, by_policy
from clara.retrieval.options.rerankers import RerankerUnavailableError, TextScorer
from clara.retrieval.passage import Query, Retrieve, Status
from clara.retrieval.ports import Embedder, EmbedderUnavailableError
from clara_lab.bench.dataset import BenchQuestion
from clara_lab.bench.plan import RunPlan
from clara_lab.bench.record import QuestionRecord
from clara_lab.runner.indexing import Indexed, Progress

# Tries of a batch of questions before each of them is embedded by itself, when it is asked.
BATCH_TRIES: Final = 2
POLICIES: Final[dict[str, Policy]] = {
    "none": "none",
    "self": "self_reflective",
    "corrective": "corrective",
    "adaptive": "adaptive",
}

Vectors = dict[str, tuple[float, ...]]


@dataclass(frozen=True, slots=True)
class Asker:
    """Asks the questions of a run one after the other. `rerank` is None where nothing reranks."""

    retrieve: Retrieve
    corpus: str
    plan: RunPlan
    rerank: TextScorer | None = None
    vectors: Vectors = field(default_factory=dict)

    def ask(self, question: BenchQuestion) -> QuestionRecord:
        """Search, and rerank where the run does; an outage of either is told in the record and stops nothing."""
        started = perf_counter()
        query = Query(
            question.text,
            self.corpus,
            limit=self.plan.candidates,
            vector=self.vectors.get(question.id),
            exact=self.plan.retrieval_exact,
        )
        try:
            found = self.retrieve(query)
        except EmbedderUnavailableError as error:
            return QuestionRecord(question, failures=(f"retrieve: {error}",))
        milliseconds = {"retrieve": (perf_counter() - started) * 1000}
        texts = {hit.passage.document_id: hit.passage.indexed_text for hit in found.hits}
        ids = tuple(texts)
        failures = tuple(f"retrieve: {failure}" for failure in (*found.outages, *found.failures))
        if found.status is Status.OUTAGE and not failures:
            failures = ("retrieve: the index was out",)
        k = self.plan.retrieval_k
        record = QuestionRecord(question, ids[:k], context=ids[:k], milliseconds=milliseconds, failures=failures)
        return record if self.rerank is None else _reranked(record, self.rerank, texts, self.plan.reranker_top_n)


def _reranked(record: QuestionRecord, reranker: TextScorer, texts: dict[str, str], top: int) -> QuestionRecord:
    """Order the candidates by the reranker's scores; equal ones stay in the order of the search."""
    ids = tuple(texts)
    record = replace(record, pre_rerank_candidate_ids=ids)
    started = perf_counter()
    try:
        scores = dict(zip(ids, reranker.scores(record.question.text, list(texts.values())), strict=True)) if ids else {}
    except RerankerUnavailableError as error:
        failures = (*record.failures, f"rerank: {error}")
        return replace(record, context=ids[:top], reranked=False, failures=failures)
    ordered = tuple(sorted(ids, key=lambda one: -scores[one]))
    milliseconds = {**record.milliseconds, "rerank": (perf_counter() - started) * 1000}
    return replace(record, context=ordered[:top], reranked=True, milliseconds=milliseconds)


def pre_embedded(
    embedder: Embedder, questions: Sequence[BenchQuestion], batch: int, note: Callable[[int, str], None], progress: Progress
) -> Vectors:
    """Embed the questions in batches; one that fails twice is left out, and its questions are embedded when they are asked.

    `note` is told of every batch: how many questions, and why it failed, empty if it did not.
    """
    vectors: Vectors = {}
    for start in range(0, len(questions), batch):
        some = questions[start : start + batch]
        reason = ""
        for _ in range(BATCH_TRIES):
            try:
                made = embedder.embed([question.text for question in some], "query")
            except EmbedderUnavailableError as error:
                reason = str(error)
                continue
            vectors |= {question.id: tuple(vector) for question, vector in zip(some, made, strict=True)}
            reason = ""
            break
        note(len(some), reason)
        progress("questions embedded", min(start + batch, len(questions)), len(questions))
    return vectors


def asker(
    services: Services, plan: RunPlan, indexed: Indexed, embedder: Embedder, rerank: TextScorer | None, vectors: Vectors
) -> Asker:
    """Build the search of a run: the strategy's weights, and its policy around it."""
    search = hybrid(embedder, services.gather(indexed.profile, embedder), None)
    # Without a calibration nothing is ever confident, so a policy stops by what it grades.
    wrapped = by_policy(POLICIES[plan.retrieval_policy], search, subject_of(indexed.profile), 1.0)
    return Asker(wrapped, indexed.corpus, plan, rerank, vectors)


def answers(ask: Asker, questions: Sequence[BenchQuestion], progress: Progress) -> Iterator[QuestionRecord]:
    """Ask every question, in order."""
    for number, question in enumerate(questions, 1):
        yield ask.ask(question)
        progress("questions asked", number, len(questions))
