"""The evaluation that gates a release: the real chain, the questions of eval/, the measures, the gate."""

import csv
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from io import StringIO
from pathlib import Path
from time import perf_counter
from typing import Any

from pydantic import BaseModel

from clara.answering.snapshot import KnowledgeSnapshot
from clara.answering.writing.several import found_apart
from clara.data_files import DataError, Fault
from clara.knowledge.passages import CORPUS
from clara.language.detection import DEFAULT
from clara.quality.dataset import SPLITS, KnownIds, Question, read_questions
from clara.quality.gate import BY_CATEGORY, Change, Regression, Shortfall, read_gate, read_left, regression, shortfalls
from clara.quality.measures import MEASURES, Outcome, interval, missing, outcome_of, risk_coverage
from clara.quality.question_vectors import QuestionVectors, moved
from clara.retrieval.passage import Found, Query, Retrieve
from clara.settings import resources

Progress = Callable[[int, int], None]
Say = Callable[[str], None]
# A tier alone, or the chain as people meet it.
CHAIN = "chain"


@dataclass(frozen=True, slots=True)
class EvaluationChoice:
    """What to evaluate: the chain or one tier, and which questions."""

    tier: str = CHAIN
    split: str | None = None
    category: str | None = None

    def includes(self, question: Question) -> bool:
        """Whether a question belongs to the choice."""
        return self.split in (None, question.split) and self.category in (None, question.category)


class Baseline(BaseModel):
    """Which questions were right in an earlier run; whatever else that file holds does not matter."""

    right: dict[str, bool]


@dataclass(frozen=True, slots=True)
class Evaluated:
    """A finished evaluation: outcomes, what fell short of the gate, and whether the gate applied at all."""

    outcomes: tuple[Outcome, ...]
    shortfalls: tuple[Shortfall | Regression, ...]
    gated: bool

    def as_json(self) -> str:
        """Give one row a question."""
        return json.dumps(as_rows(self.outcomes), ensure_ascii=False, indent=1)


def read_evaluation(snapshot: KnowledgeSnapshot, file: Path | None = None) -> list[Question]:
    """Read the questions, checked against the catalogue. Raises DataError."""
    catalogue = snapshot.knowledge.catalogue
    known = KnownIds(
        sections={name: frozenset(section.id for section in one.sections) for name, one in catalogue.procedures.items()},
        facts=frozenset(fact.id for one in catalogue.procedures.values() for fact in one.facts),
        territories=frozenset(catalogue.places.by_code),
    )
    folder = resources() / "eval"
    return read_questions(file or folder / "clara" / "queries.jsonl", folder / "schema" / "query.schema.json", known)


def evaluate(
    snapshot: KnowledgeSnapshot, choice: EvaluationChoice, baseline: Path | None, say: Say, progress: Progress
) -> Evaluated:
    """Run the questions through the chain or one tier and compare with gate and baseline. Raises DataError.

    The snapshot is asked as it is: `gated` gives it the vectors of the release, and asks once more without.
    """
    before = read_left(baseline, Baseline).right if baseline else None
    gate = read_gate(resources() / "eval" / "clara" / "gate.toml")
    questions = [question for question in read_evaluation(snapshot) if choice.includes(question)]
    if not questions:
        remedy = "no question is of both; choose others"
        raise DataError([Fault("queries.jsonl", f"split {choice.split}, category {choice.category}", remedy)])
    outcomes = completed(questions, run(questions, _read(snapshot, choice.tier), asking(snapshot), progress))
    missed: list[Shortfall | Regression] = []
    applies = False
    for part in SPLITS:
        of_part = [outcome for outcome in outcomes if outcome.question.split == part]
        if not of_part:
            continue
        say(f"\n## {choice.tier}, split {part}, {len(of_part)} questions\n\n{table_of(of_part)}")
        wanted = gate.wanted(choice.tier, part) if choice.category is None else {}
        applies = applies or bool(wanted)
        missed += [replace(short, measure=f"{part} {short.measure}") for short in shortfalls(wanted, results_of(of_part))]
    if before is not None:
        missed += _compare(before, outcomes, say)
    return Evaluated(tuple(outcomes), tuple(missed), applies or before is not None)


