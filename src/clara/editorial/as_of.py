"""Speaking as of a moment of the past, from the evidence served then; and a turn of the past once more."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import date, datetime, time, timedelta
from typing import Any, Final
from zoneinfo import ZoneInfo

from clara.adapters.postgres.editorial.evidence import Shown
from clara.answering.journey import converse
from clara.answering.message import Message
from clara.answering.snapshot import KnowledgeSnapshot
from clara.answering.writing.frame import citation_of
from clara.container import Container
from clara.delivery.message import StoredTurn
from clara.errors import NotFound
from clara.jobs.corpus_copy import copied
from clara.knowledge.knowledge_base import Knowledge, KnowledgeVersion
from clara.knowledge.passages import CORPUS, passages_of
from clara.knowledge.procedure import Fact
from clara.knowledge.retriever_wrappers import madrid_today
from clara.retrieval.passage import Passage

MADRID: Final = ZoneInfo("Europe/Madrid")


class NothingRecordedError(NotFound):
    """No version of any evidence is recorded, so nothing is known of the past. Run `clara ingest`: from then on it is."""


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


def recorded_since(services: Container) -> datetime:
    """Give from when on versions of the evidence are recorded. Raises NothingRecordedError, StoreUnavailableError."""
    since = services.evidence().since(CORPUS)
    if since is None:
        raise NothingRecordedError
    return since


@contextmanager
def speaking_as_of(services: Container, past: Past) -> Iterator[KnowledgeSnapshot]:
    """Give the snapshot of then; what they search is dropped at the end.

    Whatever understands questions and judges what is found is today's: only the evidence is that of the time. Raises
    StoreUnavailableError, EmbedderUnavailableError.
    """
    knowledge = known_then(services, past)
    with copied(services, knowledge.passages) as name:
        yield services.snapshot_of(KnowledgeVersion(knowledge, {CORPUS: name}, today=lambda: past.day))


def known_then(services: Container, past: Past) -> Knowledge:
    """Give the knowledge with the evidence that was served at a moment.

    What was not known yet counts as it was known first, if it held on that day; what had ended before anything was recorded,
    as data/ has it.
    """
    evidence, released = services.evidence(), services.released
    held = [known.passage for known in evidence.as_of(CORPUS, past.moment) if not known.later or known.passage.holds(past.day)]
    ended = _ended_since(released, past.day, evidence.recorded(CORPUS))
    order = {fact.id: place for place, fact in enumerate(_facts(released))}
    passages = sorted([*held, *ended], key=lambda passage: (order.get(passage.id, len(order)), passage.id))
    return replace(released, passages=tuple(passages), released=released.base)


def _ended_since(knowledge: Knowledge, day: date, recorded: frozenset[str]) -> list[Passage]:
    today = madrid_today()
    ended = {fact.id for fact in _facts(knowledge) if fact.validity.ended(today)} - recorded
    return [
        passage
        for procedure in knowledge.catalogue.procedures.values()
        for passage in passages_of(procedure, day)
        if passage.id in ended and passage.holds(day)
    ]


def _facts(knowledge: Knowledge) -> Sequence[Fact]:
    return [fact for procedure in knowledge.catalogue.procedures.values() for fact in procedure.facts]


def cited_then(services: Container, stored: StoredTurn) -> list[dict[str, Any]]:
    """Give each citation with the fact and the source as they were served then, and whether the fact has changed since."""
    if stored.begun_at is None or not stored.citations:
        return []
    names = [citation["passage_id"] for citation in stored.citations]
    shown = services.evidence().shown(CORPUS, names, stored.begun_at)
    return [_told(citation, shown[citation["passage_id"]]) for citation in stored.citations]


def _told(citation: Mapping[str, Any], shown: Shown) -> dict[str, Any]:
    told = {"mark": citation["mark"], "passage_id": citation["passage_id"]}
    if shown.passage is None:
        source = {"url": citation.get("source_url"), "seen_on": citation.get("verified_on")}
        return {**told, "recorded": False, "text": None, "source": source, "changed": None}
    cited = citation_of(1, shown.passage)
    source = {"url": cited.source_url, "seen_on": cited.verified_on}
    return {**told, "recorded": True, "text": shown.passage.text, "source": source, "changed": shown.changed}


def answered_again(services: Container, stored: StoredTurn) -> dict[str, Any]:
    """Answer the message of a turn on the evidence of its time, as a first message; say whether it cites the same facts."""
    if stored.text is None or stored.begun_at is None:
        return {"answered": False, "why": "the text of the message is not kept any more"}
    with speaking_as_of(services, moment_of(stored.begun_at)) as then:
        reply = converse(Message(stored.text), then.tools, previous_language=stored.language or None)
    cited = [citation.passage_id for citation in reply.citations]
    before = [citation["passage_id"] for citation in stored.citations]
    return {
        "answered": True,
        "status": reply.status.value,
        "text": reply.text,
        "citations": cited,
        "same": (reply.status.value, cited) == (stored.status, before),
    }


def lines_of(told: Mapping[str, Any]) -> list[str]:
    """Write both for a person."""
    lines = [line for citation in told.get("citations", ()) for line in _cited(citation)]
    again = told.get("again")
    if again is None:
        return lines
    if not again["answered"]:
        return [*lines, "", f"not answered again: {again['why']}"]
    verdict = "the same status and citations" if again["same"] else f"other: {again['status']} {' '.join(again['citations'])}"
    return [*lines, "", f"answered again on the evidence of that time: {verdict}", again["text"]]


def _cited(citation: Mapping[str, Any]) -> list[str]:
    source = citation["source"]
    where = f"  {source['url']} ({source['seen_on']})"
    head = f"[{citation['mark']}] {citation['passage_id']}"
    if not citation["recorded"]:
        return [f"{head}: what it said then is not recorded", where]
    since = "it says something else now, or is not told any more" if citation["changed"] else "unchanged since"
    return [f"{head}, {since}: {citation['text']}", where]
