"""Tests of comparing two runs of the bench."""

import json
from dataclasses import replace

import pytest
from bench_builders import broken, run

from clara_lab.bench.comparison import (
    Comparison,
    IncomparableRunsError,
    compare,
    comparison_json,
    comparison_text,
)
from clara_lab.bench.dataset import BenchQuestion
from clara_lab.bench.record import QuestionRecord, RunRecord, Score
from clara_lab.bench.reports import comparison_page


def small(name: str, tops: str, scores: tuple[float | None, ...], digest: str = "d") -> RunRecord:
    """A run over questions whose answer is document g; `tops` has the first document of each."""
    asked = tuple(
        QuestionRecord(
            BenchQuestion(f"q{at}", f"No {at}?", gold=frozenset("g")), tuple(top + "xg"), measures={"f1": Score(score)}
        )
        for at, (top, score) in enumerate(zip(tops, scores, strict=True))
    )
    return RunRecord(name, "now", {"k": 20, "strategy": name}, {"digest": digest}, asked)


def by_name(compared: Comparison) -> dict[str, object]:
    return {one.name: one for one in compared.differences}


def test_differences_by_hand() -> None:
    """Means, counts, both tests and the questions that changed side, of five questions."""
    first, second = small("a", "gaaaa", (0.2, 0.9, None, 0.4, 0.4)), small("b", "agggg", (0.2, 0.4, 1.0, 0.6, 0.4))
    compared = compare(first, second)
    assert (compared.count, compared.same_data, compared.settings) == (5, True, {"strategy": ("a", "b")})
    hit = next(one for one in compared.differences if one.name == "hit@1")
    assert (hit.first, hit.second, hit.difference.mean, hit.better, hit.worse) == pytest.approx((0.2, 0.8, 0.6, 4, 1))
    assert hit.mcnemar == pytest.approx(2 * (1 + 5) / 2**5)
    assert hit.p == pytest.approx(hit.mcnemar, abs=0.02)
    assert hit.difference.low < 0 < hit.difference.high
    f1 = next(one for one in compared.differences if one.name == "f1")
    assert (f1.count, f1.better, f1.worse, f1.mcnemar) == (4, 1, 1, None)
    assert f1.difference.mean == pytest.approx(-0.3 / 4)
    sides = [(one.question, one.measure, one.first_rank, one.second_rank) for one in compared.changed]
    assert sides == [
        ("q0", "hit@1", 1, 3), *((f"q{at}", "hit@1", 3, 1) for at in range(1, 5)),
        ("q1", "f1", 3, 1), ("q3", "f1", 3, 1),
    ]  # fmt: skip
    assert not [one for one in compared.differences if "failure" in one.name or "complement" in one.name]


def test_a_run_does_not_differ_from_itself() -> None:
    """No difference, p of 1, no question that changed side."""
    compared = compare(run(), run("again"))
    assert {(one.difference.mean, one.p, one.better, one.worse) for one in compared.differences} == {(0.0, 1.0, 0, 0)}
    assert compared.changed == ()
    assert "No question changed side." in comparison_page(compared)


def test_a_better_run_is_found_better() -> None:
    """With many questions and a real difference both tests are sure."""
    compared = compare(run(questions=150, skill=0.4), run("better", questions=150, skill=0.8))
    recall = next(one for one in compared.differences if one.name == "recall@5")
    assert recall.difference.low > 0
    assert recall.p < 0.001


def test_other_data_are_refused_unless_forced() -> None:
    """Different digests are no comparison; forced, the questions that both have are compared, and the notes say so."""
    first, second = small("a", "ga", (0.1, 0.2)), small("b", "gag", (0.1, 0.2, 0.3), "e")
    with pytest.raises(IncomparableRunsError, match="a is over data d, b over e"):
        compare(first, second)
    compared = compare(first, second, forced=True)
    assert (compared.count, compared.only_first, compared.only_second, compared.same_data) == (2, 0, 1, False)
    assert "DIFFERENT data" in comparison_text(compared)
    assert "1 of the second alone" in comparison_page(compared)
    unknown = replace(first, data={})
    with pytest.raises(IncomparableRunsError, match="unknown"):
        compare(unknown, unknown)
    with pytest.raises(IncomparableRunsError, match="no question in common"):
        compare(first, replace(second, questions=()), forced=True)


def test_reports_of_a_comparison() -> None:
    """Text, JSON and page tell the same; what failed in one run is left out by question, and nothing hostile passes."""
    compared = compare(run(), broken(run("odd", skill=0.3)))
    text, told, page = comparison_text(compared), json.loads(comparison_json(compared)), comparison_page(compared)
    assert text.startswith("odd against run-a: 60 questions\n")
    assert "seed" not in text
    assert told["differences"][0]["name"] == "mrr"
    assert told["differences"][0]["count"] == 58
    assert len(told["changed"]) == len(compared.changed) > 0
    assert "<script" not in page
    assert "Relative only" in page
    for line in text.splitlines():
        assert line == line.rstrip()
