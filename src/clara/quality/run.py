"""Asking a retriever every question of an evaluation: what it made of them, as values and as a table."""

import csv
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from io import StringIO
from pathlib import Path
from time import perf_counter
from typing import Any

from clara.data_files import DataError, Fault
from clara.quality.dataset import Question
from clara.quality.gate import BY_CATEGORY
from clara.quality.measures import MEASURES, Outcome, interval, missing, outcome_of
from clara.retrieval.passage import Query, Retrieve

GROUPS: Mapping[str, Callable[[Outcome], str]] = {
    "category": lambda outcome: outcome.question.category,
    "language": lambda outcome: outcome.question.language,
    "difficulty": lambda outcome: outcome.question.difficulty,
}


def results_of(outcomes: Sequence[Outcome]) -> dict[str, float | None]:
    """Take every measure over all outcomes, and over each category ("hit@1:plazos")."""
    results = {name: measure(outcomes) for name, measure in MEASURES.items()}
    for category in sorted({outcome.question.category for outcome in outcomes}):
        of_category = [outcome for outcome in outcomes if outcome.question.category == category]
        results |= {f"{name}{BY_CATEGORY}{category}": measure(of_category) for name, measure in MEASURES.items()}
    return results


def table_of(outcomes: Sequence[Outcome]) -> str:
    """Write the measures with their intervals, then the share of right outcomes by category, language and difficulty."""
    lines = ["| measure | value | 95 % interval |", "|---|---|---|"]
    for name, measure in MEASURES.items():
        spread = interval(measure, outcomes)
        shown = "-" if spread is None else f"{_share(spread[0])} - {_share(spread[1])}"
        lines.append(f"| {name} | {_share(measure(outcomes))} | {shown} |")
    for name, group in GROUPS.items():
        lines += ["", f"| {name} | right | of |", "|---|---|---|"]
        for value in sorted({group(outcome) for outcome in outcomes}):
            members = [outcome for outcome in outcomes if group(outcome) == value]
            lines.append(f"| {value} | {sum(outcome.right for outcome in members)} | {len(members)} |")
    return "\n".join(lines)


def _share(value: float | None) -> str:
    return "-" if value is None else f"{value:.3f}"


# Passages asked for: enough to hold three documents, where a question is about several.
LIMIT = 20

Ask = Callable[[Question], Query]
Progress = Callable[[int, int], None]


def run(questions: Sequence[Question], retrieve: Retrieve, ask: Ask, progress: Progress) -> list[Outcome]:
    """Ask every question, in order. `ask` makes the query that the conversation would make."""
    outcomes: list[Outcome] = []
    for number, question in enumerate(questions, 1):
        started = perf_counter()
        found = retrieve(ask(question))
        outcomes.append(outcome_of(question, found, (perf_counter() - started) * 1000))
        progress(number, len(questions))
    return outcomes


def completed(questions: Iterable[Question], outcomes: Iterable[Outcome]) -> list[Outcome]:
    """Give one outcome for every question; those that a run left out count as wrong."""
    known = {outcome.question.id: outcome for outcome in outcomes}
    return [known.get(question.id, missing(question)) for question in questions]


def as_rows(outcomes: Iterable[Outcome]) -> list[dict[str, Any]]:
    """Write outcomes as plain values, one row a question."""
    return [
        {
            "id": outcome.question.id,
            "query": outcome.question.query,
            "language": outcome.question.language,
            "category": outcome.question.category,
            "difficulty": outcome.question.difficulty,
            "split": outcome.question.split,
            "expected": sorted(outcome.question.documents),
            "expected_section": outcome.question.section,
            "answered": outcome.answered,
            "right": outcome.right,
            "found": list(outcome.documents),
            "section": outcome.section,
            "facts": list(outcome.facts[:5]),
            "confidence": None if outcome.confidence is None else round(outcome.confidence, 4),
            "tier": outcome.tier,
            "ms": round(outcome.milliseconds, 2),
        }
        for outcome in outcomes
    ]


def as_csv(outcomes: Iterable[Outcome]) -> str:
    """Write outcomes as CSV, one row a question; lists are joined by spaces."""
    rows = as_rows(outcomes)
    out = StringIO()
    writer = csv.DictWriter(out, fieldnames=list(rows[0]) if rows else ["id"])
    writer.writeheader()
    for row in rows:
        writer.writerow({name: " ".join(value) if isinstance(value, list) else value for name, value in row.items()})
    return out.getvalue()


def as_trec(outcomes: Iterable[Outcome], tag: str) -> str:
    """Write outcomes as a TREC run file: query id, Q0, document, rank, score, tag. The score is the reciprocal rank."""
    lines = [
        f"{outcome.question.id} Q0 {document} {rank} {1 / rank:.6f} {tag}"
        for outcome in outcomes
        for rank, document in enumerate(outcome.documents, 1)
    ]
    return "".join(f"{line}\n" for line in lines)


def changed_sides(baseline: Mapping[str, bool], outcomes: Iterable[Outcome]) -> tuple[list[Outcome], list[Outcome]]:
    """Give the questions that are right now and were wrong, and those that are wrong now and were right."""
    better: list[Outcome] = []
    worse: list[Outcome] = []
    for outcome in outcomes:
        before = baseline.get(outcome.question.id)
        if before is not None and before != outcome.right:
            (better if outcome.right else worse).append(outcome)
    return better, worse


def read_baseline(file: Path) -> dict[str, bool]:
    """Read which questions were right in an earlier run. Raises DataError."""
    try:
        document = json.loads(file.read_text("utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise DataError([Fault(file.name, "file", f"no usable baseline ({error}); write one with --out")]) from error
    right = document.get("right") if isinstance(document, dict) else None
    if not isinstance(right, dict) or not all(isinstance(value, bool) for value in right.values()):
        remedy = 'a baseline holds {"right": {"<question>": true, ...}}; write one with --out'
        raise DataError([Fault(file.name, "$.right", remedy)])
    return right
