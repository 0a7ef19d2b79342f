"""What stands around the facts of an answer, whoever writes them: the name, the warnings, the sources with their dates."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, timedelta
from typing import Any, Final, Protocol

from clara.answering.message import Citation
from clara.answering.texts import Texts
from clara.knowledge.next_steps import NextSteps, step_facts
from clara.knowledge.passages import FactPassage, Flagged, fact_of, marked
from clara.knowledge.places import STATE
from clara.knowledge.procedure import FactKind, madrid_today
from clara.retrieval.passage import Hit, Passage

# Unicode's first strong isolate and its end: without them the full stop of "733,60 € al mes." jumps before the amount.
ISOLATE, END_ISOLATE = "\u2068", "\u2069"
# What an authority sets anew, most of it each January: half a year is enough for one change. Laws keep their word longer.
CHANGING: Final = frozenset({FactKind.AMOUNT, FactKind.FEE, FactKind.DATE, FactKind.PHONE, FactKind.URL, FactKind.PERCENTAGE})
OLD_CHANGING: Final = timedelta(days=180)
OLD: Final = timedelta(days=365)
# The section of a procedure's facts that say where to ask.
CONTACTS: Final = "contactos"
# Of several ways to ask, the one that needs least of a person comes first.
REACHED_BY: Final[Mapping[FactKind, int]] = {FactKind.PHONE: 0, FactKind.URL: 1}


@dataclass(frozen=True, slots=True)
class Written:
    """An answer and its evidence. `trace` is JSON: who wrote it, and what was found wrong with it, by kind."""

    text: str
    citations: tuple[Citation, ...]
    trace: Mapping[str, Any] = field(default_factory=dict)


class Writer(Protocol):
    """Writes the answer to a question from what was found."""

    def answer(self, question: str, hits: Sequence[Hit], language: str, room: int) -> Written:
        """Give an answer of `room` characters at most; the shortest one when nothing fits."""


@dataclass(frozen=True, slots=True)
class Shape:
    """What an answer looks like.

    `quotes` says that facts are quoted in Spanish, `cautioned` that those without an official source are introduced as such,
    `brief` that there is no room to say of a day that it is long ago, `terse` that there is hardly any: what is in doubt is
    said in few words, and takes the place of the advice to check.
    """

    quotes: bool = False
    cautioned: bool = False
    brief: bool = False
    terse: bool = False


class Framing:
    """Knows what belongs to a fact: its limits, its warnings, its source.

    `passages` are all that may be said: a fact is never said without the facts that limit it. `flagged` are those in doubt, and
    `steps` the facts that say where to go next, by procedure.
    """

    def __init__(
        self,
        texts: Texts,
        names: Mapping[str, Mapping[str, str]],
        passages: Iterable[Passage] = (),
        today: Callable[[], date] = madrid_today,
        flagged: Flagged = dict,
        steps: Mapping[str, NextSteps] | None = None,
    ) -> None:
        self._steps = steps or {}
        self.texts = texts
        self._names = names
        self._today = today
        self._flagged = flagged
        self._passages = {passage.id: passage for passage in passages}

    def known(self, hits: Iterable[Hit]) -> list[Hit]:
        """Give the hits on facts of the catalogue, as the catalogue has them: whatever a search may have brought instead."""
        doubts = self._flagged()
        known = ((hit, self._passages.get(hit.passage.id)) for hit in hits)
        return [
            Hit(marked(passage, doubts), hit.score, hit.cosine)
            for hit, passage in known
            if passage is not None and self._sayable(passage)
        ]

    def ended(self, passage: Passage) -> bool:
        """Whether a fact may only be said as one that held once."""
        return passage.ended(self._today())

    def contact_of(self, document: str) -> Passage | None:
        """Give the first fact of a procedure that says where to ask, in the whole country."""
        held = [passage for passage in self.contacts_of(document) if passage.territory == STATE]
        ways = {passage.id: REACHED_BY.get(fact_of(passage).kind, len(REACHED_BY)) for passage in held}
        nearest = sorted(held, key=lambda passage: (is_secondary(passage), ways[passage.id]))
        return marked(nearest[0], self._flagged()) if nearest else None

    def contacts_of(self, document: str) -> list[Passage]:
        """Give the facts that say where to go for a procedure today: its next steps, else its section of contacts."""
        steps = (self._passages.get(name) for name in step_facts(self._steps.get(document, {})))
        named = [passage for passage in steps if passage is not None]
        section = (passage for passage in self._passages.values() if passage.section == CONTACTS)
        return [
            passage
            for passage in named or [passage for passage in section if passage.document_id == document]
            if passage.holds(self._today())
        ]

    def _sayable(self, passage: Passage) -> bool:
        return passage.begun(self._today()) and not (self.ended(passage) and fact_of(passage).compares)

    def limits_of(self, passage: Passage) -> list[Passage]:
        """Give the facts that must be said together with this one today, those that have ended too."""
        limits = (self._passages.get(name) for name in fact_of(passage).conditions)
        doubts = self._flagged()
        return [marked(limit, doubts) for limit in limits if limit is not None and self._sayable(limit)]

    def limited(self, chosen: Sequence[Hit]) -> list[Hit]:
        """Put behind each fact the facts that limit it, and behind those what limits them; each is there once."""
        said: dict[str, Hit] = {}
        waiting = list(reversed(chosen))
        while waiting:
            hit = waiting.pop()
            if said.setdefault(hit.passage.id, hit) is hit:
                waiting += [Hit(passage, hit.score) for passage in reversed(self.limits_of(hit.passage))]
        return list(said.values())

    def framed(self, said: str, cited: Sequence[tuple[Citation, Passage]], language: str, shape: Shape) -> str:
        """Put the name of the procedure before what is said, and behind it warnings, sources and the advice to check."""
        document = cited[0][1].document_id
        parts = [
            self.texts.say(language, "answer_intro", procedure=self._names[document][language]),
            said,
            "\n".join(self._warnings(cited, language, shape)),
            "\n".join(self._sources(cited, language, shape)),
            self.texts.say(language, "spanish_quotes") if shape.quotes else "",
            "" if shape.terse else f"_{self.texts.say(language, 'verify')}_",
        ]
        return "\n\n".join(part for part in parts if part)

    def responsible(self, document: str, authority: str, language: str) -> str:
        """Say who is responsible for a procedure."""
        name = self._names[document][language]
        return self.texts.say(language, "human_procedure", procedure=name, authority=self.quoted(authority, language))

    def quoted(self, text: str, language: str) -> str:
        """Keep Spanish lines in order inside a text that runs from right to left."""
        return f"{ISOLATE}{text}{END_ISOLATE}" if self.texts.direction(language) == "rtl" else text

    def _warnings(self, cited: Sequence[tuple[Citation, Passage]], language: str, shape: Shape) -> list[str]:
        """Say once of each doubt which facts it is about."""
        doubts: dict[tuple[str, str], list[str]] = {}
        for citation, passage in cited:
            for doubt, last_day in doubts_of(passage):
                if doubt == "ends" and self.ended(passage):
                    doubts.setdefault(("ended", ""), []).append(f"[{citation.mark}]")
                elif doubt != "secondary" or not shape.cautioned:
                    doubts.setdefault((doubt, last_day), []).append(f"[{citation.mark}]")
        return [
            self.texts.say(
                language,
                f"caution_{doubt}_short" if doubt == "flagged" and shape.terse else f"caution_{doubt}",
                marks=" ".join(marks),
                **({"date": shown_date(last_day, language)} if last_day else {}),
            )
            for (doubt, last_day), marks in doubts.items()
        ]

    def _sources(self, cited: Sequence[tuple[Citation, Passage]], language: str, shape: Shape) -> list[str]:
        """Give each page with its date once, behind the marks of all facts from it: an address is most of a short answer."""
        pages: dict[tuple[str, str], list[tuple[Citation, Passage]]] = {}
        for citation, passage in cited:
            pages.setdefault((citation.source_url, citation.verified_on), []).append((citation, passage))
        lines: list[str] = []
        for (url, seen_on), page in pages.items():
            marks = " ".join(f"[{citation.mark}]" for citation, _ in page)
            day = self.texts.say(language, "checked_on", date=shown_date(seen_on, language))
            line = f"{marks} {self.texts.say(language, 'source')}: {self.quoted(url, language)} ({day})"
            facts = [fact_of(passage) for _, passage in page]
            old = any(is_old(fact.kind, fact.shown_source.seen_on.first, self._today()) for fact in facts)
            lines.append(f"{line} {self.texts.say(language, 'caution_old')}" if old and not shape.brief else line)
        return lines


def doubts_of(passage: Passage) -> list[tuple[str, str]]:
    """Name what a person should know before relying on a fact: "secondary", "flagged", "ends" with its last day."""
    last = fact_of(passage).validity.last
    known = {"secondary": is_secondary(passage), "flagged": is_flagged(passage)}
    ends = [("ends", last.isoformat())] if last else []
    return [*((doubt, "") for doubt, held in known.items() if held), *ends]


def is_flagged(passage: Passage) -> bool:
    """Whether a fact is in doubt, because what it rests on has changed, or may have."""
    return isinstance(passage, FactPassage) and bool(passage.flagged)


def is_secondary(passage: Passage) -> bool:
    """Whether the source that is shown for a fact is of no public body: how many there are makes none of them official."""
    return not fact_of(passage).shown_source.official


def is_old(kind: FactKind, checked: date, today: date) -> bool:
    """Whether a fact was checked too long ago for its kind."""
    return today - checked > (OLD_CHANGING if kind in CHANGING else OLD)


def citation_of(number: int, passage: Passage) -> Citation:
    """Cite a fact by its first official source, or its first one where none is."""
    source = fact_of(passage).shown_source
    return Citation(f"C{number}", passage.id, passage.document_id, passage.section, source.url, str(source.seen_on))


def shown_date(iso: str, language: str) -> str:
    """Write a day or a month as people read it: 07/08/2026, 07/2026; Chinese puts the year first."""
    parts = iso.split("-")
    return "-".join(parts) if language == "zh" else "/".join(reversed(parts))
