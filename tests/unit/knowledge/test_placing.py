"""Tests of keeping to what holds where the person lives, and today."""

from dataclasses import replace
from datetime import date, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st
from unit_builders import hit_of

from clara.knowledge.keyword_tier import directory, keyword
from clara.knowledge.places import Place, PlaceLevel, Places
from clara.knowledge.retriever_chains import dated, located, vouched
from clara.retrieval.calibration import Calibration
from clara.retrieval.passage import Found, Hit, Query, Status

PLACES = Places(
    [
        Place("ES", PlaceLevel.STATE, "España", None),
        Place("ES-MD", PlaceLevel.COMUNIDAD, "Comunidad de Madrid", None),
        Place("ES-M", PlaceLevel.PROVINCE, "Madrid", "ES-MD"),
        Place("ES-M/28079", PlaceLevel.MUNICIPALITY, "Madrid", "ES-M"),
    ]
)
LAST_DAY = date(2026, 12, 31)
ALWAYS = hit_of("nie-plazos-01", 0.9)
ENDING = hit_of("nie-cuantias-01", 0.8, valid_from="2026-01-01", valid_until="2026-12-31")
COMING = hit_of("nie-cuantias-02", 0.7, valid_from="2027-01-01", valid_until="2027-12-31")

SURE = Calibration({}, 5.0, 0.5)


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


def about_nie(query: Query, _vector: object) -> Query:
    """Understand that every question is about the NIE."""
    return replace(query, documents={"nie": 1.0}, outside=0.0)


def test_the_day_is_asked_each_time() -> None:
    """One retriever that stays up over midnight asks for what holds on the new day."""
    days = iter([LAST_DAY, LAST_DAY + timedelta(1)])
    spy = Spy(Found(Status.NOT_FOUND, "t"))
    retrieve = dated(spy, lambda: next(days))
    query = Query("el NIE", "clara", today=date(2000, 1, 1))
    retrieve(query), retrieve(query)
    assert spy.asked == [replace(query, today=LAST_DAY), replace(query, today=LAST_DAY + timedelta(1))]


@pytest.mark.parametrize(
    ("day", "holding", "over"),
    [
        pytest.param(date(2025, 12, 31), [ALWAYS], [], id="day-before-the-first"),
        pytest.param(date(2026, 1, 1), [ALWAYS, ENDING], [], id="first-day"),
        pytest.param(LAST_DAY, [ALWAYS, ENDING], [], id="last-day"),
        pytest.param(LAST_DAY + timedelta(1), [ALWAYS, COMING], [ENDING], id="midnight-after-the-last"),
        pytest.param(date(2027, 12, 31), [ALWAYS, COMING], [ENDING], id="last-day-of-the-next"),
        pytest.param(date(2028, 1, 1), [ALWAYS], [ENDING, COMING], id="after-all"),
    ],
)
def test_what_holds_and_what_has_ended(day: date, holding: list[Hit], over: list[Hit]) -> None:
    """What is not true yet is left out; what is no longer true comes apart, and takes no place of what holds."""
    passages = [hit.passage for hit in (ENDING, COMING, ALWAYS)]
    found = keyword(passages, about_nie, SURE)(Query("el NIE", "clara", limit=max(len(holding), len(over)), today=day))
    assert {hit.passage.id for hit in found.hits} == {hit.passage.id for hit in holding}
    assert {hit.passage.id for hit in found.ended} == {hit.passage.id for hit in over}
    assert all(hit.ended for hit in found.ended)
    assert not any(hit.ended for hit in found.hits)
    listed = directory(passages)(Query("el NIE", "clara", today=day)).hits
    assert [hit.passage.id in {held.passage.id for held in holding} for hit in listed] == [True]


@given(st.lists(st.tuples(st.none() | st.dates(), st.none() | st.dates()), max_size=5), st.dates())
def test_holds_on_its_days(periods: list[tuple[date | None, date | None]], day: date) -> None:
    """A passage holds exactly on the days from its first to its last, and is no evidence on any other."""
    hits = tuple(
        hit_of(f"nie-plazos-{place:02}", valid_from=start and start.isoformat(), valid_until=end and end.isoformat())
        for place, (start, end) in enumerate(periods)
    )
    true = [hit for hit, (start, end) in zip(hits, periods, strict=True) if (start or day) <= day <= (end or day)]
    assert [hit for hit in hits if hit.passage.holds(day)] == true
    found = keyword([hit.passage for hit in hits], about_nie, SURE)(Query("el NIE", "clara", limit=6, today=day))
    assert {hit.passage.id for hit in found.hits} == {hit.passage.id for hit in true}


def test_only_the_catalogue_is_believed() -> None:
    """What an index row says under a known id is what the catalogue says; an unknown id is left out, and alone it is a miss."""
    poisoned = replace(ALWAYS, passage=replace(ALWAYS.passage, text="Veneno", territory="ES-MD"), cosine=0.5)
    unknown = hit_of("nie-veneno-01", 0.95)

    def asked(*hits: Hit, ended: tuple[Hit, ...] = ()) -> Found:
        found = Found(Status.FOUND, "t", hits, ended=ended)
        return vouched(Spy(found), [ALWAYS.passage, ENDING.passage])(Query("el NIE", "clara"))

    found = asked(unknown, poisoned, ended=(replace(ENDING, ended=True), unknown))
    assert found.hits == (replace(ALWAYS, cosine=0.5),)
    assert found.ended == (replace(ENDING, ended=True),)
    assert asked(unknown).status is Status.NOT_FOUND
