"""Asking back, once and shortly: when the answer really turns on what the person has not said. Pure.

A question too many costs a person a message and some trust, so Clara asks only when a message is a bare noun that several
procedures share, when two procedures fit about equally and none is named, or when only facts of some places would answer.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from clara.answering.message import Reply, ReplyStatus, Turn
from clara.answering.texts import Texts
from clara.data_files import DataError, Fault
from clara.knowledge.keyword_tier import NamedProcedures
from clara.knowledge.places import STATE, Places
from clara.language.packs import pack_file, read_with_packs
from clara.language.phrases import Phrase
from clara.language.tokens import words
from clara.retrieval.passage import Found, Hit, Status

# The second procedure's best score as a share of the first's. On the 277 development questions with an answer this asked
# 6 times, never when a procedure was named; with .5 nearly three times as often.
NEAR: Final = 0.7
# A third one is offered when it is not much farther.
ALSO: Final = 0.6
MOST_OPTIONS: Final = 4
# Facts about one matter that hold in two places or more, this near to the best one: the answer differs by place.
SAME_MATTER: Final = 0.6


@dataclass(frozen=True, slots=True)
class Ambiguous:
    """Bare nouns with the procedures they may mean, and the words that may stand around them."""

    nouns: Mapping[str, Mapping[Phrase, tuple[str, ...]]]
    around: Mapping[str, frozenset[str]]

    def options(self, text: str, language: str) -> tuple[str, ...]:
        """Give the procedures that a message may mean which says nothing but an ambiguous noun; none for any other."""
        said, around = words(text), self.around[language]
        bare = tuple(word for word in said if word not in around)
        nouns = self.nouns[language]
        return nouns.get(tuple(said)) or nouns.get(bare, ())


@dataclass(frozen=True, slots=True)
class Clarifying:
    """Decides whether to ask back, and words it."""

    ambiguous: Ambiguous
    texts: Texts
    names: Mapping[str, Mapping[str, str]]
    places: Places
    named: NamedProcedures

    def answer(self, turn: Turn) -> Turn | Reply:
        """Ask back where it helps; never twice in a row: the second time the best guess is worth more."""
        if turn.found is None or (turn.past and turn.past[0].status is ReplyStatus.CLARIFIED):
            return turn
        return self.ask(turn.asked, turn.found, turn.language) or turn

    def ask(self, asked: str, found: Found, language: str) -> Reply | None:
        """Give the question to ask instead of an answer, None when the answer does not turn on it.

        `options` of the reply are the procedures that a number in the next message chooses; a question for the place has none.
        """
        if found.status is Status.OUTAGE:
            return None
        options = [name for name in self.ambiguous.options(asked, language) if name in self.names]
        if not options and found.status is Status.FOUND and not self.named.find(asked):
            options = near_procedures(found.hits)
        if len(options) > 1:
            listed = "\n".join(f"{number}. {self.names[name][language]}" for number, name in enumerate(options, 1))
            text = self.texts.say(language, "which_procedure", options=listed)
            return _reply(text, "procedure", found, language, tuple(options))
        if found.status is Status.FOUND and self.places.territory_of(asked) is None and turns_on_place(found.hits):
            return _reply(self.texts.say(language, "which_place"), "place", found, language, ())
        return None


def _reply(text: str, about: str, found: Found, language: str, options: tuple[str, ...]) -> Reply:
    trace = {**found.trace, "asked_back": about}
    return Reply(text, ReplyStatus.CLARIFIED, language, found.tier, (), found.timings_ms, trace, options=options)


def near_procedures(hits: Sequence[Hit]) -> list[str]:
    """Give the procedures that fit about equally, best first; none when one is clearly first."""
    best: dict[str, float] = {}
    for hit in hits:
        document = hit.passage.document_id
        best[document] = max(best.get(document, hit.score), hit.score)
    ranked = sorted(best.items(), key=lambda entry: -entry[1])
    if len(ranked) < 2 or ranked[1][1] < NEAR * ranked[0][1]:  # noqa: PLR2004  the first and the second
        return []
    return [name for name, score in ranked if score >= ALSO * ranked[0][1]][:MOST_OPTIONS]


def turns_on_place(hits: Sequence[Hit]) -> bool:
    """Whether the best fact holds in one place only, and facts on the same matter hold in others."""
    if not hits or hits[0].passage.territory == STATE:
        return False
    first = hits[0].passage
    territories = {
        hit.passage.territory
        for hit in hits
        if (hit.passage.document_id, hit.passage.section) == (first.document_id, first.section)
        and hit.score >= SAME_MATTER * hits[0].score
    }
    return STATE not in territories and len(territories) > 1


def read_ambiguous(folder: Path) -> Ambiguous:
    """Read `folder`/ambiguous.json and how every language says its nouns. Raises DataError naming every fault."""
    document, packs = read_with_packs(folder, "ambiguous.json", "options", "ambiguous")
    options: Mapping[str, Sequence[str]] = document["options"]
    faults = [
        Fault(pack_file(language, "ambiguous"), "$.nouns", f"must have the nouns of ambiguous.json: {', '.join(options)}")
        for language, pack in packs.items()
        if pack["nouns"].keys() != options.keys()
    ]
    if faults:
        raise DataError(faults)
    return Ambiguous(
        {language: _nouns(pack["nouns"], options) for language, pack in packs.items()},
        {language: frozenset(word for phrase in pack["around"] for word in words(phrase)) for language, pack in packs.items()},
    )


def _nouns(said: Mapping[str, Sequence[str]], options: Mapping[str, Sequence[str]]) -> dict[Phrase, tuple[str, ...]]:
    return {tuple(words(phrase)): tuple(meant) for noun, meant in options.items() for phrase in said[noun]}
