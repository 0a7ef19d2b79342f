"""Tests of the figures of an evaluation of answers."""

import json
from pathlib import Path

import pytest

from clara.data_files import TEXT, BatchError, DataError
from clara.quality.answers import (
    Recorded,
    SuitePart,
    as_answer_rows,
    failures_of,
    groups_table,
    interval,
    languages_table,
    record_of,
    short_of,
)
from clara.quality.gate import read_left
from clara.quality.suites.suite import Judged, read_cases

CASES = (
    Judged("a", "es", "refused", passed=True),
    Judged("b", "es", "refused", passed=False, note="answered"),
    Judged("c", "ar", "calmed", passed=True),
)


def part(**goals: float) -> SuitePart:
    return SuitePart("scope", "dev", CASES, goals)


def failing(group: str, wrong: int, goal: float) -> SuitePart:
    """Give a group of 80 cases, the first ones wrong."""
    return SuitePart(
        "scope", "dev", tuple(Judged(f"c{one:02}", "es", group, passed=one >= wrong) for one in range(80)), {group: goal}
    )


def recorded(part: SuitePart) -> dict[str, dict[str, dict[str, frozenset[str]]]]:
    return {part.suite: {part.split: {group: part.wrong(group) for group in part.shares()}}}


def test_a_group_without_a_record_is_held_against_its_goal() -> None:
    """Below it falls short; a goal never reached holds nobody back who makes nothing worse."""
    assert [str(short) for short in short_of(part(refused=0.5, calmed=1.0), {})] == []
    assert [short.measure for short in short_of(part(refused=0.6), {})] == ["scope dev refused"]
    assert short_of(part(refused=0.95), recorded(part())) == []
    assert "0.950 MISSED" in groups_table([part(refused=0.95)])


@pytest.mark.parametrize(("wrong", "fails"), [(26, False), (27, False), (30, False), (31, True), (20, False)])
def test_one_case_is_no_verdict(wrong: int, fails: bool) -> None:
    """53 of 80 where 54 are recorded passes; five that became wrong, and none right, do not."""
    short = short_of(failing("facts", wrong, 0.85), recorded(failing("facts", 26, 0.85)))
    assert bool(short) is fails
    if fails:
        assert str(short[0]) == "scope dev facts: 5 became wrong (c26, c27, c28, c29, c30), 0 right, p 0.031"


def test_one_case_is_a_verdict_where_code_decides() -> None:
    """A group that must be right in every case, and was, fails by one; one that never was is compared by the test."""
    assert [
        str(short) for short in short_of(failing("no wrong figure", 1, 1.0), recorded(failing("no wrong figure", 0, 1.0)))
    ] == ["scope dev no wrong figure: 1 became wrong (c00), 0 right, p 0.500"]
    assert short_of(failing("no wrong figure", 3, 1.0), recorded(failing("no wrong figure", 2, 1.0))) == []


def test_a_record_is_read_as_it_was_written(tmp_path: Path) -> None:
    """What a run leaves is what the next one is compared with."""
    file = tmp_path / "record.json"
    file.write_text(json.dumps(record_of([part()])), "utf-8")
    assert read_left(file, Recorded).wrong == recorded(part())


def test_a_group_without_a_case_is_no_pass() -> None:
    """A goal for which nothing was judged falls short, as not measured."""
    assert [str(short) for short in short_of(part(plea=1.0), {})] == ["scope dev plea: not measured, wanted at least 1.000"]


def test_tables_count_groups_and_languages() -> None:
    """Each group has its share and goal, each language its cases; failures are named with their note."""
    assert "| scope | dev | refused | 1 | 2 | 0.500 |" in groups_table([part(refused=0.9)])
    assert "| scope | dev | 1/1 | 1/2 |" in languages_table([part()])
    assert failures_of(part(), 5) == ["- b [es] refused: answered"]
    assert [row["passed"] for row in as_answer_rows([part()])] == [True, False, True]


def test_the_interval_holds_the_share_and_narrows_with_cases() -> None:
    """0 of few cases leaves room above 0; the same share of more cases leaves less."""
    assert interval(0, 10)[0] == 0 < interval(0, 10)[1]
    few, many = interval(9, 10), interval(900, 1000)
    assert few[0] < many[0] < 0.9 < many[1] < few[1]
    assert interval(0, 0) == (0.0, 1.0)


def test_cases_are_read_by_split(tmp_path: Path) -> None:
    """Only the cases of the wanted split are given."""
    file = tmp_path / "x.jsonl"
    file.write_text("".join(f"{json.dumps({'id': name, 'language': 'es', 'split': name})}\n" for name in ("dev", "test")))
    assert [case["id"] for case in read_cases(file, "dev", {})] == ["dev"]


@pytest.mark.parametrize(
    ("line", "remedy"),
    [
        ("{", "each line must be one JSON object"),
        ("[]", "must be an object with 'id', 'language', 'split', 'text'"),
        ('{"id": "a", "language": "es", "split": "dev"}', "lacks 'text'; add it"),
        ('{"id": "a", "language": "es", "split": "all", "text": ""}', "use one of dev, test"),
        ('{"id": "b", "language": "es", "split": "dev", "text": ""}', "is that of line 1"),
    ],
)
def test_every_faulty_case_is_named(tmp_path: Path, line: str, remedy: str) -> None:
    """A case that cannot be judged stops the reading, with its line and what to do."""
    file = tmp_path / "x.jsonl"
    file.write_text(f'{{"id": "b", "language": "es", "split": "dev", "text": ""}}\n{line}\n')
    with pytest.raises(BatchError, match=rf":2: .*{remedy}"):
        read_cases(file, "dev", {"text": TEXT})


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        "{}",
        '{"wrong": []}',
        '{"wrong": {"x": 1}}',
        '{"wrong": {"x": {"night": {}}}}',
        '{"wrong": {"x": {"dev": {"a": [1]}}}}',
    ],
)
def test_a_faulty_record_is_refused(tmp_path: Path, text: str) -> None:
    """Unknown splits, what names no cases, and broken files are named."""
    file = tmp_path / "record.json"
    file.write_text(text)
    with pytest.raises(DataError, match=r"record\.json"):
        read_left(file, Recorded)
