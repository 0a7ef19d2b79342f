"""The evaluation of answers: every suite, run on real code, held against its goals and its record.

A suite that cannot run, or that judges nothing, ends the evaluation with an error: it never passes for want of cases.
"""

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from math import sqrt
from pathlib import Path
from time import perf_counter
from typing import Annotated, Any, Final

from pydantic import BaseModel, Field

from clara.answering.snapshot import KnowledgeSnapshot
from clara.data_files import DataError, Fault
from clara.quality.dataset import SPLITS
from clara.quality.gate import Regression, Shortfall, change, read_left, regression
from clara.quality.question_vectors import QuestionVectors, moved
from clara.quality.suites import SUITES
from clara.quality.suites.suite import Judged, Suite
from clara.settings import resources

Say = Callable[[str], None]
Progress = Callable[[int, int], None]
# A suite and the split it is run on.
Task = tuple[Suite, str]
ALL: Final = "all"
# Failed cases named for each suite and split; --json and --out give all of them.
NAMED: Final = 12
# The share of normally distributed values within 1.96 standard deviations is .95.
SIGMAS = 1.96


# The names of the cases that were wrong, by suite, split and group.
Record = Mapping[str, Mapping[Annotated[str, Field(pattern=f"^({'|'.join(SPLITS)})$")], Mapping[str, frozenset[str]]]]


class Recorded(BaseModel):
    """What was wrong when last recorded."""

    wrong: Record


@dataclass(frozen=True, slots=True)
class SuitePart:
    """The judged cases of one suite and split. `seconds` is how long judging them took."""

    suite: str
    split: str
    judged: tuple[Judged, ...]
    goals: Mapping[str, float]
    seconds: float = 0.0

    def wrong(self, group: str) -> frozenset[str]:
        """Name the cases of a group that did not pass."""
        return frozenset(case.id for case in self.judged if case.group == group and not case.passed)

    def shares(self) -> dict[str, tuple[int, int]]:
        """Give for each group how many cases passed, and of how many."""
        return counted((case.group, case.passed) for case in self.judged)


def counted(cases: Iterable[tuple[str, bool]]) -> dict[str, tuple[int, int]]:
    """Count by name how many passed, and of how many; in the order of the names."""
    counts: dict[str, tuple[int, int]] = {}
    for name, passed in cases:
        right, total = counts.get(name, (0, 0))
        counts[name] = (right + passed, total + 1)
    return dict(sorted(counts.items()))


def interval(right: int, total: int) -> tuple[float, float]:
    """Give Wilson's 95 % interval of a share: sound for few cases and for shares near 0 and 1."""
    if not total:
        return 0.0, 1.0
    share, squared = right / total, SIGMAS**2
    middle = (share + squared / (2 * total)) / (1 + squared / total)
    spread = SIGMAS / (1 + squared / total) * sqrt(share * (1 - share) / total + squared / (4 * total**2))
    return max(0.0, middle - spread), min(1.0, middle + spread)


def record_of(parts: Iterable[SuitePart]) -> dict[str, Any]:
    """Give what `read_record` reads: the cases that are wrong now."""
    wrong: dict[str, dict[str, dict[str, list[str]]]] = {}
    for part in parts:
        held = wrong.setdefault(part.suite, {}).setdefault(part.split, {})
        for group in part.shares():
            held[group] = sorted(part.wrong(group))
    return {"wrong": wrong}


def short_of(part: SuitePart, record: Record) -> list[Shortfall | Regression]:
    """Give the groups that are worse than their record by a paired test, and those without a record below their goal.

    Where the goal is 1 and was reached, code decides every case, and one that is wrong is enough. A goal that has never been
    reached is shown as such, and is no reason to hold back a release that makes nothing worse. A group without a case falls
    short.
    """
    recorded = record.get(part.suite, {}).get(part.split, {})
    shares = part.shares()
    found: list[Shortfall | Regression] = []
    for group in sorted({*part.goals, *recorded}):
        measure = f"{part.suite} {part.split} {group}"
        right, total = shares.get(group, (0, 0))
        goal = part.goals.get(group, 0.0)
        if not total:
            found.append(Shortfall(measure, goal, None))
        elif group in recorded:
            strict = goal == 1.0 and not recorded[group]
            found += regression(measure, change(recorded[group], part.wrong(group)), strict=strict)
        elif right / total < goal:
            found.append(Shortfall(measure, goal, right / total))
    return found


def groups_table(parts: Sequence[SuitePart]) -> str:
    """Write a line for each suite, split and group: how many passed, the share with its interval, the goal."""
    lines = ["| suite | split | group | passed | of | share | 95 % interval | goal |", "|---|---|---|---|---|---|---|---|"]
    for part in parts:
        for group, (right, total) in part.shares().items():
            low, high = interval(right, total)
            goal = f"{part.goals[group]:.3f}" if group in part.goals else "-"
            if right < part.goals.get(group, 0.0) * total:
                goal = f"{goal} MISSED"
            cells = (part.suite, part.split, group, right, total, f"{right / total:.3f}", f"{low:.3f} - {high:.3f}", goal)
            lines.append(f"| {' | '.join(map(str, cells))} |")
    return "\n".join(lines)