def gated(
    snapshot: KnowledgeSnapshot, choice: EvaluationChoice, baseline: Path | None, say: Say, progress: Progress
) -> Evaluated:
    """Judge by the vectors that the release carries, alike on every processor; then ask once more with this machine's own.

    A second run that decides more than a few questions otherwise falls short. Raises DataError.
    """
    vectors = QuestionVectors(snapshot)
    done = evaluate(vectors.carried, choice, baseline, say, progress)
    if not vectors.embedded:
        return done
    questions = [outcome.question for outcome in done.outcomes]
    live = vectors.live
    again = completed(questions, run(questions, _read(live, choice.tier), asking(live), progress))
    return replace(done, shortfalls=(*done.shortfalls, *moved(_sides(done.outcomes), _sides(again), say)))


def _sides(outcomes: Sequence[Outcome]) -> dict[str, bool]:
    return {outcome.question.id: outcome.right for outcome in outcomes}


def verdict(done: Evaluated) -> str:
    """Say whether the gate is passed, and what fell short of it."""
    if not done.gated:
        return "\nno gate applies"
    return "\n" + "\n".join(["below the gate:", *map(str, done.shortfalls)] if done.shortfalls else ["the gate is passed"])


def write_run(folder: Path, tier: str, outcomes: Sequence[Outcome]) -> None:
    """Write the run as JSON, CSV and TREC, and what a baseline needs of it."""
    folder.mkdir(parents=True, exist_ok=True)
    document = {
        "tier": tier,
        "run_at": datetime.now(UTC).isoformat(timespec="seconds"),
        "results": {
            part: results_of(of_part)
            for part in SPLITS
            if (of_part := [outcome for outcome in outcomes if outcome.question.split == part])
        },
        "risk_coverage": [[round(coverage, 4), round(risk, 4)] for coverage, risk in risk_coverage(outcomes)],
        "questions": as_rows(outcomes),
        "right": {outcome.question.id: outcome.right for outcome in outcomes},
    }
    (folder / f"{tier}.json").write_text(json.dumps(document, ensure_ascii=False, indent=1) + "\n", "utf-8")
    (folder / f"{tier}.csv").write_text(as_csv(outcomes), "utf-8")
    (folder / f"{tier}.trec").write_text(as_trec(outcomes, tier), "utf-8")


def _retriever(snapshot: KnowledgeSnapshot, tier: str) -> Retrieve:
    return snapshot.retriever if tier == CHAIN else snapshot.chains.tier(tier)


def _read(snapshot: KnowledgeSnapshot, tier: str) -> Retrieve:
    """Search as the conversation does: several things asked are each searched for, and what is found stands in their order."""
    retrieve, tools = _retriever(snapshot, tier), snapshot.tools

    def search(query: Query) -> Found:
        asked = tools.asking.parts(query.text, query.language or DEFAULT)
        parts = found_apart(retrieve, query, asked)
        if len(parts) <= 1:
            return retrieve(query)
        firsts = [(next(iter(part.found.likely)), part.found.hits) for part in parts]
        hits = tuple(hit for first, found in firsts for hit in found if hit.passage.document_id == first)
        return replace(parts[0].found, hits=hits)

    return search


def asking(snapshot: KnowledgeSnapshot) -> Callable[[Question], Query]:
    """Ask as the conversation does: in the language that the text is written in, mended, with the sentence that asks."""
    tools = snapshot.tools

    def query_of(question: Question) -> Query:
        language = tools.detector.detect(question.query)
        asked = tools.spelling.mended(question.query, language).text
        return Query(asked, CORPUS, language, LIMIT, focus=tools.asking.focus(asked, language))

    return query_of


def _compare(before: dict[str, bool], outcomes: Sequence[Outcome], say: Say) -> list[Regression]:
    """Name the questions that changed side, and give what is worse by the paired test."""
    better, worse = changed_sides(before, outcomes)
    say(f"\nSince the baseline: {len(better)} became right, {len(worse)} became wrong.")
    for mark, group in (("+", better), ("-", worse)):
        for outcome in group:
            expected = " ".join(sorted(outcome.question.documents)) or "refusal"
            got = outcome.documents[0] if outcome.documents else "refusal"
            say(f"{mark} {outcome.question.id} [{outcome.question.language}] {outcome.question.query!r}: {expected} <- {got}")
    names = [tuple(outcome.question.id for outcome in group) for group in (better, worse)]
    return regression("right since the baseline", Change(names[0], names[1]), strict=False)


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


# What of a question stands in a row, under its own name.
ASKED = ("id", "query", "language", "category", "difficulty", "split")


def as_rows(outcomes: Iterable[Outcome]) -> list[dict[str, Any]]:
    """Write outcomes as plain values, one row a question."""
    return [
        {
            **{name: getattr(outcome.question, name) for name in ASKED},
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
