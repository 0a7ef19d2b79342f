"""Why a question is answered as it is, or not: the trace of the search, in words or as JSON."""

import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from datetime import date
from typing import Any, Protocol

from clara.answering.dialogue.clarification import nearest_procedures
from clara.answering.journey import EVIDENCE, Tools, converse, read
from clara.answering.message import Message, Turn
from clara.answering.writing.frame import citation_of
from clara.data_files import day
from clara.delivery.message import StoredTurn
from clara.editorial.as_of import PastMoment, moment_of
from clara.editorial.ports import EvidenceRecord
from clara.editorial.records import ShownPassage
from clara.errors import NotFound
from clara.knowledge.passages import CORPUS
from clara.page_templates import read_macros
from clara.plain_text import table
from clara.retrieval.passage import Found, Query
from clara.retrieval.search import CorpusSearch, SearchChoice
from clara.retrieval.turn_vectors import TurnVectors

# A vector in a plan is 5,000 characters of numbers that tell nobody anything.
VECTOR = re.compile(r"'\[[^\]]*\]'")
# PostgreSQL's bigint, and so the last number that a turn can have.
LARGEST_TURN = 2**63 - 1
# The columns of a table of hits, and what stands under each.
COLUMNS = {
    "passage": "id",
    "score": "score",
    "dense": "dense_rank",
    "cosine": "cosine",
    "lexical": "lexical_rank",
    **{name: name for name in ("bm25", "linked", "coverage")},
}
# As many kinds of danger as a person looks at.
MOST_KINDS = 3


class UnknownTurnError(NotFound):
    """There is no turn with this number, or it was erased. The message says where the numbers are."""


class Turns(Protocol):
    """Keeps the turns of messages."""

    def turn(self, inbox_id: int) -> StoredTurn | None:
        """Give a turn by its number."""


@dataclass(frozen=True, slots=True)
class Explainer:
    """Explains. `plan` gives the database's plan of a search, `as_of` the tools that speak of what was known at a moment."""

    search: CorpusSearch
    tools: Callable[[], Tools]
    plan: Callable[[Query], Sequence[str]]
    turns: Callable[[], Turns]
    evidence: Callable[[], EvidenceRecord]
    as_of: Callable[[PastMoment], AbstractContextManager[Tools]]

    def explain(self, question: str, corpus: str, *, plan: bool, today: date | None = None) -> dict[str, Any]:
        """Search and tell everything that led to the result, as it would be if it were `today`."""
        asking = SearchChoice(EVIDENCE, corpus, today=today)
        if corpus != CORPUS:
            told = told_of(self.search.find(question, asking))
        else:
            reading = read_of(question, self.tools())
            danger = self._danger(question)
            question, asking = reading.pop("asked"), replace(asking, focus=tuple(reading["focus"]))
            found = self.search.find(question, asking)
            told = told_of(found)
            told["read"] = {**reading, "likely": dict(found.likely), "offers": nearest_procedures(found)}
            told["danger"] = danger
        if plan:
            query = _as_searched(self.search.query(question, asking), told["trace"])
            told["plan"] = [VECTOR.sub("'[…]'", line) for line in self.plan(query)]
        return told

    def _danger(self, question: str) -> dict[str, Any]:
        """Give the level of danger that is heard in a question, and how probable each kind is."""
        guard = self.tools().guard
        vector = guard.vector(question, TurnVectors())
        shares = guard.danger.model.shares(question, vector)
        likeliest = sorted(shares, key=lambda kind: -shares[kind])[:MOST_KINDS]
        level = guard.danger.hear(question, vector).level.name.lower()
        return {"level": level, "shares": {kind: round(shares[kind], 3) for kind in likeliest}}

    def replay(self, turn: int, *, again: bool = False) -> dict[str, Any]:
        """Show the stored trace of a turn and what it cited, as it was served then, beside what the same message finds now.

        With `again`, the message is answered once more from the evidence of its time. Raises UnknownTurnError.
        """
        stored = self.turns().turn(turn) if turn <= LARGEST_TURN else None
        if stored is None:
            raise UnknownTurnError(f"there is no turn {turn}; the table turns has their numbers (inbox_id)")
        told: dict[str, Any] = {"turn": turn, "then": {"status": stored.status, "tier": stored.tier, "trace": stored.trace}}
        told["citations"] = self._cited_then(stored)
        if again:
            told["again"] = self._answered_again(stored)
        question = read(Turn(Message(stored.text)), self.tools()).question
        if any(character.isalnum() for character in question):
            now = self.explain(question, CORPUS, plan=False)
            told["now"] = {name: value for name, value in now.items() if name != "read"}  # it repeats words of the message
        return told

    def _cited_then(self, stored: StoredTurn) -> list[dict[str, Any]]:
        """Give each citation with the fact and the source as they were served then, and whether the fact has changed since."""
        if stored.begun_at is None or not stored.citations:
            return []
        names = [citation["passage_id"] for citation in stored.citations]
        shown = self.evidence().shown(CORPUS, names, stored.begun_at)
        return [_told(citation, shown[citation["passage_id"]]) for citation in stored.citations]

    def _answered_again(self, stored: StoredTurn) -> dict[str, Any]:
        """Answer the message of a turn on the evidence of its time, as a first message; say whether it cites the same facts."""
        if stored.text is None or stored.begun_at is None:
            return {"answered": False, "why": "the text of the message is not kept any more"}
        with self.as_of(moment_of(stored.begun_at)) as tools:
            reply = converse(Message(stored.text), tools, previous_language=stored.language or None)
        cited = [citation.passage_id for citation in reply.citations]
        before = [citation["passage_id"] for citation in stored.citations]
        return {
            "answered": True,
            "status": reply.status.value,
            "text": reply.text,
            "citations": cited,
            "same": (reply.status.value, cited) == (stored.status, before),
        }


