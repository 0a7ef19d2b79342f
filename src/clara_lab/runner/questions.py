"""Asking and answering the questions of a run: vectors beforehand, a search each, the reranker, the writer, the measures."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from time import perf_counter
from typing import Final

from clara.container.corpora import Corpora
from clara.retrieval.hybrid import hybrid
from clara.retrieval.options.policies import Policy, by_policy, subject_of
from clara.retrieval.options.rerankers import RerankerUnavailableError, TextScorer
from clara.retrieval.passage import Query, Retrieve, Status
from clara.retrieval.ports import Embedder, EmbedderUnavailableError
from clara_lab.bench.answers import SEMANTIC_SIMILARITY, answer_measures, semantic_similarities
from clara_lab.bench.dataset import BenchDocument, BenchQuestion
from clara_lab.bench.judge import AnswerJudge
from clara_lab.bench.plan import RunPlan
from clara_lab.bench.prompts import context_of
from clara_lab.bench.record import QuestionRecord, Score
from clara_lab.bench.writers import AnswerWriter
from clara_lab.runner.corpora import Indexed, Progress

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
    corpora: Corpora, plan: RunPlan, indexed: Indexed, embedder: Embedder, rerank: TextScorer | None, vectors: Vectors
) -> Asker:
    """Build the search of a run: the strategy's weights, and its policy around it."""
    search = hybrid(embedder, corpora.gather(indexed.profile, embedder), None)
    # Without a calibration nothing is ever confident, so a policy stops by what it grades.
    wrapped = by_policy(POLICIES[plan.retrieval_policy], search, subject_of(indexed.profile, corpora.data), 1.0)
    return Asker(wrapped, indexed.corpus, plan, rerank, vectors)


# Questions answered between two writes of the log, at least: as many answers and right answers are embedded together.
BATCH: Final = 16


@dataclass(frozen=True, slots=True)
class Answering:
    """What writes and what measures. `characters` bounds the context (None: all); `at_once` questions are under way."""

    documents: Mapping[str, BenchDocument]
    writer: AnswerWriter
    judge: AnswerJudge | None
    embedder: Embedder
    characters: int | None
    at_once: int = 1

    def answered(self, records: Sequence[QuestionRecord], done: Callable[[int], None]) -> Iterator[QuestionRecord]:
        """Give the records with their answers and measures, in order; `done` is told how many there are."""
        size = max(BATCH, self.at_once)
        with ThreadPoolExecutor(self.at_once, "writer") as pool:
            for start in range(0, len(records), size):
                some = list(pool.map(self._answer, records[start : start + size]))
                similar = semantic_similarities([(record.question, record.answer) for record in some], self.embedder)
                for record, measured in zip(some, similar, strict=True):
                    yield replace(record, measures={**record.measures, SEMANTIC_SIMILARITY: measured})
                done(min(start + size, len(records)))

    def _answer(self, record: QuestionRecord) -> QuestionRecord:
        context = context_of([self.documents[name] for name in record.context], self.characters)
        question, started = record.question, perf_counter()
        written = self.writer.write(question, context)
        written_at = perf_counter()
        measures: dict[str, Score] = dict(answer_measures(question, written.answer))
        milliseconds = {**record.milliseconds, "generate": (written_at - started) * 1000}
        if self.judge is not None:
            measures["faithfulness"] = self.judge.faithfulness(question, written.answer, context)
            measures["context_utilisation"] = self.judge.context_utilisation(question, written.answer, context)
            milliseconds["judge"] = (perf_counter() - written_at) * 1000
        failures = (*record.failures, f"generate: {written.failure}") if written.failure else record.failures
        shown = tuple(one.id for one in context.shown)
        return replace(
            record, context=shown, answer=written.answer, measures=measures, milliseconds=milliseconds, failures=failures
        )
