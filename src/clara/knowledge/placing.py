"""Keeping to what holds where the person lives and today: wrappers around any retriever, and what holding means."""

from collections.abc import Callable
from dataclasses import replace
from datetime import date, datetime
from zoneinfo import ZoneInfo

from clara.knowledge.places import Places
from clara.retrieval.passage import Found, Passage, Query, Retrieve


def madrid_today() -> date:
    """Give the day it is where the procedures hold."""
    return datetime.now(ZoneInfo("Europe/Madrid")).date()


def located(retrieve: Retrieve, places: Places) -> Retrieve:
    """When the question names a place, look only for what holds there: in it, its province, its comunidad or the state."""

    def locating(query: Query) -> Found:
        place = places.territory_of(query.text)
        return retrieve(replace(query, territories=tuple(places.around(place.code))) if place else query)

    return locating


def dated(retrieve: Retrieve, today: Callable[[], date]) -> Retrieve:
    """Look only for what is true today; a corpus is filled once, and figures change at midnight.

    It stands around whatever remembers results, which remembers them by all that a query says.
    """
    return lambda query: retrieve(replace(query, today=today()))


def holds_on(passage: Passage, day: date) -> bool:
    """Whether a passage is true on a day, by the first and last day in its metadata."""
    return has_begun(passage, day) and not has_ended(passage, day)


def has_begun(passage: Passage, day: date) -> bool:
    """Whether the first day of a passage has come."""
    starts = passage.metadata.get("valid_from")
    return starts is None or bool(starts <= day.isoformat())


def has_ended(passage: Passage, day: date) -> bool:
    """Whether the last day of a passage has passed."""
    ends = passage.metadata.get("valid_until")
    return ends is not None and bool(ends < day.isoformat())