def _told(citation: Mapping[str, Any], shown: ShownPassage) -> dict[str, Any]:
    told = {"mark": citation["mark"], "passage_id": citation["passage_id"]}
    if shown.passage is None:
        source = {"url": citation.get("source_url"), "seen_on": citation.get("verified_on")}
        return {**told, "recorded": False, "text": None, "source": source, "changed": None}
    cited = citation_of(1, shown.passage)
    source = {"url": cited.source_url, "seen_on": cited.verified_on}
    return {**told, "recorded": True, "text": shown.passage.text, "source": source, "changed": shown.changed}


def read_of(question: str, tools: Tools) -> dict[str, Any]:
    """Tell how a message is read: the language, the words that were mended, the sentence that asks, the things asked."""
    text = read(Turn(Message(question)), tools).asked
    language = tools.detector.detect(text, None)
    mended = tools.spelling.mended(text, language)
    return {
        "asked": mended.text,
        "language": language,
        "mended": [list(change) for change in mended.changes],
        "focus": list(tools.asking.focus(mended.text, language)),
        "parts": list(tools.asking.parts(mended.text, language)),
    }


def told_of(found: Found) -> dict[str, Any]:
    """Give what a result says about itself, as JSON."""
    return {
        "status": found.status.value,
        "tier": found.tier,
        "confidence": found.confidence,
        "outages": list(found.outages),
        "failures": list(found.failures),
        "relaxed": dict(found.relaxed),
        "timings_ms": {stage: round(spent, 3) for stage, spent in found.timings_ms.items()},
        "trace": dict(found.trace),
    }


def page(told: Mapping[str, Any]) -> str:
    """Write an explanation for a person."""
    pages = read_macros(__package__, "explanation.txt", each=_each, aligned=_aligned)
    return str(pages.turn(told) if "turn" in told else pages.search(told)).removesuffix("\n")


def _each(values: Mapping[str, Any], form: str) -> str:
    return ", ".join(form.format(name, value) for name, value in values.items())


def _aligned(hits: Sequence[Mapping[str, Any]]) -> list[str]:
    return table([list(COLUMNS), *([_cell(hit.get(key)) for key in COLUMNS.values()] for hit in hits)])


def _cell(value: object) -> str:
    if value is None:
        return "-"
    return f"{value:.3f}" if isinstance(value, float) else str(value)


def _as_searched(query: Query, trace: Mapping[str, Any]) -> Query:
    """Give the query with what it was understood to be about and the places it was kept to: these shape the plan."""
    understood, filters = trace.get("understood", {}), trace.get("filters", {})
    sections = {pair.partition("/")[::2]: weight for pair, weight in understood.get("sections", {}).items()}
    territories = tuple(filters.get("territories", ()))
    today = day(trace.get("today"))
    return replace(query, documents=understood.get("documents", {}), sections=sections, territories=territories, today=today)
