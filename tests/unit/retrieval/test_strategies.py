"""Tests of the ways to choose among candidates."""

import math
from dataclasses import replace
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st
from unit_builders import hit_of, passage_of

from clara.retrieval.options.strategies import (
    STRATEGIES,
    Boosts,
    UnknownStrategyError,
    choosing,
    hybrid,
    mmr,
    rrf,
    similarity,
    strategy_named,
)
from clara.retrieval.passage import Hit, Query

QUERY = Query("who checks the token?", "code")
UNITS = tuple((math.cos(turn), math.sin(turn)) for turn in (0.0, 0.1, 0.7, 1.5, 3.0))


def candidate(number, **changes):
    return replace(hit_of(f"doc-section-{number:02}"), **changes)


def places(hits):
    return [int(hit.passage.id[-2:]) for hit in hits]


SCORES = st.none() | st.floats(-1, 1) | st.just(math.nan)
CANDIDATES = st.lists(
    st.builds(
        candidate,
        st.integers(0, 30),
        score=st.floats(-1, 2) | st.just(math.nan),
        cosine=SCORES,
        dense_rank=st.none() | st.integers(1, 50),
        lexical_rank=st.none() | st.integers(1, 50),
        vector=st.none() | st.sampled_from(UNITS),
    ),
    max_size=40,
)


@pytest.mark.parametrize("name", sorted(STRATEGIES))
@given(candidates=CANDIDATES, limit=st.integers(1, 100))
def test_hits_are_chosen_among_the_candidates(name, candidates, limit) -> None:
    """Every strategy gives distinct candidates, at most the limit, the same each time, whatever the scores."""
    query = replace(QUERY, limit=limit)
    chosen = STRATEGIES[name](query, candidates)
    ids = [hit.passage.id for hit in chosen]
    assert len(ids) == len(set(ids)) <= limit
    assert set(ids) <= {hit.passage.id for hit in candidates}
    assert ids == [hit.passage.id for hit in STRATEGIES[name](query, candidates)]


@pytest.mark.parametrize("name", sorted(STRATEGIES.keys() - {"similarity"}))
@given(candidates=CANDIDATES)
def test_only_a_threshold_leaves_candidates_out(name, candidates) -> None:
    """With room for all, every strategy but similarity gives every passage."""
    chosen = STRATEGIES[name](replace(QUERY, limit=100), candidates)
    assert {hit.passage.id for hit in chosen} == {hit.passage.id for hit in candidates}


@pytest.mark.parametrize("name", sorted(STRATEGIES))
@given(limit=st.integers(1, 100))
def test_enough_candidates_are_wanted(name, limit) -> None:
    """No strategy wants fewer candidates than hits, nor more than a query may ask for."""
    assert limit <= STRATEGIES[name].wanted(limit) <= 100


@pytest.mark.parametrize(
    ("name", "limit", "wanted"),
    [("similarity", 5, 100), ("rrf", 5, 100), ("hybrid", 5, 10), ("boosted", 80, 100), ("mmr", 5, 15), ("mmr", 20, 50)],
)
def test_candidates_are_a_multiple_of_the_limit(name, limit, wanted) -> None:
    """Hybrid wants twice the limit, variety three times up to 50; orders of one leg want the whole pool."""
    assert STRATEGIES[name].wanted(limit) == wanted


def test_similarity_orders_by_cosine() -> None:
    """The nearest vector is first whatever the fused score; what is too far or was never compared is left out."""
    candidates = [
        candidate(1, score=0.9, cosine=0.5),
        candidate(2, score=0.1, cosine=0.8),
        candidate(3, score=0.8, cosine=0.39),
        candidate(4, score=1.0),
        candidate(5, score=1.0, cosine=math.nan),
    ]
    chosen = similarity(min_similarity=0.4)(QUERY, candidates)
    assert [(hit.passage.id[-1], hit.score) for hit in chosen] == [("2", 0.8), ("1", 0.5)]


def test_a_similarity_at_the_threshold_passes() -> None:
    """The least similarity is itself enough."""
    assert places(similarity(0.4)(QUERY, [candidate(1, cosine=0.4)])) == [1]


