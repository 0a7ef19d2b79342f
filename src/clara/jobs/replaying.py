"""A turn of the past on the evidence of its time: what it cited, as it was served then, and what it would be answered again."""

from collections.abc import Mapping
from typing import Any

from clara.adapters.postgres.evidence import Shown
from clara.bootstrap import Services
from clara.conversation.journey import converse
from clara.conversation.message import Message
from clara.conversation.writing.framing import citation_of
from clara.delivery.message import StoredTurn
from clara.jobs.remembering import moment_of, speaking_as_of
from clara.knowledge.passages import CORPUS


def cited_then(services: Services, stored: StoredTurn) -> list[dict[str, Any]]:
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


def answered_again(services: Services, stored: StoredTurn) -> dict[str, Any]:
    """Answer the message of a turn on the evidence of its time, as a first message; say whether it cites the same facts."""
    if stored.text is None or stored.begun_at is None:
        return {"answered": False, "why": "the text of the message is not kept any more"}
    with speaking_as_of(services, moment_of(stored.begun_at)) as then:
        reply = converse(Message(stored.text), then.tools.get(), previous_language=stored.language or None)
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
