"""Tests of intervals and paired tests, against cases by hand, SciPy, and the plain bootstrap."""

import random
from statistics import fmean

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest, permutation_test

from clara_lab.bench.summary import FLIPS, estimate, estimates, mcnemar_p, randomisation_p

DICE = random.Random(3)
VALUES = [DICE.random() ** 2 for _ in range(150)]


def test_an_interval_is_that_of_the_plain_bootstrap() -> None:
    """The middle 95 % of means of as many values, drawn with replacement."""
    ours = estimates({"f1": VALUES})["f1"]
    drawn = sorted(fmean(DICE.choices(VALUES, k=len(VALUES))) for _ in range(1000))
    assert ours.mean == pytest.approx(fmean(VALUES))
    assert (ours.low, ours.high) == pytest.approx((drawn[25], drawn[-26]), abs=0.006)
    assert ours == estimate(VALUES)
    assert estimates({"f1": VALUES}) == estimates({"f1": VALUES})


def test_missing_values_enter_no_mean() -> None:
    """Only what was measured counts, and a column of nothing is left out."""
    found = estimates({"some": [0.5, None, 0.7], "none": [None, None, None], "one": [None, 0.25, None]})
    assert found.keys() == {"some", "one"}
    assert found["some"].mean == pytest.approx(0.6)
    assert (found["some"].low, found["some"].high) == pytest.approx((0.5, 0.7))
    assert (found["one"].mean, found["one"].low, found["one"].high) == (0.25, 0.25, 0.25)
    assert estimates({}) == estimates({"empty": []}) == {}


@given(gained=st.integers(0, 60), lost=st.integers(0, 60))
def test_mcnemar_is_the_binomial_test(gained: int, lost: int) -> None:
    """The exact test is a two-sided binomial test of the questions that changed."""
    expected = binomtest(gained, gained + lost).pvalue if gained + lost else 1.0
    assert mcnemar_p(gained, lost) == pytest.approx(expected)


def test_mcnemar_of_many_questions() -> None:
    """Thousands of changed questions are no trouble."""
    assert mcnemar_p(3700, 3705) == pytest.approx(binomtest(3700, 7405).pvalue, rel=1e-9)
    assert mcnemar_p(7405, 0) == 0.0


def test_the_randomisation_test_by_hand() -> None:
    """Three differences of the same sign: 2 of the 8 ways to set signs are as far out. What is missing changes nothing."""
    columns = {"three": [1.0, 1.0, 1.0, None], "none": [0.0] * 4, "even": [0.1, -0.1, 0.0, None]}
    assert randomisation_p(columns) == pytest.approx({"three": 2 / 8, "none": 1.0, "even": 1.0}, abs=0.02)
    assert randomisation_p({"all": [0.3] * 60}) == {"all": 1 / (FLIPS + 1)}
    assert randomisation_p({"empty": []}) == {"empty": 1.0}
    assert randomisation_p({}) == {}


def test_the_randomisation_test_against_scipy() -> None:
    """The same p as SciPy's permutation of signs, within what drawing 9,999 of them leaves open."""
    differences = [DICE.gauss(0.05, 0.3) for _ in range(120)]
    theirs = permutation_test((differences,), fmean, permutation_type="samples", n_resamples=9999, rng=1, vectorized=False)
    assert randomisation_p({"f1": differences})["f1"] == pytest.approx(theirs.pvalue, abs=0.02)
