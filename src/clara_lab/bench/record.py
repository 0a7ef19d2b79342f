"""What a run of the bench leaves behind: per question the ids, answers and measures, never the contents of documents."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from clara_lab.bench.dataset import BenchQuestion


class IncomparableRunsError(Exception):
    """Two runs have nothing in common that could be compared. The message says what differs and what to do."""


class ResumeError(Exception):
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
