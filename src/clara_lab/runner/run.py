"""One run of the bench, from its variables to its reports: its questions are asked, reranked, answered and measured."""

import resource
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from time import perf_counter
from typing import Any, Final
from uuid import uuid4

from clara.container.corpora import Corpora
from clara.retrieval.hybrid import hybrid
from clara.retrieval.options.policies import Policy, by_policy, subject_of
from clara.retrieval.options.rerankers import RerankerUnavailableError, TextScorer
from clara.retrieval.passage import Query, Retrieve, Status
from clara.retrieval.ports import Embedder, EmbedderUnavailableError
from clara_lab.bench.answers import SEMANTIC_SIMILARITY, answer_measures, semantic_similarities
from clara_lab.bench.comparison import compare, comparison_json, comparison_text
from clara_lab.bench.dataset import BenchData, BenchDocument, BenchQuestion
from clara_lab.bench.judge import JUDGED, AnswerJudge
from clara_lab.bench.plan import RunPlan
from clara_lab.bench.prompts import context_of
from clara_lab.bench.record import (
    EventLog,
    Events,
    QuestionRecord,
    ResumeError,
    RunRecord,
    RunUnreadableError,
    Score,
    read_events,
    read_run,
)
from clara_lab.bench.reports import comparison_page, write_reports, write_whole
from clara_lab.bench.summary import measured_rows, summarise, times
from clara_lab.bench.writers import AnswerWriter
from clara_lab.runner.corpora import Indexed, Progress, index
from clara_lab.runner.data import read_data, sizes
from clara_lab.runner.parts import Parts, parts_of
from clara_lab.templates import rendered

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
            measures |= {name: self.judge.verdict(name, question, written.answer, context) for name in JUDGED}
            milliseconds["judge"] = (perf_counter() - written_at) * 1000
        failures = (*record.failures, f"generate: {written.failure}") if written.failure else record.failures
        shown = tuple(one.id for one in context.shown)
        return replace(
            record, context=shown, answer=written.answer, measures=measures, milliseconds=milliseconds, failures=failures
        )


EVENTS: Final = ".events.jsonl"
Say = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Output:
    """Where a run writes, and which one it takes up again (empty: none)."""

    folder: Path
    resume: str = ""


