"""Tests of variety: measuring it, and choosing for it."""

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from unit_builders import hit_of

from clara.retrieval.options.strategies import Diversity, diversified, diversity


def seen(number, vector, cosine=0.5):
    return replace(hit_of(f"doc-section-{number:02}"), vector=vector, cosine=cosine)


def places(hits):
    return [int(hit.passage.id[-2:]) for hit in hits]


@pytest.mark.parametrize(
    ("vectors", "expected"),
    [
        ([], None),
        ([(1.0, 0.0)], None),
        ([(1.0, 0.0), None], None),
        ([(1.0, 0.0), (1.0, 0.0)], Diversity(0.0, 0.0)),
        ([(1.0, 0.0), (0.0, 1.0)], Diversity(1.0, 1.0)),
        ([(1.0, 0.0), (-1.0, 0.0)], Diversity(2.0, 2.0)),
        ([(1.0, 0.0), (1.0, 0.0), (0.0, 1.0)], Diversity(2 / 3, 0.0)),
        ([(1.0, 0.0), (0.0, 1.0), None], Diversity(1.0, 1.0)),
        ([(5.0, 0.0), (0.0, 0.1)], Diversity(1.0, 1.0)),
    ],
    ids=["none", "one", "one-vector", "twins", "right-angle", "opposite", "twins-and-another", "unseen", "not-unit"],
)
def test_diversity_is_what_the_pairs_do_not_share(vectors, expected) -> None:
    """1 - the mean and 1 - the highest cosine of all pairs; nothing can be said of fewer than two vectors."""
    measured = diversity([seen(number, vector) for number, vector in enumerate(vectors)])
    if expected is None:
        assert measured is None
    else:
        assert (measured.mean, measured.least) == pytest.approx((expected.mean, expected.least))


def by_definition(hits, balance, limit):
    """Compute maximal marginal relevance word by word, slowly."""
    left, chosen = sorted(hits, key=lambda hit: -hit.cosine), []
    while left and len(chosen) < limit:
        gains = [
            balance * hit.cosine - (1 - balance) * max((float(np.dot(hit.vector, other.vector)) for other in chosen), default=0)
            for hit in left
        ]
        chosen.append(left.pop(gains.index(max(gains))))
    return chosen


@given(
    seed=st.integers(0, 2**32 - 1),
    count=st.integers(1, 30),
    balance=st.floats(0.1, 1),
    limit=st.integers(1, 12),
)
def test_choice_follows_the_formula(seed, count, balance, limit) -> None:
    """The choice is that of the published formula, computed one hit at a time."""
    random = np.random.default_rng(seed)
    vectors = random.normal(size=(count, 8))
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    hits = [seen(n, tuple(row), cosine) for n, (row, cosine) in enumerate(zip(vectors, random.random(count), strict=True))]
    assert places(diversified(hits, balance, limit, pool=50)) == places(by_definition(hits, balance, limit))


def test_only_the_pool_is_chosen_from() -> None:
    """A candidate beyond the pool is never taken, however new."""
    hits = [seen(1, (1.0, 0.0), 0.9), seen(2, (1.0, 0.0), 0.8), seen(3, (0.0, 1.0), 0.1)]
    assert places(diversified(hits, 0.5, limit=3, pool=2)) == [1, 2]
    assert places(diversified(hits, 0.1, limit=3, pool=3)) == [1, 3, 2]


def test_hits_that_cannot_be_weighed_come_last() -> None:
    """Without a vector or a cosine a hit is kept, after the others, in its order."""
    hits = [seen(1, None, 0.9), seen(2, (1.0, 0.0), None), seen(3, (1.0, 0.0), math.nan), seen(4, (1.0, 0.0), 0.1)]
    assert places(diversified(hits, 0.5, limit=4, pool=50)) == [4, 1, 2, 3]
    assert places(diversified(hits, 0.5, limit=2, pool=50)) == [4, 1]


def test_equals_keep_their_order() -> None:
    """Of candidates that are equally good, the earlier is chosen."""
    hits = [seen(number, (1.0, 0.0)) for number in (3, 1, 2)]
    assert places(diversified(hits, 0.5, limit=3, pool=50)) == [3, 1, 2]
