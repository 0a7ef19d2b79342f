"""Tests of splitting questions into those to tune on and those to judge by."""

from pathlib import Path
from typing import Any

import pytest
from evaluation_builders import KNOWN, SCHEMA, entry_of, faults_of, write
from hypothesis import given
from hypothesis import strategies as st

from clara.quality.dataset import halves, read_questions


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """Where the questions are."""
    return tmp_path / "queries.jsonl"


@pytest.mark.parametrize(
    ("texts", "expected"),
    [
        # SHA-256 of "cuatro" begins with 0b70, of "tres" with 3d5f, of "uno" with bf0e, of "dos" with c129.
        pytest.param(["uno", "dos", "tres", "cuatro"], ["test", "test", "dev", "dev"], id="even"),
        pytest.param(["cuatro", "tres", "dos", "uno"], ["dev", "dev", "test", "test"], id="order-does-not-matter"),
        pytest.param(["uno", "dos", "tres"], ["dev", "test", "dev"], id="odd"),
        pytest.param(["dos"], ["dev"], id="one"),
        pytest.param([], [], id="none"),
    ],
)
def test_halves(texts: list[str], expected: list[str]) -> None:
    """The lower half of the digests is dev, with the middle one; the upper half is test."""
    assert halves(texts) == dict(zip(texts, expected, strict=True))


@given(st.sets(st.text()))
def test_halves_are_halves(texts: set[str]) -> None:
    """Every text is on one side, and dev has as many as test or one more."""
    sides = halves(texts)
    assert sides.keys() == texts
    assert [*sides.values()].count("dev") - [*sides.values()].count("test") == len(texts) % 2


def halved(**splits: str) -> list[dict[str, Any]]:
    """Make entries whose id and text is the name, each on the side given."""
    return [entry_of(id=name, query=name, split=split) for name, split in splits.items()]


def test_right_split(file: Path) -> None:
    """Questions each on the side of their digest are read."""
    write(file, *halved(uno="test", dos="test", tres="dev", cuatro="dev"))
    assert [question.split for question in read_questions(file, SCHEMA, KNOWN)] == ["test", "test", "dev", "dev"]


def test_wrong_split(file: Path) -> None:
    """A question on the wrong side of the halves is named with the right one."""
    write(file, *halved(uno="test", dos="dev", tres="test", cuatro="dev"))
    assert faults_of(file) == [
        "queries.jsonl: line 2: $.split: the digest of this query puts it into 'test'; write that",
        "queries.jsonl: line 3: $.split: the digest of this query puts it into 'dev'; write that",
    ]


def test_development_questions_have_no_halves(file: Path) -> None:
    """A file of development questions alone is not halved."""
    write(file, *halved(uno="dev", dos="dev", tres="dev", cuatro="dev"))
    assert len(read_questions(file, SCHEMA, KNOWN)) == 4


@pytest.mark.parametrize(
    ("extra", "fault"),
    [
        pytest.param("hola", "line 5: not usable JSON", id="unread"),
        pytest.param(entry_of(id="otro", query="tres", split="dev"), "line 5: $.query: the same", id="repeated"),
    ],
)
def test_split_is_judged_on_the_whole(file: Path, extra: object, fault: str) -> None:
    """While a query is unread or repeated the halves are not known, and no split is called wrong."""
    write(file, *halved(uno="dev", dos="dev", tres="test", cuatro="test"), extra)
    (told,) = faults_of(file)
    assert told.startswith(f"queries.jsonl: {fault}")


def test_faults_of_split_and_reference_at_once(file: Path) -> None:
    """A dangling reference does not keep a wrong split from being named."""
    entries = halved(uno="test", dos="dev", tres="test", cuatro="dev")
    entries[0]["expected_facts"] = ["nada"]
    write(file, *entries)
    assert sorted(fault.split(": ")[2] for fault in faults_of(file)) == ["$.expected_facts", "$.split", "$.split"]
