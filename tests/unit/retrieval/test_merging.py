"""Tests of merging the hits of several searches."""

from collections.abc import Iterable, Sequence
from dataclasses import replace

import pytest
from term_overlap import hit

from clara.retrieval.options.fusion import Merge, reciprocal_ranks, weighted_scores
from clara.retrieval.passage import Hit


def lists_of(*lists: Iterable[tuple[str, float]]) -> list[list[Hit]]:
    """Make lists of hits with scores."""
    return [[hit(name, score) for name, score in one] for one in lists]


@pytest.mark.parametrize(
    ("merge", "lists", "expected"),
    [
        pytest.param(reciprocal_ranks(), [[("a", 1)], [("b", 9)]], ["a", "b"], id="ranks-not-scores"),
        pytest.param(
            reciprocal_ranks(), [[("a", 1)], [("b", 9)], [("b", 9)]], ["a", "b"], id="two-do-not-outvote-the-question"
        ),
        pytest.param(reciprocal_ranks(), [[("a", 1)], [("b", 9)], [("b", 9)], [("b", 9)]], ["b", "a"], id="three-do"),
        pytest.param(reciprocal_ranks(), [[("a", 2), ("b", 1)], [("b", 9)]], ["b", "a"], id="agreement-counts"),
        pytest.param(reciprocal_ranks(1.0), [[("a", 1)], [("b", 1)]], ["a", "b"], id="ties-keep-the-order"),
        pytest.param(reciprocal_ranks(), [[], [("b", 1)]], ["b"], id="nothing-for-the-question"),
        pytest.param(reciprocal_ranks(), [], [], id="nothing"),
        pytest.param(weighted_scores(), [[("a", 0.8)], [("b", 0.88)]], ["a", "b"], id="a-tenth-less"),
        pytest.param(weighted_scores(), [[("a", 0.8)], [("b", 0.9)]], ["b", "a"], id="better-all-the-same"),
        pytest.param(weighted_scores(), [[("a", 0.8), ("b", 0.1)], [("b", 0.9)]], ["b", "a"], id="the-best-score-counts"),
    ],
)
def test_merging(merge: Merge, lists: Sequence[Sequence[tuple[str, float]]], expected: list[str]) -> None:
    """Lists become one, the question's own weighing most."""
    assert [one.passage.id for one in merge(lists_of(*lists))] == expected


def test_rank_scores() -> None:
    """A passage that is first in every list has the score 1, and the hit of the question itself is the one kept."""
    first, second = replace(hit("a"), lexical=2.0), replace(hit("a"), lexical=5.0)
    (merged,) = reciprocal_ranks()([[first], [second]])
    assert merged.score == pytest.approx(1.0)
    assert merged.lexical == 2.0
