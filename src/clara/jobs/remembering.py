"""Speaking as of a day or a moment of the past: from the evidence that was served then, with what was valid then."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import date, datetime, time, timedelta
from typing import Final
from zoneinfo import ZoneInfo

from clara.bootstrap import Knowledge, Services, Version
from clara.jobs.copying import copied
from clara.knowledge.passages import CORPUS, passages_of
from clara.knowledge.placing import holds_on, madrid_today
from clara.knowledge.procedure import Fact
from clara.retrieval.passage import Passage

MADRID: Final = ZoneInfo("Europe/Madrid")


class NothingRecordedError(Exception):
    """No version of any evidence is recorded, so nothing is known of the past. Run `clara ingest`: from then on it is."""

    def __init__(self) -> None:
        super().__init__(self.__doc__)


@dataclass(frozen=True, slots=True)
class Past:
    """A moment, and the day it was where the procedures hold."""

    moment: datetime
    day: date


def end_of(day: date) -> Past:
    """Give the last moment of a day."""
    after = datetime.combine(day + timedelta(days=1), time(), MADRID)
    return Past(after - timedelta(microseconds=1), day)


def moment_of(moment: datetime) -> Past:
    """Give a moment with its day."""
    return Past(moment, moment.astimezone(MADRID).date())


def recorded_since(services: Services) -> datetime:
    """Give from when on versions of the evidence are recorded. Raises NothingRecordedError, StoreUnavailableError."""
    since = services.evidence().since(CORPUS)
    if since is None:
        raise NothingRecordedError
    return since


@contextmanager
def speaking_as_of(services: Services, past: Past) -> Iterator[Services]:
    """Give services that speak as of then; what they search is dropped at the end.

    Whatever understands questions and judges what is found is today's: only the evidence is that of the time. Raises
    StoreUnavailableError, EmbedderUnavailableError.
    """
    knowledge = known_then(services, past)
    with copied(services, knowledge.passages) as name:
        yield services.speaking(Version(knowledge, {CORPUS: name}, today=lambda: past.day))


def known_then(services: Services, past: Past) -> Knowledge:
    """Give the knowledge with the evidence that was served at a moment.

    What was not known yet counts as it was known first, if it held on that day; what had ended before anything was recorded,
    as data/ has it.
    """
    evidence, released = services.evidence(), services.released.get()
    held = [
        known.passage for known in evidence.as_of(CORPUS, past.moment) if not known.later or holds_on(known.passage, past.day)
    ]
    ended = _ended_since(released, past.day, evidence.recorded(CORPUS))
    order = {fact.id: place for place, fact in enumerate(_facts(released))}
    passages = sorted([*held, *ended], key=lambda passage: (order.get(passage.id, len(order)), passage.id))
    return replace(released, passages=tuple(passages), released=released.base)


def _ended_since(knowledge: Knowledge, day: date, recorded: frozenset[str]) -> list[Passage]:
    today = madrid_today()
    ended = {fact.id for fact in _facts(knowledge) if fact.expired(today)} - recorded
    return [
        passage
        for procedure in knowledge.catalogue.procedures.values()
        for passage in passages_of(procedure, day)
        if passage.id in ended and holds_on(passage, day)
    ]


def _facts(knowledge: Knowledge) -> Sequence[Fact]:
    return [fact for procedure in knowledge.catalogue.procedures.values() for fact in procedure.facts]
