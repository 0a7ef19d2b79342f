"""Asking back, and offering what may be meant: when the answer turns on what the person has not said. Pure.

A question too many costs a person a message and some trust. So what is likely is answered, and what else may be meant stands
below it with a number; only where nothing is likely enough the likeliest are offered instead. What is
refused is told so, with what is nearest.
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

# A procedure that has this share of what is held is answered; below it the likeliest are offered. Of 632 development messages
# about something held, with .5, .4 and .3 the right procedure is first for 544, 551 and 556, another for 26, 26 and 29.
LIKELY: Final = 0.4
# From this share on nothing else is offered beside an answer.
SURE: Final = 0.9
# A procedure with a smaller share than this is not offered.
LEAST: Final = 0.05
MOST_OPTIONS: Final = 3
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
    purposes: Mapping[str, Mapping[str, str]]
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
        if not options and self._doubted(asked, found):
            options = nearest_procedures(found)
        if len(options) > 1:
            text = self.texts.say(language, "which_procedure", options=self.listed(options, language))
            return _reply(text, "procedure", found, language, tuple(options))
        if found.status is Status.FOUND and self.places.territory_of(asked) is None and turns_on_place(found.hits, found.ended):
            return _reply(self.texts.say(language, "which_place"), "place", found, language, ())
        return None

    def also(self, found: Found, asked: str, language: str, left: Sequence[str] = ()) -> tuple[str, tuple[str, ...]]:
        """Give what to say below an answer that may be about something else, and what its numbers choose; nothing if sure.

        `left` are procedures that were chosen beside the one answered, and that had no room.
        """
        if left:
            return self.texts.say(language, "also_chosen", options=self.listed(left, language)), tuple(left)
        first, *others = nearest_procedures(found) or [""]
        if not others or self.named.find(asked) or _share(found, first) >= SURE:
            return "", ()
        told = others[: MOST_OPTIONS - 1]
        return self.texts.say(language, "also_meant", options=self.listed(told, language)), tuple(told)

    def nearest(self, found: Found, language: str) -> tuple[str, tuple[str, ...]]:
        """Give what to say below a refusal: what is held that is nearest; nothing where nothing is near."""
        options = nearest_procedures(found)[: MOST_OPTIONS - 1]
        if not options:
            return "", ()
        return self.texts.say(language, "nearest", options=self.listed(options, language)), tuple(options)

    def listed(self, options: Sequence[str], language: str) -> str:
        """List procedures by numbers, each with its name and what it is for."""
        said = ((self.names[name][language], self.purposes.get(name, {}).get(language)) for name in options)
        lines = (f"*{name}*: {purpose}" if purpose else f"*{name}*" for name, purpose in said)
        return "\n".join(f"{number}. {line}" for number, line in enumerate(lines, 1))

    def _doubted(self, asked: str, found: Found) -> bool:
        """Whether several procedures fit and none is likely."""
        first = next(iter(found.likely), "")
        unsure = found.status is Status.FOUND and bool(first) and _share(found, first) < LIKELY
        return unsure and not self.named.find(asked)


def _reply(text: str, about: str, found: Found, language: str, options: tuple[str, ...]) -> Reply:
    trace = {**found.trace, "asked_back": about}
    return Reply(text, ReplyStatus.CLARIFIED, language, found.tier, (), found.timings_ms, trace, options=options)


def nearest_procedures(found: Found) -> list[str]:
    """Give the procedures that a question may be about, the likeliest first."""
    return [name for name in found.likely if _share(found, name) >= LEAST][:MOST_OPTIONS]


def _share(found: Found, name: str) -> float:
    """Give how probable a procedure is, if the question is about one at all."""
    return found.likely.get(name, 0.0) / (sum(found.likely.values()) or 1.0)


def turns_on_place(hits: Sequence[Hit], ended: Sequence[Hit] = ()) -> bool:
    """Whether the best fact holds in one place only, and facts on the same matter hold in others.

    Where what has ended is better, the person is to learn that first.
    """
    over = bool(hits and ended) and ended[0].score > hits[0].score
    if not hits or over or hits[0].passage.territory == STATE:
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
