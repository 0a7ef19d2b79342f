"""Tests of grading how relevant a hit is."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from term_overlap import asking, code_passage, vocabulary_of

from clara.retrieval.options.self_rag import DEFAULT, E5, LENIENT, STRICT, Relevance, RelevanceBounds, grade
from clara.retrieval.passage import Hit

CODE = vocabulary_of("code")
HIT = Hit(code_passage("auth.login", "the login of a user"), 0.0)
HIGH, MIDDLE, PARTIAL, NONE = Relevance
SHARES = st.floats(0, 1)


@pytest.mark.parametrize(
    ("bounds", "score", "coverage", "expected"),
    [
        pytest.param(DEFAULT, 0.51, 0.31, HIGH, id="default-high"),
        pytest.param(DEFAULT, 0.5, 0.31, MIDDLE, id="default-score-must-exceed"),
        pytest.param(DEFAULT, 0.51, 0.3, MIDDLE, id="default-coverage-must-exceed"),
        pytest.param(DEFAULT, 0.31, 0.11, MIDDLE, id="default-relevant"),
        pytest.param(DEFAULT, 0.31, 0.1, PARTIAL, id="default-partial-by-score"),
        pytest.param(DEFAULT, 0.0, 0.01, PARTIAL, id="default-partial-by-words"),
        pytest.param(DEFAULT, 0.1, 0.0, NONE, id="default-none"),
        pytest.param(LENIENT, 0.31, 0.21, HIGH, id="lenient-high"),
        pytest.param(LENIENT, 0.06, 0.0, PARTIAL, id="lenient-partial"),
        pytest.param(STRICT, 0.69, 0.9, MIDDLE, id="strict-relevant"),
        pytest.param(STRICT, 0.31, 0.0, PARTIAL, id="strict-partial-by-score"),
        pytest.param(STRICT, 0.3, 1.0, NONE, id="strict-never-by-words"),
        pytest.param(E5, 0.76, 0.0, NONE, id="e5-cosine-of-anything"),
        pytest.param(E5, 0.89, 0.4, HIGH, id="e5-high"),
    ],
)
def test_levels(bounds: RelevanceBounds, score: float, coverage: float, expected: Relevance) -> None:
    """Each level is reached by exceeding its bounds: both for the first two, one for the third."""
    hit = replace(HIT, cosine=score, coverage=coverage)
    assert grade(asking("login"), hit, bounds, CODE).relevance is expected


def test_cosine_counts_before_the_fused_score() -> None:
    """The fused score stands in where there is no cosine."""
    hit = replace(HIT, score=0.9, coverage=0.5)
    assert grade(asking("login"), hit, DEFAULT, CODE).relevance is HIGH
    assert grade(asking("login"), replace(hit, cosine=0.2), DEFAULT, CODE).relevance is PARTIAL


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        pytest.param("the cache of an index", NONE, id="stop-words-only-shared"),
        pytest.param("of the", NONE, id="stop-words-only-asked"),
        pytest.param("the cache of a user", PARTIAL, id="one-word-shared"),
        pytest.param("", NONE, id="nothing-asked"),
    ],
)
def test_shared_stop_words_say_nothing(question: str, expected: Relevance) -> None:
    """Without a coverage, words are compared: a stop word that both have makes nothing partly relevant."""
    assert grade(asking(question), HIT, DEFAULT, CODE).relevance is expected


def test_measured_coverage_counts_before_the_words() -> None:
    """Where the search measured a coverage, the words are not compared again."""
    assert grade(asking("login"), replace(HIT, coverage=0.0), DEFAULT, CODE).relevance is NONE


@given(SHARES, SHARES, SHARES, SHARES)
def test_more_is_never_worse(score: float, coverage: float, more_score: float, more_coverage: float) -> None:
    """More similarity and more shared words never lower the level nor the confidence, which stays within 0 and 1."""
    low = grade(asking("x"), replace(HIT, cosine=min(score, more_score), coverage=min(coverage, more_coverage)), DEFAULT, CODE)
    high = grade(asking("x"), replace(HIT, cosine=max(score, more_score), coverage=max(coverage, more_coverage)), DEFAULT, CODE)
    levels = list(Relevance)
    assert levels.index(high.relevance) <= levels.index(low.relevance)
    assert 0 <= low.confidence <= high.confidence <= 1


@pytest.mark.parametrize("scores", [(0.3, 0.5, 0.1), (0.5, 0.1, 0.3), (0.5, 0.5, 0.5)])
def test_bounds_fall(scores: tuple[float, float, float]) -> None:
    """RelevanceBounds that do not fall from level to level are refused."""
    high, relevant, partial = scores
    with pytest.raises(ValueError, match="put them in that order"):
        RelevanceBounds(high, 0.3, relevant, 0.1, partial, 0.0)
