"""What was known at a moment of the past, from the evidence served then, and a corpus in which it can be searched."""

import secrets
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import date, datetime, time, timedelta
from typing import Final
from zoneinfo import ZoneInfo

from clara.editorial.ports import EvidenceRecord, Publications
from clara.errors import NotFound
from clara.ingestion.corpora import copying
from clara.ingestion.journey import ingest
from clara.ingestion.ports import FillableCorpora
from clara.knowledge.knowledge_base import Knowledge
from clara.knowledge.passages import CORPUS, passages_of
from clara.knowledge.procedure import madrid_today
from clara.retrieval.passage import Passage
from clara.retrieval.served_corpora import COPY

# Bytes of chance in the name of a copy: two questions at once are as good as never given the same.
CHANCE: Final = 6
MADRID: Final = ZoneInfo("Europe/Madrid")


class NothingRecordedError(NotFound):
    """No version of any evidence is recorded, so nothing is known of the past. Run `clara ingest`: from then on it is."""


@dataclass(frozen=True, slots=True)
class PastMoment:
    """A moment, and the day it was where the procedures hold."""

    moment: datetime
    day: date


def end_of(day: date) -> PastMoment:
    """Give the last moment of a day."""
    after = datetime.combine(day + timedelta(days=1), time(), MADRID)
    return PastMoment(after - timedelta(microseconds=1), day)


def moment_of(moment: datetime) -> PastMoment:
    """Give a moment with its day."""
    return PastMoment(moment, moment.astimezone(MADRID).date())


def recorded_since(evidence: EvidenceRecord) -> datetime:
    """Give from when on versions of the evidence are recorded. Raises NothingRecordedError, CorpusUnavailableError."""
    since = evidence.since(CORPUS)
    if since is None:
        raise NothingRecordedError
    return since


@contextmanager
def copied(publications: Publications, corpora: FillableCorpora, wanted: Sequence[Passage]) -> Iterator[str]:
    """Give the name of a corpus that holds these passages of Clara's, and drop it at the end.

    A copy whose process died is dropped by whoever makes the next one. Raises CorpusUnavailableError, EmbedderUnavailableError.
    """
    name = f"{CORPUS}{COPY}{secrets.token_hex(CHANCE)}"
    for left in publications.abandoned(CORPUS):
        corpora.passages().drop(left)
    physical = publications.served(CORPUS).physical
    embedder = corpora.filling(physical)
    with publications.using(name):
        try:
            ingest(name, wanted, corpora.passages(embedder=embedder), copying(corpora, physical, wanted, embedder))
            yield name
        finally:
            corpora.passages().drop(name)


def known_then(evidence: EvidenceRecord, released: Knowledge, past: PastMoment) -> Knowledge:
    """Give the knowledge with the evidence that was served at a moment.

    What was not known yet counts as it was known first, if it held on that day; what had ended before anything was recorded,
    as data/ has it.
    """
    held = [known.passage for known in evidence.as_of(CORPUS, past.moment) if not known.later or known.passage.holds(past.day)]
    facts = [fact for procedure in released.catalogue.procedures.values() for fact in procedure.facts]
    today = madrid_today()
    lapsed = {fact.id for fact in facts if fact.validity.ended(today)} - evidence.recorded(CORPUS)
    ended = [
        passage
        for procedure in released.catalogue.procedures.values()
        for passage in passages_of(procedure, past.day)
        if passage.id in lapsed and passage.holds(past.day)
    ]
    order = {fact.id: place for place, fact in enumerate(facts)}
    passages = sorted([*held, *ended], key=lambda passage: (order.get(passage.id, len(order)), passage.id))
    return replace(released, passages=tuple(passages), released=released.base)
