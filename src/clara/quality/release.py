"""The evaluation that gates a release: the real chain, the questions of eval/, the measures, the gate."""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

from clara.answering.snapshot import KnowledgeSnapshot
from clara.data_files import DataError, Fault
from clara.knowledge.passages import CORPUS
from clara.quality.dataset import SPLITS, KnownIds, Question, read_questions
from clara.quality.gate import Shortfall, read_gate, shortfalls
from clara.quality.measures import Outcome, risk_coverage
from clara.quality.paired import Change, Regression, regression
from clara.quality.question_vectors import QuestionVectors, moved
from clara.quality.run import (
    LIMIT,
    Progress,
    as_csv,
    as_rows,
    as_trec,
    changed_sides,
    completed,
    read_baseline,
    results_of,
    run,
    table_of,
)
from clara.retrieval.passage import Query, Retrieve
from clara.settings import resources

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
    before = read_baseline(baseline) if baseline else None
    gate = read_gate(resources() / "eval" / "clara" / "gate.toml")
    questions = [question for question in read_evaluation(snapshot) if choice.includes(question)]
    if not questions:
        remedy = "no question is of both; choose others"
        raise DataError([Fault("queries.jsonl", f"split {choice.split}, category {choice.category}", remedy)])
    outcomes = completed(questions, run(questions, _retriever(snapshot, choice.tier), asking(snapshot), progress))
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
    again = completed(questions, run(questions, _retriever(live, choice.tier), asking(live), progress))
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


def asking(snapshot: KnowledgeSnapshot) -> Callable[[Question], Query]:
    """Ask as the conversation does: in the language that the text is written in."""
    detector = snapshot.tools.detector
    return lambda question: Query(question.query, CORPUS, detector.detect(question.query), LIMIT)


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
