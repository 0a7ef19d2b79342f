"""Tests of the rule which facts may be told."""

from datetime import date, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st
from unit_builders import fact_of, procedure_of

from clara.knowledge.procedure import NEEDED_FIGURES, Certainty, Fact, FactKind
from clara.language.figures.figure import FigureKind

TODAY = date(2026, 11, 21)
YESTERDAY, TOMORROW = TODAY - timedelta(1), TODAY + timedelta(1)


def fact(certainty: Certainty = Certainty.OFFICIAL, start: date | None = None, end: date | None = None) -> Fact:
    """Make a fact with this support and these days."""
    return fact_of(certainty=certainty, valid_from=start, valid_until=end)


@pytest.mark.parametrize(
    ("certainty", "expected"),
    [
        pytest.param(Certainty.OFFICIAL, True, id="official"),
        pytest.param(Certainty.TWO_SOURCES, True, id="two-sources"),
        pytest.param(Certainty.SECONDARY, True, id="secondary"),
        pytest.param(Certainty.UNVERIFIED, False, id="unverified"),
    ],
)
def test_certainty(certainty: Certainty, expected: bool) -> None:
    """Every fact with a source may be told; an unverified one never."""
    assert fact(certainty).published(TODAY) is expected


@pytest.mark.parametrize(
    ("start", "end", "expected"),
    [
        pytest.param(None, None, True, id="always"),
        pytest.param(YESTERDAY, TOMORROW, True, id="inside"),
        pytest.param(TODAY, None, True, id="first-day"),
        pytest.param(None, TODAY, True, id="last-day"),
        pytest.param(TODAY, TODAY, True, id="only-day"),
        pytest.param(TOMORROW, None, False, id="not-yet"),
        pytest.param(None, YESTERDAY, False, id="no-longer"),
    ],
)
def test_days(start: date | None, end: date | None, expected: bool) -> None:
    """A fact may be told from its first day to its last, both included."""
    assert fact(start=start, end=end).published(TODAY) is expected


@given(st.dates(), st.none() | st.dates(), st.none() | st.dates())
def test_unverified_on_no_day(today: date, start: date | None, end: date | None) -> None:
    """There is no day on which an unverified fact may be told."""
    assert not fact(Certainty.UNVERIFIED, start, end).published(today)


@given(st.dates(date(2000, 1, 1), date(2050, 1, 1)), st.integers(0, 1000), st.integers(-2000, 2000))
def test_days_around_a_period(start: date, length: int, offset: int) -> None:
    """A fact is told on a day exactly when the day lies between its first and its last."""
    assert fact(start=start, end=start + timedelta(length)).published(start + timedelta(offset)) is (0 <= offset <= length)


@pytest.mark.parametrize(
    ("end", "expected"),
    [
        pytest.param(None, False, id="never"),
        pytest.param(YESTERDAY, True, id="yesterday"),
        pytest.param(TODAY, False, id="last-day"),
        pytest.param(TOMORROW, False, id="tomorrow"),
    ],
)
def test_expired(end: date | None, expected: bool) -> None:
    """A fact has expired from the day after its last; whether it is published makes no difference."""
    assert fact(Certainty.UNVERIFIED, end=end).validity.ended(TODAY) is expected


def test_facts_of_a_procedure() -> None:
    """The facts of a procedure are those of its sections, in the editor's order."""
    names = ["nie-plazos-02", "nie-plazos-01", "nie-identidad-01"]
    assert [fact.id for fact in procedure_of("nie", *map(fact_of, names)).facts] == names


def test_needed_figures() -> None:
    """Only statements and conditions need no figure."""
    assert set(FactKind) - NEEDED_FIGURES.keys() == {FactKind.STATEMENT, FactKind.CONDITION}
    assert NEEDED_FIGURES[FactKind.FEE] == {FigureKind.AMOUNT}
