"""The evaluation of answers: every suite of clara.quality.suites, run on real code, held against its goals and its baseline.

A suite is a module with NAME, GOALS (the least share that must pass, by group) and judged(snapshot, split). One that cannot
run, or that judges nothing, ends the evaluation with an error: it never passes for want of cases.
"""

import json
import pkgutil
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib import import_module
from pathlib import Path
from time import perf_counter
from typing import Final, Protocol, cast

from clara.answering.snapshot import KnowledgeSnapshot
from clara.data_files import DataError, Fault
from clara.quality import suites
from clara.quality.answers import (
    Judged,
    SuitePart,
    as_answer_rows,
    failures_of,
    groups_table,
    languages_table,
    read_record,
    record_of,
    short_of,
)
from clara.quality.dataset import SPLITS
from clara.quality.gate import Shortfall
from clara.quality.paired import Regression
from clara.quality.question_vectors import QuestionVectors, moved
from clara.settings import resources

Say = Callable[[str], None]
Progress = Callable[[int, int], None]
# What makes a module a suite; a module with none of them helps one.
PARTS: Final = ("NAME", "GOALS", "judged")
ALL: Final = "all"
# Failed cases named for each suite and split; --json and --out give all of them.
NAMED: Final = 12


class Suite(Protocol):
    """What a module must have to be run as a suite."""

    NAME: str
    GOALS: Mapping[str, float]

    def judged(self, snapshot: KnowledgeSnapshot, split: str) -> list[Judged]:
        """Run the cases of one split through real code. Raises DataError."""
        ...


# A suite and the split it is run on.
Task = tuple[Suite, str]


@dataclass(frozen=True, slots=True)
class JudgedAnswers:
    """A finished evaluation of answers, and what fell short."""

    parts: tuple[SuitePart, ...]
    shortfalls: tuple[Shortfall | Regression, ...]

    def as_json(self) -> str:
        """Give one row a case."""
        return json.dumps(as_answer_rows(self.parts), ensure_ascii=False, indent=1)


def suites_found() -> dict[str, Suite]:
    """Give the suites by name. Raises DataError naming every module that is half a suite, and every name taken twice."""
    found: dict[str, Suite] = {}
    faults: list[Fault] = []
    for module in pkgutil.iter_modules(suites.__path__):
        loaded = import_module(f"{suites.__name__}.{module.name}")
        held = [part for part in PARTS if hasattr(loaded, part)]
        if not held:
            continue
        if len(held) < len(PARTS):
            missing = ", ".join(sorted(set(PARTS) - set(held)))
            faults.append(Fault(f"{module.name}.py", "module", f"a suite needs {missing} too; add them"))
        elif found.setdefault(loaded.NAME, cast("Suite", loaded)) is not loaded:
            faults.append(Fault(f"{module.name}.py", "NAME", f"'{loaded.NAME}' is taken; choose another"))
    if faults:
        raise DataError(faults)
    return found


def chosen_suites(names: Sequence[str]) -> dict[str, Suite]:
    """Give the suites of these names, all of them without a name. Raises DataError when there is no such suite."""
    found = suites_found()
    unknown = sorted(set(names) - found.keys())
    if unknown or not found:
        remedy = f"no such suite; choose among {', '.join(found) or 'none'}"
        raise DataError([Fault("suites", ", ".join(unknown) or "all", remedy)])
    return {name: suite for name, suite in found.items() if not names or name in names}


def judge(
    snapshot: KnowledgeSnapshot, names: Sequence[str], split: str, say: Say, progress: Progress, *, live: bool = True
) -> JudgedAnswers:
    """Run suites and compare them with goals and the record. Raises DataError when a suite cannot run or has no case.

    Questions have the vectors that the release carries, so that every processor gives the same verdict; `live`, what embeds is
    run again with this machine's own, and may differ in a few cases only.
    """
    chosen = chosen_suites(names)
    record = read_record(resources() / "eval" / "answers" / "record.json")
    _refuse_strangers(record)
    tasks = [(suite, part) for suite in chosen.values() for part in (SPLITS if split == ALL else (split,))]
    vectors = QuestionVectors(snapshot)
    parts: list[SuitePart] = []
    embedding: list[Task] = []
    for number, (suite, name) in enumerate(tasks, 1):
        before = vectors.embedded
        parts.append(judge_part(vectors.carried, suite, name))
        embedding += [(suite, name)] if vectors.embedded > before else []
        progress(number, len(tasks))
    tell_parts(parts, say, NAMED)
    shortfalls = [short for part in parts for short in short_of(part, record)]
    if live and embedding:
        again = _judged_live(vectors, embedding, progress)
        shortfalls += moved(_sides(part for part in parts if _task_of(part) in _names(embedding)), _sides(again), say)
    return JudgedAnswers(tuple(parts), tuple(shortfalls))


