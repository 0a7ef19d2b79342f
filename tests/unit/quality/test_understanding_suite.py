"""Tests of the suite of understanding: what it counts as right, and that its halves share no scenario and nothing taught."""

import json
from collections import Counter, defaultdict
from typing import Any

import pytest
from tests.languages import TAUGHT

from clara.answering.message import Citation, Reply, ReplyStatus
from clara.quality.suites.comprehension import BOTH, FACT, OUT, SECTION, UNDERSTANDING, judge_reply
from clara.quality.suites.needs import FIRST, OFFERED, REFUSED
from clara.settings import resources

FILE = resources() / "eval" / "answers" / "understanding.jsonl"
ROWS = [json.loads(line) for line in FILE.read_text("utf-8").splitlines()]


def cited(*facts: str) -> Reply:
    """An answer that cites these facts."""
    told = [(fact, *fact.split("-")[:2]) for fact in facts]
    citations = tuple(
        Citation(f"C{number}", fact, document, section, "https://sede.example", "2026-07")
        for number, (fact, document, section) in enumerate(told, 1)
    )
    return Reply("x", ReplyStatus.ANSWERED, "es", citations=citations)


REFUSING = Reply("x", ReplyStatus.NOT_FOUND, "es", options=("nie", "imv"))
ASKING = Reply("x", ReplyStatus.CLARIFIED, "es")
RIGHT = {"plain": True, FIRST: True, OFFERED: True, f"{OFFERED}, plain": True}
TWO = {"phenomenon": BOTH, "expected": ["imv", "nie"]}
NONE = {"phenomenon": OUT[0], "expected": []}


@pytest.mark.parametrize(
    ("changes", "reply", "passed"),
    [
        pytest.param({}, cited("imv-plazos-01"), RIGHT, id="expected"),
        pytest.param({}, REFUSING, {**RIGHT, "plain": False, FIRST: False}, id="offered-below-a-refusal"),
        pytest.param(TWO, cited("nie-plazos-01", "imv-plazos-01"), {BOTH: True}, id="both"),
        pytest.param(TWO, cited("imv-plazos-01"), {BOTH: False}, id="one-of-two"),
        pytest.param(
            {"fact": "imv-plazos-02"},
            cited("imv-plazos-01", "imv-cuantias-01"),
            {**RIGHT, FACT: False, SECTION: True},
            id="another-fact-of-the-section",
        ),
        pytest.param(NONE, ASKING, {REFUSED: False, "not answered": True}, id="asked-back"),
        pytest.param(NONE, cited("nie-plazos-01"), {REFUSED: False, "not answered": False}, id="wrongly-answered"),
    ],
)
def test_what_is_right(changes: dict[str, Any], reply: Reply, passed: dict[str, bool]) -> None:
    """The first citation decides, of two things asked all must be answered, and a fact is told or not."""
    case = {"id": "a", "language": "es", "phenomenon": "plain", "query": "q", "turns": [], "fact": None}
    judged = list(judge_reply({**case, "expected": ["imv"], "accepted": [], **changes}, reply))
    assert {one.group: one.passed for one in judged} == passed


def test_halves_share_no_scenario() -> None:
    """What hangs together stands in one half; both halves have every phenomenon and every language."""
    halves: dict[str, set[str]] = defaultdict(set)
    for row in ROWS:
        halves[row["scenario"]].add(row["split"])
    assert {len(of) for of in halves.values()} == {1}
    seen = [Counter(row["phenomenon"] for row in ROWS if row["split"] == split).keys() for split in ("dev", "test")]
    assert seen[0] == seen[1]
    for split in ("dev", "test"):
        assert {row["language"] for row in ROWS if row["split"] == split} == set(TAUGHT)


def test_the_rows_are_whole(real: Any) -> None:
    """Every procedure and fact that a row expects is held; only what is outside expects none."""
    named = {name for row in ROWS for name in (*row["expected"], *row["accepted"])}
    facts = {fact.id for procedure in real.catalogue.procedures.values() for fact in procedure.facts}
    assert named <= real.names.keys()
    assert {row["fact"] for row in ROWS if row["fact"]} <= facts
    assert [row["id"] for row in ROWS if (row["phenomenon"] in OUT) != (not row["expected"])] == []
    assert {"phenomenon", "turns", "fact"} <= UNDERSTANDING.fields.keys()