class _Clock:
    """Seconds by phase."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}
        self._since = perf_counter()

    def ended(self, phase: str) -> None:
        now = perf_counter()
        self.seconds[phase] = round(now - self._since, 3)
        self._since = now


def run(corpora: Corpora, plan: RunPlan, output: Output, say: Say, progress: Progress) -> RunRecord:
    """Run the bench and write its reports; give the record.

    Every question's result is in the event log as soon as it is there: a run that was killed is taken up again with its id, and
    asks only what is missing. Raises BenchDataError, ResumeError, EmbedderUnavailableError, ChatUnavailableError,
    CorpusUnavailableError, OSError.
    """
    clock = _Clock()
    data = read_data(plan)
    clock.ended("read")
    say(sizes(data))
    begun = _begun(plan, data, output)
    with closing(EventLog(output.folder / f"{begun.run_id}{EVENTS}")) as log:
        if not begun.questions:
            log.write("run_start", run_id=begun.run_id, started=begun.started, plan=begun.plan, data=begun.data)
        with parts_of(corpora, plan, log, output.folder) as parts:
            record = _run(corpora, plan, _Work(data, begun, parts, log, clock), progress)
        log.write("run_complete", run_id=record.run_id, totals=record.totals)
    for file in write_reports(record, output.folder):
        say(f"wrote {file}")
    return record


@dataclass(frozen=True, slots=True)
class _Work:
    """A run: `begun` has what came of the questions that were asked before it was ended."""

    data: BenchData
    begun: RunRecord
    parts: Parts
    log: EventLog
    clock: _Clock


def _run(corpora: Corpora, plan: RunPlan, work: _Work, progress: Progress) -> RunRecord:
    parts, clock = work.parts, work.clock
    indexed = index(corpora, plan, work.data, parts.embedder, parts.situating, progress)
    clock.ended("index")
    records = {record.question.id: record for record in work.begun.questions}
    left = [question for question in work.data.questions if question.id not in records]
    failed: list[str] = []

    def noted(count: int, reason: str) -> None:
        work.log.write("embedding_batch", kind="questions", items=count, failure=reason)
        failed.extend([reason] if reason else [])

    vectors = pre_embedded(parts.embedder, left, plan.embedding_batch_size, noted, progress)
    clock.ended("embed_questions")
    search = hybrid(parts.embedder, corpora.gather(indexed.profile, parts.embedder), None)
    # Without a calibration nothing is ever confident, so a policy stops by what it grades.
    retrieve = by_policy(POLICIES[plan.retrieval_policy], search, subject_of(indexed.profile, corpora.data), 1.0)
    asker, found = Asker(retrieve, indexed.corpus, plan, parts.reranker, vectors), []
    for number, question in enumerate(left, 1):
        found.append(asker.ask(question))
        progress("questions asked", number, len(left))
    clock.ended("retrieve")
    for record in _written(plan, work, found, progress):
        work.log.write_result(record)
        records[record.question.id] = record
    clock.ended("generate")
    questions = tuple(records[question.id] for question in work.data.questions)
    return replace(work.begun, questions=questions, totals=_totals(work, indexed, questions, failed))


def _written(plan: RunPlan, work: _Work, found: Sequence[QuestionRecord], progress: Progress) -> Iterable[QuestionRecord]:
    parts = work.parts
    if parts.writer is None:
        return found
    documents = {document.id: document for document in work.data.documents}
    at_once = plan.nim_max_concurrent_requests if plan.served_llm else 1
    answering = Answering(documents, parts.writer, parts.judge, parts.embedder, parts.characters, at_once)
    return answering.answered(found, lambda done: progress("questions answered", done, len(found)))


def _totals(work: _Work, indexed: Indexed, questions: Sequence[QuestionRecord], failed: Sequence[str]) -> dict[str, Any]:
    return {
        "seconds": work.clock.seconds,
        "peak_memory_bytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024,
        "corpus": indexed.corpus,
        "passages": indexed.passages,
        "embedded_now": indexed.embedded,
        "unenriched": len(indexed.unenriched),
        "resumed_questions": len(work.begun.questions),
        "failed_query_batches": len(failed),
        "rerank_failures": sum(question.reranked is False for question in questions),
        "questions_with_failures": sum(bool(question.failures) for question in questions),
        "requests": dict(work.parts.usage()),
    }


def described(data: BenchData) -> dict[str, Any]:
    """Give what a report says of the data."""
    return {
        "name": data.name,
        "digest": data.digest,
        "documents": len(data.documents),
        "questions": len(data.questions),
        "origin": dict(data.origin),
        "relative_only": data.relative_only,
    }


def _begun(plan: RunPlan, data: BenchData, output: Output) -> RunRecord:
    if output.resume:
        return _taken_up(plan, data, output)
    now = datetime.now(UTC)
    strategy = plan.retrieval_strategy.replace(":", "-").replace("_", "-").casefold()
    run_id = f"{plan.mteb_dataset_name}_{strategy}_{now:%Y%m%dT%H%M%SZ}_{uuid4().hex}"
    return RunRecord(run_id, now.isoformat(), plan.shown(), described(data), ())


def _taken_up(plan: RunPlan, data: BenchData, output: Output) -> RunRecord:
    file = output.folder / f"{output.resume}{EVENTS}"
    events = _events(file)
    start = next((event for event in events.events if event.get("event") == "run_start"), None)
    if start is None:
        raise ResumeError(f"{file}: has no beginning; start the run anew without --resume")
    different = sorted(name for name, value in plan.shown().items() if start["plan"].get(name) != value)
    if different:
        raise ResumeError(f"{output.resume} was begun with other values of {', '.join(different)}; set them as they were")
    if start["data"]["digest"] != data.digest:
        raise ResumeError(f"{output.resume} was begun on other data; start the run anew without --resume")
    known = {question.id: question for question in data.questions}
    done = tuple(
        replace(record, question=known[record.question.id])
        for record in events.results()
        if record.question.id in known and not record.failures  # an outage is no answer: it is asked again
    )
    return RunRecord(output.resume, start["started"], plan.shown(), described(data), done)


def _events(file: Path) -> Events:
    try:
        return read_events(file)
    except OSError as error:
        held = ", ".join(sorted(found.name.removesuffix(EVENTS) for found in file.parent.glob(f"*{EVENTS}"))) or "none"
        raise ResumeError(
            f"{file}: {error.strerror}; --resume takes the id of a run in that folder, there are: {held}"
        ) from error


def told(record: RunRecord) -> str:
    """Give the measures of a run with their intervals, its times and its failures."""
    measured = summarise(measured_rows(record.questions))
    return rendered("run.txt", record=record, summaries=measured, times=times(record.questions)).rstrip("\n")


def compared(first: Path, second: Path, *, as_json: bool, page: Path | None, force: bool) -> str:
    """Compare two runs by their JSON files, and write a page where one is wanted.

    Raises RunUnreadableError, IncomparableRunsError.
    """
    found = compare(_read(first), _read(second), forced=force)
    if page is not None:
        write_whole(page, comparison_page(found))
    return comparison_json(found) if as_json else comparison_text(found)


def _read(file: Path) -> RunRecord:
    try:
        return read_run(file.read_text("utf-8"))
    except (RunUnreadableError, UnicodeDecodeError) as error:
        raise RunUnreadableError(f"{file}: {error}") from error
