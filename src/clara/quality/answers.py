"""What an evaluation of answers comes to: judged cases, a figure for each group, tables, what falls short of goals."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import sqrt
from pathlib import Path
from typing import Any

from clara.data_files import DataError, Fault
from clara.quality.dataset import SPLITS
from clara.quality.gate import Shortfall
from clara.quality.paired import Regression, change, regression


@dataclass(frozen=True, slots=True)
class Judged:
    """A case and whether it passed. `group` is what its figure is counted under, such as "danger" or "near miss".

    `note` says in short what was wrong, without repeating a whole text.
    """

    id: str
    language: str
    group: str
    passed: bool
    note: str = ""


# The share of normally distributed values within 1.96 standard deviations is .95.
SIGMAS = 1.96
# The names of the cases that were wrong, by suite, split and group.
Record = Mapping[str, Mapping[str, Mapping[str, frozenset[str]]]]
NO_TABLE = 'must hold {"wrong": {suite: {split: {group: [case, ...]}}}}; write one with --out'


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


def read_cases(file: Path, split: str, fields: Sequence[str] = ()) -> list[dict[str, Any]]:
    """Read the cases of one split from JSON lines; each needs "id", "language", "split" and `fields`.

    Raises DataError naming every fault of the file.
    """
    try:
        lines = file.read_text("utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise DataError([Fault(file.name, "file", f"cannot be read ({error}); restore it from the repository")]) from error
    faults: list[Fault] = []
    cases: dict[str, dict[str, Any]] = {}
    for number, line in enumerate(lines, 1):
        place = f"line {number}"
        try:
            case = json.loads(line)
        except (ValueError, RecursionError) as error:
            faults.append(Fault(file.name, place, f"not usable JSON ({error}); mend it there"))
            continue
        missing = {"id", "language", "split", *fields} - (case.keys() if isinstance(case, dict) else set())
        if missing:
            faults.append(Fault(file.name, place, f"must be an object with {', '.join(sorted(missing))}; add them"))
        elif case["split"] not in SPLITS:
            faults.append(Fault(file.name, place, f"no such split; use one of {', '.join(SPLITS)}"))
        elif cases.setdefault(case["id"], case) is not case:
            faults.append(Fault(file.name, place, f"the id '{case['id']}' is taken; each case needs its own"))
    if faults:
        raise DataError(faults)
    return [case for case in cases.values() if case["split"] == split]


def read_record(file: Path) -> Record:
    """Read which cases were wrong when last recorded, by suite, split and group. Raises DataError naming every fault."""
    try:
        document = json.loads(file.read_text("utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise DataError([Fault(file.name, "file", f"cannot be read ({error}); restore it from the repository")]) from error
    suites = document.get("wrong") if isinstance(document, dict) else None
    if not isinstance(suites, dict):
        raise DataError([Fault(file.name, "$.wrong", NO_TABLE)])
    faults: list[Fault] = []
    record: dict[str, dict[str, dict[str, frozenset[str]]]] = {}
    for suite, splits in suites.items():
        for split, groups in (splits if isinstance(splits, dict) else {"": None}).items():
            if split not in SPLITS or groups is None or not _names_by_group(groups):
                faults.append(Fault(file.name, f"{suite}.{split}", NO_TABLE))
                continue
            record.setdefault(suite, {})[split] = {group: frozenset(names) for group, names in groups.items()}
    if faults:
        raise DataError(faults)
    return record


def _names_by_group(groups: object) -> bool:
    return isinstance(groups, dict) and all(
        isinstance(names, list) and all(isinstance(name, str) for name in names) for names in groups.values()
    )


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
    return [
        {
            "suite": part.suite,
            "split": part.split,
            "id": case.id,
            "language": case.language,
            "group": case.group,
            "passed": case.passed,
            "note": case.note,
        }
        for part in parts
        for case in part.judged
    ]
