"""What a run leaves behind: per question the ids, answers and scores, never the contents of documents; its JSON, and its log.

The log has what happens in a run, one JSON object a line, written as it happens: to be looked at with jq or pandas, and to
resume from. Kinds of events: `run_start`, `query_result`, `embedding_batch`, `llm_request`, `run_complete`. Each has `event`,
`at` (UTC) and its own fields; a `query_result` has the question's whole record.
"""

import json
import os
import threading
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass, field, fields
from datetime import UTC, datetime
from math import isfinite
from pathlib import Path
from typing import Any, Final, Literal

from clara.errors import Invalid
from clara_lab.bench.dataset import BenchQuestion


class IncomparableRunsError(Invalid):
    """Two runs have nothing in common that could be compared. The message says what differs and what to do."""


class ResumeError(Invalid):
    """A run cannot be taken up again. The message says why and what to do."""


@dataclass(frozen=True, slots=True)
class Score:
    """One measure of one question. A measure that failed has no value and says why; it is counted, and enters no mean."""

    value: float | None
    error: str = ""


@dataclass(frozen=True, slots=True)
class QuestionRecord:
    """One question of a run.

    `retrieved` has the ids of the documents as the search ranked them (RETRIEVAL_K of them, each once), which the retrieval
    measures are of. `pre_rerank_candidate_ids` has all that a reranker was given, empty without one; `context` what generation
    was given. `reranked` is None without a reranker, False when it failed and the order of the search stood.
    `answer` is None when nothing was generated. `failures` are short reasons, without a word of a document.
    `milliseconds` is by stage: retrieve, rerank, generate, judge.
    """

    question: BenchQuestion
    retrieved: tuple[str, ...] = ()
    pre_rerank_candidate_ids: tuple[str, ...] = ()
    context: tuple[str, ...] = ()
    reranked: bool | None = None
    answer: str | None = None
    measures: Mapping[str, Score] = field(default_factory=dict)
    milliseconds: Mapping[str, float] = field(default_factory=dict)
    failures: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class RunRecord:
    """A run: who it is, what was configured (no secrets), what it worked on, and what came of every question.

    `data` has name, digest, numbers of documents and questions, origin and relative_only. `totals` has the figures that are
    of the whole run: seconds by phase, peak memory in bytes, numbers of requests, tokens and failures.
    """

    run_id: str
    started: str
    plan: Mapping[str, Any]
    data: Mapping[str, Any]
    questions: tuple[QuestionRecord, ...]
    totals: Mapping[str, Any] = field(default_factory=dict)


FORMAT: Final = 1
# What a question's fields are called beside those of its record.
_NAMES: Final = {"text": "question", "answer": "expected"}


class RunUnreadableError(Invalid):
    """A file is no run of the bench. The message says why and what to do."""


def run_json(record: RunRecord) -> str:
    """Write a run as JSON, one question a line. `plan`, `data` and `totals` must hold what JSON has: lists, no tuples.

    JSON has no NaN: where a figure is not finite, null is written, and a measure says so.
    """
    head = {
        "format": FORMAT, "run_id": record.run_id, "started": record.started,
        "plan": record.plan, "data": record.data, "totals": record.totals,
    }  # fmt: skip
    lines = ",\n".join(_dumped(question_fields(question)) for question in record.questions)
    return f'{_dumped(head)[:-1]},\n"questions": [\n{lines}\n]}}\n'


def read_run(text: str) -> RunRecord:
    """Read what `run_json` wrote. Raises RunUnreadableError."""
    try:
        found = json.loads(text)
        if found["format"] != FORMAT:
            raise RunUnreadableError(f"written in format {found['format']}, this release reads {FORMAT}; run the bench again")
        questions = tuple(map(question_of, found["questions"]))
        return RunRecord(found["run_id"], found["started"], found["plan"], found["data"], questions, found["totals"])
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise RunUnreadableError(
            f"no run of the bench, or not all of it ({type(error).__name__}: {error}); give the <run>.json of a completed run"
        ) from error


def question_fields(record: QuestionRecord) -> dict[str, Any]:
    """Give one question of a run as JSON has it: for the run's file, and as `query_result` in the event log."""
    held = asdict(record)
    asked = {**held.pop("question"), "gold": sorted(record.question.gold)}
    scores = {name: _measured(one) for name, one in record.measures.items()}
    return {**{_NAMES.get(name, name): value for name, value in asked.items()}, **held, "measures": scores}


