"""Wrappers around any retriever: what holds for the person today, what the catalogue says, what is doubted."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from datetime import date, datetime
from zoneinfo import ZoneInfo

from clara.knowledge.passages import FactPassage
from clara.knowledge.places import Places
from clara.retrieval.passage import Found, Hit, Passage, Query, Retrieve, Status

# The day on which each fact was found to be in doubt, by fact id.
Flagged = Callable[[], Mapping[str, str]]


def warned(retrieve: Retrieve, flagged: Flagged) -> Retrieve:
    """Mark what is in doubt among what was found. Nothing is left out for it: a doubtful fact with its source is of use.

    It stands around whatever remembers results, because a flag is younger than they are.
    """

    def marking(query: Query) -> Found:
        found = retrieve(query)
        doubts = flagged()
        if not any(hit.passage.id in doubts for hit in found.known):
            return found
        hits, ended = (
            tuple(replace(hit, passage=marked(hit.passage, doubts)) for hit in part) for part in (found.hits, found.ended)
        )
        return replace(found, hits=hits, ended=ended)

    return marking


def marked(passage: Passage, doubts: Mapping[str, str]) -> Passage:
    """Give a passage with the day since which it is in doubt, the same one when it is not."""
    since = doubts.get(passage.id)
    return replace(passage, flagged=since) if since and isinstance(passage, FactPassage) else passage


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


def vouched(retrieve: Retrieve, passages: Iterable[Passage]) -> Retrieve:
    """Give every hit as the catalogue has it, with its own scores; leave out what the catalogue does not know.

    When it knows none of the evidence nothing was found, or it is an outage where a part could not be asked.
    """
    known = {passage.id: passage for passage in passages}

    def vouching(query: Query) -> Found:
        found = retrieve(query)
        hits, ended = _known(found.hits, known), _known(found.ended, known)
        if found.status is Status.FOUND and not (hits or ended):
            return replace(found, status=Status.OUTAGE if found.outages else Status.NOT_FOUND, hits=(), ended=())
        return replace(found, hits=hits, ended=ended)

    return vouching


def _known(hits: Iterable[Hit], known: dict[str, Passage]) -> tuple[Hit, ...]:
    """Keep of the row which corpus it stands in: the catalogue does not know under which name it is served."""
    told = ((hit, known[hit.passage.id]) for hit in hits if hit.passage.id in known)
    return tuple(replace(hit, passage=replace(passage, corpus=hit.passage.corpus)) for hit, passage in told)
