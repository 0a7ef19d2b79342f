"""Tests of the paired test, against values of the binomial distribution."""

import pytest

from clara.quality.gate import Change, change, regression


def of(better: int, worse: int) -> Change:
    return change({f"b{one}" for one in range(better)}, {f"w{one}" for one in range(worse)})


@pytest.mark.parametrize(
    ("better", "worse", "p"),
    [(0, 0, 1.0), (0, 1, 0.5), (1, 0, 1.0), (0, 4, 0.0625), (0, 5, 0.03125), (1, 7, 0.03515625), (2, 7, 0.08984375)],
)
def test_the_chance_of_what_changed(better: int, worse: int, p: float) -> None:
    """Values of a binomial distribution with one half, summed by hand."""
    assert of(better, worse).p == pytest.approx(p)
    assert of(better, worse).significant is (p < 0.05)


def test_only_cases_that_changed_side_count() -> None:
    """What was wrong in both runs says nothing."""
    assert change({"a", "b"}, {"b", "c"}) == Change(("a",), ("c",))


def test_a_strict_group_fails_by_one_case() -> None:
    """Elsewhere one is no verdict."""
    assert regression("x", of(3, 1), strict=False) == []
    assert [str(one) for one in regression("x", of(0, 1), strict=True)] == ["x: 1 became wrong (w0), 0 right, p 0.500"]
    assert regression("x", of(3, 0), strict=True) == []


def test_a_message_names_some_cases() -> None:
    """Of many cases the first ones are named."""
    assert str(of(0, 10)).startswith("10 became wrong (w0, w1, w2, w3, w4, w5, w6, w7 and 2 more), 0 right")
