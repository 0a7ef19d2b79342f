"""Tests of keeping to what holds where the person lives, and today."""

from dataclasses import replace
from datetime import date, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st
from unit_builders import hit_of

from clara.knowledge.places import Level, Place, Places
from clara.knowledge.placing import current, located
from clara.retrieval.passage import Found, Hit, Query, Retrieve, Status

PLACES = Places(
    [
        Place("ES", Level.STATE, "España", None),
        Place("ES-MD", Level.COMUNIDAD, "Comunidad de Madrid", None),
        Place("ES-M", Level.PROVINCE, "Madrid", "ES-MD"),
        Place("ES-M/28079", Level.MUNICIPALITY, "Madrid", "ES-M"),
    ]
)
LAST_DAY = date(2026, 12, 31)
ALWAYS = hit_of("nie-plazos-01", 0.9)
ENDING = hit_of("nie-cuantias-01", 0.8, valid_from="2026-01-01", valid_until="2026-12-31")
COMING = hit_of("nie-cuantias-02", 0.7, valid_from="2027-01-01", valid_until="2027-12-31")


class Spy:
    """A retriever that notes what it was asked."""

    def __init__(self, found: Found) -> None:
        self.asked: list[Query] = []
        self._found = found

    def __call__(self, query: Query) -> Found:
        self.asked.append(query)
        return self._found


@pytest.mark.parametrize(
    ("text", "territories"),
    [
        pytest.param("el NIE en Madrid", ("ES-M/28079", "ES-M", "ES-MD", "ES"), id="municipality"),
        pytest.param("el NIE en la Comunidad de Madrid", ("ES-MD", "ES"), id="comunidad"),
        pytest.param("el NIE en España", (), id="state"),
        pytest.param("el NIE", (), id="no-place"),
    ],
)
def test_located(text: str, territories: tuple[str, ...]) -> None:
    """A question that names a place is asked for that place and what is around it; the rest of it stays."""
    spy = Spy(Found(Status.NOT_FOUND, "t", confidence=0.2))
    query = Query(text, "clara", "fr", 7, documents={"nie": 1.0}, outside=0.1)
    assert located(spy, PLACES)(query) == Found(Status.NOT_FOUND, "t", confidence=0.2)
    assert spy.asked == [replace(query, territories=territories)]


def test_located_keeps_what_is_known() -> None:
    """Territories that are known without the question stay when it names no place."""
    spy = Spy(Found(Status.NOT_FOUND, "t"))
    located(spy, PLACES)(Query("el NIE", "clara", territories=("ES-MD", "ES")))
    assert spy.asked[0].territories == ("ES-MD", "ES")


def found_on(day: date, *hits: Hit) -> Found:
    """Ask a retriever with these hits on a day."""
    found = Found(Status.FOUND, "t", hits, outages=("u",), timings_ms={"search": 1.0}, confidence=0.9)
    return current(Spy(found), lambda: day)(Query("el NIE", "clara"))


@pytest.mark.parametrize(
    ("day", "expected"),
    [
        pytest.param(date(2025, 12, 31), [ALWAYS], id="day-before-the-first"),
        pytest.param(date(2026, 1, 1), [ALWAYS, ENDING], id="first-day"),
        pytest.param(LAST_DAY, [ALWAYS, ENDING], id="last-day"),
        pytest.param(LAST_DAY + timedelta(1), [ALWAYS, COMING], id="midnight-after-the-last"),
        pytest.param(date(2027, 12, 31), [ALWAYS, COMING], id="last-day-of-the-next"),
        pytest.param(date(2028, 1, 1), [ALWAYS], id="after-all"),
    ],
)
def test_current(day: date, expected: list[Hit]) -> None:
    """What is not true yet and what is no longer true is left out; the other hits keep their order, and the rest stays."""
    found = found_on(day, ALWAYS, ENDING, COMING)
    assert found == Found(Status.FOUND, "t", tuple(expected), ("u",), {"search": 1.0}, 0.9)


def test_the_day_is_asked_each_time() -> None:
    """One retriever that stays up over midnight hides the old figure and shows the new one."""
    days = iter([LAST_DAY, LAST_DAY + timedelta(1)])
    retrieve = current(Spy(Found(Status.FOUND, "t", (ENDING, COMING))), lambda: next(days))
    assert [retrieve(Query("el NIE", "clara")).hits for _ in range(2)] == [(ENDING,), (COMING,)]


def test_nothing_left() -> None:
    """When no hit is true today nothing was found."""
    found = found_on(date(2028, 1, 1), ENDING, COMING)
    assert found == Found(Status.NOT_FOUND, "t", (), ("u",), {"search": 1.0}, 0.9)


@pytest.mark.parametrize("status", [Status.NOT_FOUND, Status.OUTAGE])
@pytest.mark.parametrize("hits", [(), (ENDING,)], ids=["no-hits", "directory"])
def test_a_miss_stays_what_it_is(status: Status, hits: tuple[Hit, ...]) -> None:
    """A miss stays a miss and an outage an outage; its directory lists only what is true."""
    retrieve: Retrieve = current(Spy(Found(status, "t", hits)), lambda: date(2028, 1, 1))
    found = retrieve(Query("el NIE", "clara"))
    assert (found.status, found.hits) == (status, ())


@given(st.lists(st.tuples(st.none() | st.dates(), st.none() | st.dates()), max_size=5), st.dates())
def test_holds_on_its_days(periods: list[tuple[date | None, date | None]], day: date) -> None:
    """A hit is kept exactly on the days from its first to its last."""
    hits = tuple(
        hit_of(f"nie-plazos-{place:02}", valid_from=start and start.isoformat(), valid_until=end and end.isoformat())
        for place, (start, end) in enumerate(periods)
    )
    true = [hit for hit, (start, end) in zip(hits, periods, strict=True) if (start or day) <= day <= (end or day)]
    found = found_on(day, *hits)
    assert list(found.hits) == true
    assert found.status is (Status.FOUND if true else Status.NOT_FOUND)