def languages_table(parts: Sequence[SuitePart]) -> str:
    """Write a line for each suite and split, with the share that passed in each language."""
    languages = sorted({case.language for part in parts for case in part.judged})
    lines = [f"| suite | split | {' | '.join(languages)} |", "|---|---|" + "---|" * len(languages)]
    for part in parts:
        counts = counted((case.language, case.passed) for case in part.judged)
        shown = (f"{counts[name][0]}/{counts[name][1]}" if name in counts else "-" for name in languages)
        lines.append(f"| {part.suite} | {part.split} | {' | '.join(shown)} |")
    return "\n".join(lines)


def failures_of(part: SuitePart, most: int) -> list[str]:
    """Name the cases that failed, `most` of them, each with its note."""
    failed = [case for case in part.judged if not case.passed]
    named = [f"- {case.id} [{case.language}] {case.group}: {case.note}" for case in failed[:most]]
    return [*named, f"- and {len(failed) - most} more"] if len(failed) > most else named


def as_answer_rows(parts: Iterable[SuitePart]) -> list[dict[str, Any]]:
    """Write judged cases as plain values, one row a case."""
    return [{"suite": part.suite, "split": part.split, **asdict(case)} for part in parts for case in part.judged]


@dataclass(frozen=True, slots=True)
class JudgedAnswers:
    """A finished evaluation of answers, and what fell short."""

    parts: tuple[SuitePart, ...]
    shortfalls: tuple[Shortfall | Regression, ...]

    def as_json(self) -> str:
        """Give one row a case."""
        return json.dumps(as_answer_rows(self.parts), ensure_ascii=False, indent=1)


def chosen_suites(names: Sequence[str]) -> dict[str, Suite]:
    """Give the suites of these names, all of them without a name. Raises DataError when there is no such suite."""
    if unknown := sorted(set(names) - SUITES.keys()):
        raise DataError([Fault("suites", ", ".join(unknown), f"no such suite; choose among {', '.join(SUITES)}")])
    return {name: suite for name, suite in SUITES.items() if not names or name in names}


def judge(snapshot: KnowledgeSnapshot, names: Sequence[str], split: str, say: Say, progress: Progress) -> JudgedAnswers:
    """Run suites and compare them with goals and the record. Raises DataError when a suite cannot run or has no case.

    Questions have the vectors that the release carries, so that every processor gives the same verdict; what embeds is run
    again with this machine's own, and may differ in a few cases only.
    """
    tasks = [(suite, part) for suite in chosen_suites(names).values() for part in (SPLITS if split == ALL else (split,))]
    record = read_left(resources() / "eval" / "answers" / "record.json", Recorded, "restore it from the repository").wrong
    if strangers := [Fault("record.json", name, "no such suite; remove it") for name in record if name not in SUITES]:
        raise DataError(strangers)
    vectors = QuestionVectors(snapshot)
    parts: list[SuitePart] = []
    embedding: list[tuple[Task, SuitePart]] = []
    before = 0
    for task, part in zip(tasks, judge_parts(vectors.carried, tasks, progress), strict=True):
        parts.append(part)
        embedding += [(task, part)] if vectors.embedded > before else []
        before = vectors.embedded
    tell_parts(parts, say, NAMED)
    shortfalls = [short for part in parts for short in short_of(part, record)]
    if embedding:
        again = judge_parts(vectors.live, [task for task, _ in embedding], progress)
        shortfalls += moved(_sides(part for _, part in embedding), _sides(again), say)
    return JudgedAnswers(tuple(parts), tuple(shortfalls))


def _sides(parts: Iterable[SuitePart]) -> dict[str, bool]:
    return {f"{part.suite} {part.split} {case.group} {case.id}": case.passed for part in parts for case in part.judged}


def judge_parts(snapshot: KnowledgeSnapshot, tasks: Sequence[Task], progress: Progress) -> Iterator[SuitePart]:
    """Run suites on their splits, one by one. Raises DataError when one judges nothing, or a case twice."""
    for number, (suite, split) in enumerate(tasks, 1):
        started = perf_counter()
        cases = suite.judged(snapshot, split)
        place = f"{suite.name}, split {split}"
        if not cases:
            raise DataError([Fault("suites", place, "judged no case; restore its file in eval/answers")])
        counts = Counter((case.id, case.group) for case in cases)
        if repeated := [name for (name, _), times in counts.items() if times > 1]:
            raise DataError([Fault("suites", place, f"judged more than once: {', '.join(repeated[:5])}; give each its own id")])
        yield SuitePart(suite.name, split, tuple(cases), suite.goals, perf_counter() - started)
        progress(number, len(tasks))


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
