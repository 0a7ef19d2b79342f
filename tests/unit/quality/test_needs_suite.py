"""Tests of the suite of needs: what it counts as right, and that its halves share no scenario and nothing that was taught."""

import json
from collections import Counter, defaultdict
from types import SimpleNamespace
from typing import Any

import pytest
from tests.languages import TAUGHT

from clara.answering.message import Citation, Reply, ReplyStatus
from clara.data_files import read_lines
from clara.quality.suites.needs import FIRST, NEEDS, OFFERED, OUT, PHENOMENA, REFUSED
from clara.settings import resources

ROWS = [json.loads(line) for line in (resources() / "eval" / "answers" / "needs.jsonl").read_text("utf-8").splitlines()]


def cited(document: str) -> Reply:
    """An answer that cites a fact of a procedure."""
    citation = Citation("C1", f"{document}-plazos-01", document, "plazos", "https://sede.example", "2026-07")
    return Reply("x", ReplyStatus.ANSWERED, "es", citations=(citation,))


@pytest.mark.parametrize(
    ("phenomenon", "reply", "passed"),
    [
        pytest.param("need", cited("imv"), {"need": True, FIRST: True, OFFERED: True}, id="expected"),
        pytest.param("need", cited("arraigo"), {"need": True, FIRST: True, OFFERED: True}, id="accepted"),
        pytest.param("need", cited("nie"), {"need": False, FIRST: False, OFFERED: False}, id="another"),
        pytest.param(
            "need",
            Reply("x", ReplyStatus.CLARIFIED, "es", options=("nie", "imv")),
            {"need": False, FIRST: False, OFFERED: True},
            id="offered",
        ),
        pytest.param(
            "need", Reply("x", ReplyStatus.NOT_FOUND, "es"), {"need": False, FIRST: False, OFFERED: False}, id="refused"
        ),
        pytest.param(OUT, Reply("x", ReplyStatus.NOT_FOUND, "es"), {REFUSED: True}, id="rightly-refused"),
        pytest.param(OUT, cited("imv"), {REFUSED: False}, id="wrongly-answered"),
    ],
)
def test_what_is_right(phenomenon: str, reply: Reply, passed: dict[str, bool]) -> None:
    """The first citation decides; a list that holds the procedure is as good only where that is what is counted."""
    case = {"id": "a", "language": "es", "phenomenon": phenomenon, "query": "q", "previous": None}
    stage: Any = SimpleNamespace(reply_to=lambda _text: reply)
    judged = NEEDS.judge(stage, [{**case, "expected": ["imv"], "accepted": ["arraigo"]}])
    assert {one.group: one.passed for one in judged} == passed


def test_halves_share_no_scenario() -> None:
    """What one person asks stands in one half; both have every phenomenon and every language."""
    halves: dict[str, set[str]] = defaultdict(set)
    for row in ROWS:
        halves[row["scenario"]].add(row["split"])
    assert {len(of) for of in halves.values()} == {1}
    assert len(ROWS) >= 400
    for split in ("dev", "test"):
        of_split = [row for row in ROWS if row["split"] == split]
        assert set(Counter(row["phenomenon"] for row in of_split)) == {*PHENOMENA, OUT}
        assert set(Counter(row["language"] for row in of_split)) == set(TAUGHT)


def test_the_rows_are_whole(real: Any) -> None:
    """Every line has its fields, and every procedure that a row expects is held; only what is out expects none."""
    file = resources() / "eval" / "answers" / "needs.jsonl"
    assert len(
        read_lines(
            file,
            {"id": NEEDS.fields["query"], "language": NEEDS.fields["query"], **NEEDS.fields, "split": NEEDS.fields["query"]},
        )
    ) == len(ROWS)
    named = {name for row in ROWS for name in (*row["expected"], *row["accepted"])}
    assert named <= real.names.keys()
    assert [row["id"] for row in ROWS if (row["phenomenon"] == OUT) != (not row["expected"])] == []
