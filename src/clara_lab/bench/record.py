"""What a run leaves behind: per question the ids, answers and scores, never the contents of documents; and its JSON."""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from math import isfinite
from typing import Any, Final

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
