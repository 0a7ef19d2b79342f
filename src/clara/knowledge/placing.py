"""Keeping to what holds where the person lives and today: wrappers around any retriever."""

from collections.abc import Callable
from dataclasses import replace
from datetime import date, datetime
from zoneinfo import ZoneInfo

from clara.knowledge.places import Places
from clara.retrieval.passage import Found, Passage, Query, Retrieve, Status


def madrid_today() -> date:
    """Give the day it is where the procedures hold."""
    return datetime.now(ZoneInfo("Europe/Madrid")).date()


def located(retrieve: Retrieve, places: Places) -> Retrieve:
    """When the question names a place, look only for what holds there: in it, its province, its comunidad or the state."""

    def locating(query: Query) -> Found:
        place = places.territory_of(query.text)
        return retrieve(replace(query, territories=tuple(places.around(place.code))) if place else query)

    return locating


def current(retrieve: Retrieve, today: Callable[[], date]) -> Retrieve:
    """Leave out what is not true yet or not any more: a corpus is filled once, and figures change at midnight."""

    def checking(query: Query) -> Found:
        found = retrieve(query)
        day = today()
        hits = tuple(hit for hit in found.hits if holds_on(hit.passage, day))
        if found.status is Status.FOUND and not hits:
            return replace(found, status=Status.NOT_FOUND, hits=())
        return replace(found, hits=hits)

    return checking


def holds_on(passage: Passage, day: date) -> bool:
    """Whether a passage is true on a day, by the first and last day in its metadata."""
    starts, ends = passage.metadata.get("valid_from"), passage.metadata.get("valid_until")
    return (starts is None or starts <= day.isoformat()) and (ends is None or day.isoformat() <= ends)
