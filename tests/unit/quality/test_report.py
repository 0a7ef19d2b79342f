"""Tests of the figures of a run."""

import pytest
from evaluation_builders import answer, question_of, refusal

from clara.quality.measures import MEASURES
from clara.quality.release import results_of, table_of

OUTCOMES = [
    answer(question_of("q1", "nie", category="plazos", difficulty="easy"), "nie"),
    answer(question_of("q2", "nie", category="plazos", difficulty="hard"), "tie"),
    answer(question_of("q3", "tie", category="cross_lingual", language="ru", difficulty="hard"), "tie"),
    refusal(question_of("n1", language="en")),
]


def rows_of(table: str, heading: str) -> list[list[str]]:
    """Give the cells of one of the tables, without its heading."""
    lines = next(part for part in table.split("\n\n") if part.startswith(f"| {heading} |")).splitlines()
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines[2:]]


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        pytest.param("hit@1", 2 / 3, id="all"),
        pytest.param("hit@1:plazos", 1 / 2, id="category"),
        pytest.param("hit@1:cross_lingual", 1, id="other-category"),
        pytest.param("hit@1:negative", None, id="does-not-apply"),
        pytest.param("refusal_recall:negative", 1, id="negatives"),
        pytest.param("refusal_recall:plazos", None, id="no-negatives"),
    ],
)
def test_results(name: str, expected: float | None) -> None:
    """Measures are taken over all questions and over each category."""
    assert results_of(OUTCOMES)[name] == expected


def test_results_hold_every_measure() -> None:
    """Ten measures, over everything and over three categories."""
    assert len(results_of(OUTCOMES)) == len(MEASURES) * 4


def test_table_of_measures() -> None:
    """Each measure has its line with value and interval; a dash stands for what does not apply."""
    rows = {name: cells for name, *cells in rows_of(table_of(OUTCOMES), "measure")}
    assert list(rows) == list(MEASURES)
    assert rows["hit@1"][0] == "0.667"
    low, high = (float(end) for end in rows["hit@1"][1].split(" - "))
    assert 0 <= low <= 0.667 <= high <= 1
    assert rows["refusal_recall"] == ["1.000", "1.000 - 1.000"]
    assert rows["set_recall@3"] == ["-", "-"]


@pytest.mark.parametrize(
    ("heading", "expected"),
    [
        pytest.param("category", [["cross_lingual", "1", "1"], ["negative", "1", "1"], ["plazos", "1", "2"]], id="category"),
        pytest.param("language", [["en", "1", "1"], ["es", "1", "2"], ["ru", "1", "1"]], id="language"),
        pytest.param("difficulty", [["easy", "2", "2"], ["hard", "1", "2"]], id="difficulty"),
    ],
)
def test_table_of_groups(heading: str, expected: list[list[str]]) -> None:
    """Each group tells how many of its questions were served, refusals among them."""
    assert rows_of(table_of(OUTCOMES), heading) == expected
