"""Judging by cases of one's own: any suite of `own_suites` over a file in JSON lines."""

from collections.abc import Callable
from pathlib import Path
from time import perf_counter
from typing import Final

from clara.bootstrap import Services
from clara.evaluation.answers import Part, short_of
from clara.evaluation.judged import Judged
from clara.jobs.batches import BatchError, read_lines, strangers
from clara.jobs.judging import JudgedAnswers, tell_parts
from clara.jobs.own_suites import SUITES, Stage
from clara.knowledge.faults import DataError, Fault

Say = Callable[[str], None]
Progress = Callable[[int, int], None]
# The goal of every group that has none of its own.
OTHERS: Final = ""


def judge_own(services: Services, name: str, source: Path, say: Say, progress: Progress) -> JudgedAnswers:
    """Judge every case of a file by one suite, and say which fields nobody reads.

    Raises DataError for an unknown suite and a file without a case, BatchError naming every bad line.
    """
    suite = SUITES.get(name)
    if suite is None:
        raise DataError([Fault("suites", name, f"has no format for cases of one's own; choose among {', '.join(SUITES)}")])
    cases = read_lines(source, suite.fields)
    if not cases:
        raise BatchError(f"{source}: holds no case; write one JSON object a line")
    for field, count in strangers(cases, suite.fields).items():
        say(f"{source}: the field '{field}' of {count} lines is unknown to the suite '{name}' and changes nothing")
    started = perf_counter()
    stage, judged = Stage(services), list[Judged]()
    for number, case in enumerate(cases, 1):
        judged += suite.judge(stage, case)
        progress(number, len(cases))
    groups = dict.fromkeys(sorted({case.group for case in judged}))
    wanted = {group: suite.goals.get(group, suite.goals.get(OTHERS)) for group in groups}
    goals = {group: goal for group, goal in wanted.items() if goal is not None}
    part = Part(name, source.name, tuple(judged), goals, perf_counter() - started)
    tell_parts((part,), say, len(judged))
    return JudgedAnswers((part,), tuple(short_of(part, {})))
