"""The table of peers: what it says of those that were measured, and of those that were not."""

import csv
import io
import json

import pytest

from clara_lab.bench.dataset import BenchQuestion
from clara_lab.bench.peers import PeerOutcome, Timed
from clara_lab.bench.peers_table import PeersTable, peers_csv, peers_json, peers_markdown, rows_of

QUESTIONS = tuple(
    BenchQuestion(f"q{number}", f"Which one is {number}?", gold=frozenset({f"d{number}"})) for number in range(40)
)
UNANSWERABLE = BenchQuestion("nobody", "Who knows?")
ABSENT = PeerOutcome("other", "a framework | with bars", failure="other is not installed", remedy="pip install other")


def timed(right: int) -> Timed:
    """The first so many questions are answered by the first document, the others by none."""
    ranked = {question.id: (f"d{at}" if at < right else "wrong", "x") for at, question in enumerate(QUESTIONS)}
    ranked["nobody"] = ()
    milliseconds = {name: float(at) for at, name in enumerate(ranked)}
    return Timed(ranked, milliseconds, 12.5, 0.1, 2.0, 50_000_000, 7, 3_000_000, "1.2")


def table(*outcomes: PeerOutcome) -> PeersTable:
    data = {"name": "towns", "questions": 41, "documents": 9, "digest": "abcdef0123456789", "relative_only": True}
    return PeersTable("2026-11-20T10:00:00+00:00", data, 20, outcomes, (*QUESTIONS, UNANSWERABLE))


FULL = table(PeerOutcome("own", "ours", timed(40)), PeerOutcome("plain", "by hand", timed(10)), ABSENT)


def test_quality_is_of_the_questions_that_have_an_answer() -> None:
    """A question without gold documents enters no mean; times are of all questions."""
    own, plain = rows_of(FULL)
    assert [own.quality[name].mean for name in ("R@2", "R@5", "R@10", "MRR")] == [1, 1, 1, 1]
    assert plain.quality["R@5"].mean == pytest.approx(0.25)
    assert plain.quality["R@5"].low < 0.25 < plain.quality["R@5"].high
    assert (own.p50_ms, own.p95_ms) == (20, 38)


def test_rows_are_tested_against_the_first_one() -> None:
    """The first row has no p; one that lost thirty of forty questions has a small one, one that lost none has 1."""
    first, worse, same = rows_of(table(*FULL.outcomes[:2], PeerOutcome("twin", "ours", timed(40))))
    assert first.p is None
    assert worse.p is not None
    assert worse.p < 0.001
    assert same.p == 1
    assert worse.against == "own"


def test_who_was_not_measured_is_in_every_format_with_the_remedy() -> None:
    """Markdown, CSV and JSON name who is missing, why, and the command that mends it."""
    for text in (peers_markdown(FULL), peers_csv(FULL), peers_json(FULL)):
        assert "other is not installed" in text
        assert "pip install other" in text


def test_the_first_measured_one_is_compared_against_when_others_are_missing() -> None:
    """A row that could not be measured is no base."""
    rows = rows_of(table(ABSENT, *FULL.outcomes[:2]))
    assert [(row.name, row.against) for row in rows] == [("own", "own"), ("plain", "own")]


def test_the_markdown_is_a_table_of_equal_rows() -> None:
    """Every line of the table has as many cells as its head, and says that a cut corpus compares only."""
    text = peers_markdown(FULL)
    lines = [line for line in text.splitlines() if line.startswith("|")]
    assert len({line.count("|") for line in lines}) == 1
    assert "not the whole corpus" in text
    assert "against own" in text


def test_a_table_without_anybody_measured_says_so() -> None:
    """With nobody installed there is still a table of reasons."""
    empty = table(ABSENT)
    assert rows_of(empty) == []
    assert "not measured: other is not installed" in peers_markdown(empty)
    assert [row["name"] for row in csv.DictReader(io.StringIO(peers_csv(empty)))] == ["other"]


def test_the_formats_hold_the_same_figures() -> None:
    """CSV and JSON agree, and no text of a question is in either."""
    (own, plain, other) = csv.DictReader(io.StringIO(peers_csv(FULL)))
    rows = json.loads(peers_json(FULL))["rows"]
    assert float(plain["R@5"]) == rows[1]["quality"]["R@5"]["mean"]
    assert (own["installed_mb"], other["failure"]) == ("3.0", "other is not installed")
    assert "Which one is" not in peers_json(FULL)