def test_hybrid_orders_by_fused_score() -> None:
    """The fused score decides, equals keep their order, and a score that is no number is last."""
    candidates = [candidate(n, score=score) for n, score in enumerate((math.nan, 0.2, 0.9, 0.2))]
    assert places(hybrid()(QUERY, candidates)) == [2, 1, 3, 0]


def test_boosts_reorder_hybrid() -> None:
    """An approved passage overtakes one that is a little better, by the clock handed in."""
    approved = Hit(passage_of("doc-section-02", metadata={"approved": True}), 0.9)
    candidates = [candidate(1, score=1.0), approved]
    boosting = hybrid(Boosts(handy=1.0), clock=lambda: datetime(2026, 11, 1, tzinfo=UTC))
    assert places(hybrid()(QUERY, candidates)) == [1, 2]
    assert places(boosting(QUERY, candidates)) == [2, 1]
    assert boosting(QUERY, candidates)[0].score == pytest.approx(1.08)


def test_mmr_prefers_what_is_new() -> None:
    """Of three hits, the twin of the first comes after the farther one that says something else; scores stay."""
    candidates = [
        candidate(1, score=0.3, cosine=0.9, vector=UNITS[0]),
        candidate(2, score=0.2, cosine=0.89, vector=UNITS[0]),
        candidate(3, score=0.1, cosine=0.6, vector=UNITS[3]),
    ]
    assert places(mmr()(QUERY, candidates)) == [1, 3, 2]
    assert [hit.score for hit in mmr()(QUERY, candidates)] == [0.3, 0.1, 0.2]
    assert places(mmr(balance=1)(QUERY, candidates)) == [1, 2, 3]


def test_mmr_needs_vectors() -> None:
    """Only the strategy that compares hits with each other asks for their vectors."""
    assert {name for name, strategy in STRATEGIES.items() if strategy.needs_vectors} == {"mmr"}


def test_rrf_adds_reciprocal_ranks() -> None:
    """Second in both legs beats first in one; a passage of neither leg scores 0 and is last."""
    candidates = [
        candidate(1, score=9.0),
        candidate(2, dense_rank=1),
        candidate(3, dense_rank=2, lexical_rank=2),
        candidate(4, lexical_rank=1),
    ]
    chosen = rrf()(QUERY, candidates)
    assert places(chosen) == [3, 2, 4, 1]
    assert [hit.score for hit in chosen] == pytest.approx([2 / 62, 1 / 61, 1 / 61, 0])


def test_the_first_of_a_repeated_passage_counts() -> None:
    """A passage that comes twice is chosen once, as it came first."""
    twice = [candidate(1, score=0.4), candidate(2, score=0.5), candidate(1, score=0.9)]
    assert [(hit.passage.id[-1], hit.score) for hit in hybrid()(QUERY, twice)] == [("2", 0.5), ("1", 0.4)]


def test_choosing_fetches_more_than_it_gives() -> None:
    """The search is asked for what the strategy wants, with the rest of the query as it was."""
    asked = []

    def search(query):
        asked.append(query)
        return [candidate(number, score=number / 20) for number in range(query.limit)]

    query = replace(QUERY, limit=3, vector=(1.0, 0.0), collections=("curated",))
    assert places(choosing(search, hybrid())(query)) == [5, 4, 3]
    assert asked == [replace(query, limit=6)]
    assert asked[0].vector == query.vector


def test_a_strategy_is_found_by_name() -> None:
    """Each name gives its own strategy."""
    assert all(strategy_named(name).name == name for name in STRATEGIES)


def test_an_unknown_name_lists_the_known() -> None:
    """A misspelt strategy is refused with the names there are."""
    with pytest.raises(UnknownStrategyError, match=r"no strategy 'mrm': choose one of boosted, hybrid, mmr, rrf, similarity"):
        strategy_named("mrm")


@pytest.mark.parametrize(
    "make",
    [lambda: mmr(1.01), lambda: mmr(-0.1), lambda: mmr(math.nan), lambda: rrf(-1)],
    ids=["above", "below", "nan", "negative"],
)
def test_senseless_settings_are_refused(make) -> None:
    """A weight outside 0..1 or a negative constant fails when the strategy is made, not in a question."""
    with pytest.raises(ValueError, match="give"):
        make()