def _judged_live(vectors: QuestionVectors, tasks: Sequence[Task], progress: Progress) -> list[SuitePart]:
    """Judge once more with vectors made by this machine's processor."""
    parts: list[SuitePart] = []
    for number, (suite, name) in enumerate(tasks, 1):
        parts.append(judge_part(vectors.live, suite, name))
        progress(number, len(tasks))
    return parts


def _task_of(part: SuitePart) -> tuple[str, str]:
    return part.suite, part.split


def _names(tasks: Iterable[Task]) -> set[tuple[str, str]]:
    return {(suite.NAME, split) for suite, split in tasks}


def _sides(parts: Iterable[SuitePart]) -> dict[str, bool]:
    return {f"{part.suite} {part.split} {case.group} {case.id}": case.passed for part in parts for case in part.judged}


def judge_part(snapshot: KnowledgeSnapshot, suite: Suite, split: str) -> SuitePart:
    """Run one suite on one split. Raises DataError when it judges nothing, or a case twice."""
    started = perf_counter()
    cases = suite.judged(snapshot, split)
    place = f"{suite.NAME}, split {split}"
    if not cases:
        raise DataError([Fault("suites", place, "judged no case; restore its file in eval/answers")])
    repeated = [name for (name, _), times in Counter((case.id, case.group) for case in cases).items() if times > 1]
    if repeated:
        raise DataError([Fault("suites", place, f"judged more than once: {', '.join(repeated[:5])}; give each its own id")])
    return SuitePart(suite.NAME, split, tuple(cases), suite.GOALS, perf_counter() - started)


def _refuse_strangers(names: Iterable[str]) -> None:
    """See that the record holds nothing that would never be compared."""
    known = suites_found().keys()
    faults = [Fault("record.json", name, "no such suite; remove it") for name in names if name not in known]
    if faults:
        raise DataError(faults)


def tell_parts(parts: Sequence[SuitePart], say: Say, most: int) -> None:
    """Say the tables, and of each part `most` of the cases that failed."""
    say(f"\n{groups_table(parts)}\n\n{languages_table(parts)}\n")
    for part in parts:
        if failed := failures_of(part, most):
            say("\n".join([f"{part.suite}, {part.split}, failed:", *failed, ""]))
    say("seconds: " + ", ".join(f"{part.suite} {part.split} {part.seconds:.1f}" for part in parts))


def answers_verdict(done: JudgedAnswers) -> str:
    """Say whether every group reaches its goal and is no worse than its record, and which do not."""
    if not done.shortfalls:
        return "\nthe gate of the answers is passed"
    return "\n" + "\n".join(["below the gate of the answers:", *map(str, done.shortfalls)])


def write_answers(folder: Path, done: JudgedAnswers) -> None:
    """Write the figures and every case as JSON, and the record that a later run would be compared with."""
    folder.mkdir(parents=True, exist_ok=True)
    document = {
        "run_at": datetime.now(UTC).isoformat(timespec="seconds"),
        "figures": [
            {"suite": part.suite, "split": part.split, "group": group, "passed": right, "of": total}
            for part in done.parts
            for group, (right, total) in part.shares().items()
        ],
        "cases": as_answer_rows(done.parts),
    }
    (folder / "record.json").write_text(json.dumps(record_of(done.parts), ensure_ascii=False, indent=1) + "\n", "utf-8")
    (folder / "answers.json").write_text(json.dumps(document, ensure_ascii=False, indent=1) + "\n", "utf-8")