def question_of(found: Mapping[str, Any]) -> QuestionRecord:
    """Read what `question_fields` gave; other fields may stand beside. Raises KeyError and TypeError for anything else."""
    asked = {field.name: found[_NAMES.get(field.name, field.name)] for field in fields(BenchQuestion)}
    question = BenchQuestion(**{**asked, "gold": frozenset(asked["gold"])})
    scores = {name: Score(one["value"], one.get("error", "")) for name, one in found["measures"].items()}
    retrieved, candidates, context, failures = (
        tuple(found[name]) for name in ("retrieved", "pre_rerank_candidate_ids", "context", "failures")
    )
    reranked, answer, milliseconds = found["reranked"], found["answer"], found["milliseconds"]
    return QuestionRecord(question, retrieved, candidates, context, reranked, answer, scores, milliseconds, failures)


def _measured(one: Score) -> dict[str, Any]:
    if one.value is not None and not isfinite(one.value):
        return {"value": None, "error": one.error or "not a finite number"}
    return {"value": one.value, "error": one.error} if one.error else {"value": one.value}


def _dumped(value: Any) -> str:  # noqa: ANN401  whatever JSON has
    # ASCII only: half a surrogate pair, which a model may write, cannot be written in UTF-8.
    try:
        return json.dumps(value, allow_nan=False)
    except ValueError:
        return json.dumps(finite(value), allow_nan=False)


def finite(value: Any) -> Any:  # noqa: ANN401  whatever JSON has
    """Give the same with null in place of figures that JSON does not have."""
    if isinstance(value, float) and not isfinite(value):
        return None
    if isinstance(value, Mapping):
        return {key: finite(held) for key, held in value.items()}
    if isinstance(value, list | tuple):
        return [finite(held) for held in value]
    return value


Kind = Literal["run_start", "query_result", "embedding_batch", "llm_request", "run_complete", "sentence"]
QUERY_RESULT: Final = "query_result"


def _now() -> datetime:
    return datetime.now(UTC)


class EventLog:
    """Appends events to a file; threads may share it. Each event is one write, so a killed run loses at most the last line.

    What the system holds in memory outlives the process, not the machine: nothing waits for the disk.
    """

    def __init__(self, file: Path, now: Callable[[], datetime] = _now) -> None:
        """Open for appending, after whatever is there. Raises OSError, as writing does (no room on the disk)."""
        file.parent.mkdir(parents=True, exist_ok=True)
        self._now = now
        self._lock = threading.Lock()
        is_torn = _is_torn(file)
        self._descriptor = os.open(file, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
        if is_torn:
            self._append(b"\n")

    def write(self, event: Kind, **fields: Any) -> None:  # noqa: ANN401  whatever JSON has
        """Append one event. The fields may hold ids, figures and names, never texts of documents."""
        line = json.dumps(finite({"event": event, "at": self._now().isoformat(), **fields})) + "\n"
        with self._lock:
            self._append(line.encode())

    def write_result(self, record: QuestionRecord) -> None:
        """Append what came of one question."""
        self.write(QUERY_RESULT, **question_fields(record))

    def close(self) -> None:
        """Close the file; nothing may be written after."""
        os.close(self._descriptor)

    def _append(self, line: bytes) -> None:
        while line:
            line = line[os.write(self._descriptor, line) :]


def _is_torn(file: Path) -> bool:
    """Say whether the last line has no end: whoever wrote it was killed."""
    try:
        with file.open("rb") as opened:
            opened.seek(-1, os.SEEK_END)
            return opened.read() != b"\n"
    except OSError:  # not there yet, or empty
        return False


@dataclass(frozen=True, slots=True)
class Events:
    """The events of a log in their order, and how many lines could not be read: more than one a kill is worth a look."""

    events: tuple[dict[str, Any], ...]
    torn: int

    def results(self) -> Iterator[QuestionRecord]:
        """Give what came of each question; of a question answered twice, the last."""
        last = {event["id"]: event for event in self.events if event.get("event") == QUERY_RESULT}
        return map(question_of, last.values())


def read_events(file: Path) -> Events:
    """Read a log, whoever wrote it and however it ended. Lines cut short are counted and passed over. Raises OSError."""
    events, torn = [], 0
    with file.open("rb") as opened:
        for line in opened:
            event = _event(line)
            if event is None:
                torn += bool(line.strip())
            else:
                events.append(event)
    return Events(tuple(events), torn)


def _event(line: bytes) -> dict[str, Any] | None:
    try:
        found = json.loads(line)
    except ValueError:
        return None
    return found if isinstance(found, dict) else None
