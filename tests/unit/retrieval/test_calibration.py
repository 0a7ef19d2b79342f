"""Tests of the decision whether the evidence is good enough."""

import math
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from unit_builders import passage_of

from clara.retrieval.calibration import Calibration, features_of
from clara.retrieval.passage import Hit, Query

PLAIN = Query("¿cuánto tarda?", "clara")
INSIDE = Query("¿cuánto tarda el NIE?", "clara", outside=0.2689414213699951)  # 1 / (1 + e): the odds of inside are e
MODEL = Calibration({"cosine": 10.0, "inside": 2.0}, intercept=-8.0, threshold=0.5)


def measured_hit(cosine: float | None, coverage: float | None = None) -> Hit:
    """Make a hit with these measures."""
    return Hit(passage_of(), 1.0, cosine=cosine, coverage=coverage)


@pytest.mark.parametrize(
    ("query", "cosines", "expected"),
    [
        pytest.param(PLAIN, [0.8], 0.5, id="10*0.8-8=0"),
        pytest.param(INSIDE, [0.8], 0.8807970779778823, id="10*0.8+2*1-8=2"),
        pytest.param(PLAIN, [0.6, 0.9, 0.7], 0.7310585786300049, id="best-of-three:10*0.9-8=1"),
        pytest.param(PLAIN, [0.7], 0.2689414213699951, id="10*0.7-8=-1"),
        pytest.param(PLAIN, [None], 0.0003353501304664781, id="unmeasured-counts-as-0:-8"),
        pytest.param(PLAIN, [], 0.0, id="no-hits"),
        pytest.param(INSIDE, [], 0.0, id="no-hits-but-inside"),
    ],
)
def test_probability(query: Query, cosines: list[float | None], expected: float) -> None:
    """The probability is the logistic function of the weighted features, and 0 without hits."""
    assert MODEL.probability(query, [measured_hit(cosine) for cosine in cosines]) == pytest.approx(expected)


@pytest.mark.parametrize(
    ("query", "hits", "expected"),
    [
        pytest.param(PLAIN, [measured_hit(0.6, 0.2), measured_hit(0.5, 0.9)], (0.6, 0.9), id="best-of-each"),
        pytest.param(INSIDE, [measured_hit(0.6, None)], (0.6, 0.0), id="unmeasured"),
        pytest.param(PLAIN, [measured_hit(-0.1, 0.0)], (-0.1, 0.0), id="negative-cosine"),
    ],
)
def test_features(query: Query, hits: list[Hit], expected: tuple[float, float]) -> None:
    """The features are the best cosine and the best coverage, and three more that the following tests are about."""
    features = features_of(query, hits)
    assert (features["cosine"], features["coverage"]) == expected
    assert set(features) == {"inside", "cosine", "coverage", "margin", "foreign"}


@pytest.mark.parametrize(
    ("outside", "expected"),
    [
        pytest.param(None, 0.0, id="nobody-judged"),
        pytest.param(0.5, 0.0, id="even"),
        pytest.param(0.2, 1.3862943611198906, id="4-to-1-inside"),
        pytest.param(0.8, -1.3862943611198906, id="4-to-1-outside"),
        pytest.param(0.0, 13.815509557963774, id="certainly-inside"),
        pytest.param(1.0, -13.815509557963774, id="certainly-outside"),
    ],
)
def test_inside(outside: float | None, expected: float) -> None:
    """Inside is the logarithm of the odds that the question is about something in the corpus, finite even when certain."""
    query = Query("¿cuánto tarda?", "clara", outside=outside)
    assert features_of(query, [measured_hit(0.5)])["inside"] == pytest.approx(expected)


@given(st.floats(0, 1), st.floats(0, 1))
def test_inside_never_hurts(first: float, second: float) -> None:
    """The likelier the question is about something in the corpus, the higher the probability."""
    more, less = (Query("x", "clara", outside=outside) for outside in sorted((first, second)))
    assert MODEL.probability(more, [measured_hit(0.8)]) >= MODEL.probability(less, [measured_hit(0.8)])


def test_coverage_can_be_weighted() -> None:
    """A model may weigh the coverage too: 2 * 0.5 - 1 = 0, a probability of one half."""
    model = Calibration({"coverage": 2.0}, intercept=-1.0, threshold=0.5)
    assert model.probability(PLAIN, [measured_hit(0.1, 0.5)]) == pytest.approx(0.5)


def test_nothing_is_never_enough() -> None:
    """Without hits the probability is 0, however certain the model."""
    assert Calibration({"inside": 50.0}, intercept=50.0, threshold=0.001).probability(INSIDE, []) == 0


@pytest.mark.parametrize(
    ("intercept", "expected"),
    [
        pytest.param(1_000.0, 1.0, id="far-above"),
        pytest.param(-1_000.0, 0.0, id="far-below"),
        pytest.param(1e308, 1.0, id="largest"),
        pytest.param(-1e308, 0.0, id="smallest"),
        pytest.param(math.inf, 1.0, id="infinite"),
        pytest.param(-math.inf, 0.0, id="minus-infinite"),
    ],
)
def test_no_overflow(intercept: float, expected: float) -> None:
    """A model that is certain gives 1 or 0, not an error."""
    model = Calibration({"cosine": 1.0}, intercept=intercept, threshold=0.5)
    assert model.probability(PLAIN, [measured_hit(0.9)]) == pytest.approx(expected)


@given(st.floats(allow_nan=False), st.floats(-1e300, 1e300), st.floats(-1, 1))
def test_always_a_probability(intercept: float, weight: float, cosine: float) -> None:
    """Whatever the model, the probability is between 0 and 1."""
    assert 0 <= Calibration({"cosine": weight}, intercept, 0.5).probability(PLAIN, [measured_hit(cosine)]) <= 1


@pytest.mark.parametrize(
    ("language", "foreign"),
    [pytest.param("es", 0.0, id="same"), pytest.param("en", 1.0, id="other"), pytest.param(None, 0.0, id="unknown")],
)
def test_foreign(language: str | None, foreign: float) -> None:
    """A question is foreign when it is known to be in another language than the best passage."""
    assert features_of(Query("x", "clara", language), [measured_hit(0.5)])["foreign"] == pytest.approx(foreign)


@given(st.floats(-1, 1), st.floats(-1, 1))
def test_better_cosine_never_hurts(first: float, second: float) -> None:
    """With a positive weight, a higher cosine never lowers the probability, which stays between 0 and 1."""
    low, high = (MODEL.probability(PLAIN, [measured_hit(cosine)]) for cosine in sorted((first, second)))
    assert 0 <= low <= high <= 1


@pytest.mark.parametrize(
    ("scores", "margin"),
    [
        pytest.param([("nie", 1.0), ("tie", 0.7), ("imv", 0.9)], 0.1, id="the-best-of-the-others"),
        pytest.param([("nie", 1.0), ("nie", 0.9), ("tie", 0.4)], 0.6, id="its-own-passages-do-not-count"),
        pytest.param([("nie", 0.3)], 1.0, id="no-other"),
        pytest.param([("nie", 0.5), ("tie", 0.5)], 0.0, id="a-draw"),
    ],
)
def test_margin(scores: list[tuple[str, float]], margin: float) -> None:
    """The margin is how far the first document is ahead of every other."""
    hits = [Hit(replace(passage_of(), document_id=document), score) for document, score in scores]
    assert features_of(PLAIN, hits)["margin"] == pytest.approx(margin)
