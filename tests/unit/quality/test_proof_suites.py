"""Tests of the suites of mutated and faithful answers: their files are what their maker makes, and a part of each passes."""

import json
from collections import Counter
from typing import Any

import pytest
from tests.languages import TAUGHT

from clara.answering.snapshot import KnowledgeSnapshot
from clara.container import Container
from clara.quality.suites.proof import FAITHFUL, FIGURES, written_reply
from clara.settings import Settings, resources

ANSWERS = resources() / "eval" / "answers"
# One case of so many is proved here; the whole is for `make eval`.
PART = 12


def stored(name: str) -> list[dict[str, Any]]:
    """The cases of a file."""
    return [json.loads(line) for line in (ANSWERS / f"{name}.jsonl").read_text("utf-8").splitlines()]


def test_the_halves_share_no_procedure() -> None:
    """What is tuned on the development half says nothing about the procedures of the test half."""
    cases = [*stored("mutated"), *stored("faithful")]
    told = {
        split: {fact.rsplit("-", 2)[0] for case in cases if case["split"] == split for fact in case["passages"]}
        for split in ("dev", "test")
    }
    assert told["dev"]
    assert told["test"]
    assert not told["dev"] & told["test"]


def test_every_kind_and_language_is_there() -> None:
    """At least 2,000 wrong answers of every kind, and 500 right ones, in all languages, each file below a megabyte."""
    wrong, right = stored("mutated"), stored("faithful")
    assert len(wrong) >= 2_000
    assert len(right) >= 500
    assert {case["language"] for case in wrong} == {case["language"] for case in right} == set(TAUGHT)
    changes = Counter(case["change"] for case in wrong)
    assert {*FIGURES, "figure", "bound", "no_dropped", "no_added", "procedure", "territory", "condition", "mark"} == set(
        changes
    )
    assert all((ANSWERS / f"{name}.jsonl").stat().st_size < 1_000_000 for name in ("mutated", "faithful"))


@pytest.fixture(scope="module")
def snapshot() -> KnowledgeSnapshot:
    """The real snapshot, without a database."""
    return Container(Settings(), None).snapshot()


@pytest.mark.parametrize("name", ["mutated", "faithful"])
def test_a_part_of_the_suite_passes(snapshot: KnowledgeSnapshot, name: str) -> None:
    """Put before the real proof, wrong answers have a fault and right ones have none, but for a hundredth."""
    passages = {passage.id: passage for passage in snapshot.knowledge.passages}
    prove = snapshot.prover.prove
    cases = [case for case in stored(name)[::PART] if all(fact in passages for fact in case["passages"])]
    found = [(case, prove(*written_reply(case, passages), case["language"], "")) for case in cases]
    failed = [case["id"] for case, faults in found if bool(faults) is (name == "faithful")]
    assert len(cases) > len(failed) * 100
    figures = [case["id"] for case, _ in found if case["change"] in {*FIGURES, "figure"}]
    assert name == "faithful" or not set(failed) & set(figures)


def test_every_group_has_a_goal(snapshot: KnowledgeSnapshot) -> None:
    """What a suite judges is counted under the groups of its goals, and judged once."""
    cases = FAITHFUL.judged(snapshot, "dev")
    assert {case.group for case in cases} == set(FAITHFUL.goals)
    assert len({case.id for case in cases}) == len(cases)
