"""Tests of raising hits by their metadata."""

import math
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st
from unit_builders import passage_of

from clara.retrieval.options.strategies import Boosts, boosted
from clara.retrieval.passage import Hit

NOW = datetime(2026, 11, 1, tzinfo=UTC)
RECENT = Boosts(recent=0.2, half_life_days=30)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=5,
)


def factor(boosts=RECENT, text="x", **metadata):
    return boosted([Hit(passage_of(text=text, metadata=metadata), 1.0)], boosts, NOW)[0].score


@pytest.mark.parametrize(
    ("metadata", "expected"),
    [
        ({}, 1.0),
        ({"approved": True}, 1.2),
        ({"approved": "true"}, 1.0),
        ({"approved": 1}, 1.0),
        ({"usage_count": 10}, 1.1),
        ({"usage_count": 30}, 1.3),
        ({"usage_count": 10**400}, 1.3),
        ({"usage_count": math.inf}, 1.3),
        ({"usage_count": math.nan}, 1.0),
        ({"usage_count": -5}, 1.0),
        ({"usage_count": True}, 1.0),
        ({"usage_count": "30"}, 1.0),
        ({"indexed_at": "2026-11-01T00:00:00Z"}, 1.2),
        ({"indexed_at": "2026-10-02"}, 1.1),
        ({"indexed_at": "2026-09-02T00:00:00+00:00"}, 1.05),
        ({"indexed_at": "2027-01-01"}, 1.2),
        ({"indexed_at": "0001-01-01T00:00:00+14:00"}, 1.0),
        ({"indexed_at": "yesterday"}, 1.0),
        ({"indexed_at": 1_790_000_000}, 1.0),
        ({"approved": True, "usage_count": 30}, 1.56),
    ],
    ids=lambda value: str(value)[:40],
)
def test_each_signal_has_its_factor(metadata, expected) -> None:
    """Approval, use and freshness raise a score by what the boosts say, and odd values by nothing."""
    assert factor(**metadata) == pytest.approx(expected)


@pytest.mark.parametrize(("length", "expected"), [(49, 1.0), (50, 1.1), (500, 1.1), (501, 1.0)])
def test_a_handy_length_counts(length, expected) -> None:
    """From 50 to 500 characters, both included, the text is handy."""
    assert factor(text="x" * length) == pytest.approx(expected)


def test_nothing_is_capped() -> None:
    """Two hits that would both pass 1.0 stay in order instead of tying."""
    hits = [Hit(passage_of(name, metadata={"approved": True}), score) for name, score in (("a-b-1", 1.0), ("a-b-2", 0.9))]
    assert [hit.score for hit in boosted(hits, Boosts(handy=1.0), NOW)] == pytest.approx([1.2, 1.08])


def test_recency_is_off_unless_asked() -> None:
    """By default a passage of today gains nothing over one of unknown age."""
    assert factor(Boosts(), indexed_at="2026-11-01") == 1.0


@given(approved=JSON, uses=JSON, indexed=JSON, score=st.floats(-5, 5))
def test_no_metadata_lowers_a_score(approved, uses, indexed, score) -> None:
    """Whatever JSON the metadata holds, nothing is raised as an error and no score goes down, negative ones included."""
    metadata = {"approved": approved, "usage_count": uses, "indexed_at": indexed}
    (hit,) = boosted([Hit(passage_of(metadata=metadata), score)], RECENT, NOW)
    assert hit.score >= score


@given(st.text(max_size=40) | st.datetimes().map(datetime.isoformat))
def test_any_date_can_be_read(written) -> None:
    """A date of any age, or what is none, gives a factor between none and the full share."""
    assert 1.0 <= factor(indexed_at=written) <= 1.2


@pytest.mark.parametrize(
    "settings",
    [{"approved": 0.9}, {"handy": 0}, {"most_usage": -0.1}, {"recent": -1}, {"half_life_days": 0}, {"approved": math.nan}],
    ids=str,
)
def test_lowering_boosts_are_refused(settings) -> None:
    """Boosts that would lower a score, divide by zero or are no number fail when they are made."""
    with pytest.raises(ValueError, match="Boosts"):
        Boosts(**settings)
