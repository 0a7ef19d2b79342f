"""Tests of the semantic similarity of answers, with the bundled model and with one that is out."""

import pytest

from clara.adapters.models.local import LocalEmbedder
from clara.retrieval.embedders import AbsentEmbedder
from clara_lab.bench.answers import NO_ANSWER, NO_GOLD, semantic_similarities
from clara_lab.bench.dataset import BenchQuestion
from clara_lab.bench.record import Score

RIGHT = BenchQuestion("q", "Which city?", "Madrid, the capital of Spain")


def test_the_nearer_an_answer_the_higher_it_is() -> None:
    """The same text has 1, the same in other words more than something else, whatever else is asked with it."""
    same, near, far = semantic_similarities(
        [(RIGHT, RIGHT.answer), (RIGHT, "la capital de España, Madrid"), (RIGHT, "a recipe for bread")], LocalEmbedder()
    )
    assert same.value == pytest.approx(1.0, abs=1e-6)
    assert near.value is not None
    assert far.value is not None
    assert 1.0 > near.value > far.value + 0.05


def test_what_cannot_be_compared_is_no_zero() -> None:
    """Missing answers and right answers are errors of their own, and the others are measured all the same."""
    measured = semantic_similarities(
        [(RIGHT, None), (RIGHT, " "), (BenchQuestion("q", "?"), "Madrid"), (RIGHT, RIGHT.answer)], LocalEmbedder()
    )
    assert [given.error for given in measured] == [NO_ANSWER, NO_ANSWER, NO_GOLD, ""]


def test_an_embedder_that_is_out_is_an_error_of_each_measure() -> None:
    """It does not hide what was wrong before, and nothing is asked when there is nothing to compare."""
    out = AbsentEmbedder("m", 8, "embedder answered 500")
    assert semantic_similarities([(RIGHT, "x"), (RIGHT, None)], out) == [
        Score(None, "embedder answered 500"),
        Score(None, NO_ANSWER),
    ]
    assert semantic_similarities([(RIGHT, None)], out) == [Score(None, NO_ANSWER)]
    assert semantic_similarities([], out) == []
