"""One message, from what a person wrote to the reply: the steps, in order.

Each step either adds to the turn or ends the journey with a reply. No step calls the next.
"""

import unicodedata
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from time import perf_counter
from typing import Any, Final

from clara.conversation.commands import Commands
from clara.conversation.language import LanguageDetector
from clara.conversation.message import Message, Reply, ReplyStatus, Turn
from clara.conversation.texts import Texts
from clara.conversation.writing import ExtractiveWriter, choose
from clara.knowledge.places import STATE, Places
from clara.retrieval.passage import Found, Hit, Query, Retrieve, Status

# WhatsApp takes 1,600 characters a message through Twilio; what is left is for the notice of the first contact.
MAX_REPLY: Final = 1_600
# Of a longer message only the beginning is read: it holds the question, and reading is paid by everybody who waits.
MAX_QUESTION: Final = 2_000
# Passages looked at for one reply: the writer shows four, of one procedure.
EVIDENCE: Final = 12


class JourneyUnfinishedError(Exception):
    """The steps ended without a reply: the last step must always give one."""


@dataclass(frozen=True, slots=True)
class Tools:
    """What the steps work with."""

    corpus: str
    retrieve: Retrieve
    texts: Texts
    detector: LanguageDetector
    commands: Commands
    writer: ExtractiveWriter
    names: Mapping[str, Mapping[str, str]]
    places: Places
    human_contact: str | None = None

    def human(self, language: str) -> str:
        """Say how to reach a person."""
        if self.human_contact:
            return self.texts.say(language, "human_contact", contact=self.human_contact)
        return self.texts.say(language, "human_default")

    def say(self, language: str, name: str) -> str:
        """Say a fixed text with whatever it asks for."""
        listed = "\n".join(f"• {names[language]}" for names in self.names.values())
        return self.texts.say(language, name, human=self.human(language), procedures=listed).strip()


Step = Callable[[Turn, Tools], Turn | Reply]


def read(turn: Turn, _tools: Tools) -> Turn:
    """Take the question out of the message: cleaned, and cut where it is too long."""
    text = (turn.message.text or "").replace("\x00", " ").encode("utf-8", "replace").decode("utf-8")
    read_part = " ".join(unicodedata.normalize("NFKC", text[: 4 * MAX_QUESTION]).split())
    shortened = len(read_part) > MAX_QUESTION or len(text) > 4 * MAX_QUESTION
    return replace(turn, question=read_part[:MAX_QUESTION], shortened=shortened)


def detect_language(turn: Turn, tools: Tools) -> Turn:
    """Find the language the person writes, or keep that of the conversation."""
    return replace(turn, language=tools.detector.detect(turn.question, turn.previous_language))


def refuse_unreadable(turn: Turn, tools: Tools) -> Turn | Reply:
    """Answer kindly what cannot be read: voice notes, pictures, messages without words."""
    if any(character.isalnum() for character in turn.question):
        return turn
    kinds = {media.split("/")[0] for media in turn.message.media_types}
    if "audio" in kinds or (turn.message.text is None and not kinds):
        name = "voice_note"
    else:
        name = "media" if kinds or not turn.question else "no_words"
    return Reply(tools.say(turn.language, name), ReplyStatus.UNREADABLE, turn.language)


def obey_command(turn: Turn, tools: Tools) -> Turn | Reply:
    """Answer greetings, thanks, help, the menu and the wish to talk to a person."""
    recognised = tools.commands.recognise(turn.question, turn.language)
    if recognised is None:
        return turn
    command, language = recognised
    if turn.first_contact and command == "greeting":
        command = "menu"  # the notice of the first contact is the greeting
    return Reply(tools.say(language, command), ReplyStatus.COMMAND, language)


def find(turn: Turn, tools: Tools) -> Turn:
    """Look for evidence."""
    return replace(turn, found=tools.retrieve(Query(turn.question, tools.corpus, turn.language, EVIDENCE)))


def write(turn: Turn, tools: Tools) -> Reply:
    """Write the reply from the evidence, or say that there is none, or that it could not be looked for."""
    found, language = turn.found, turn.language
    if found is None:
        raise JourneyUnfinishedError
    if found.status is not Status.FOUND:
        outage = found.status is Status.OUTAGE
        status = ReplyStatus.OUTAGE if outage else ReplyStatus.NOT_FOUND
        return Reply(tools.say(language, status.value), status, language, found.tier, (), found.timings_ms, _trace(found))
    limit = MAX_REPLY - len(_notice(turn, tools, language))
    notes = _notes(turn, found, tools)
    text, citations = tools.writer.write(found.hits, language, limit - sum(len(note) + 2 for note in notes))
    while notes and sum(len(note) + 2 for note in notes) + len(text) > limit:
        notes.pop()  # a fact that barely fits with what limits it is worth more than a note
    said = "\n\n".join([*notes, text])
    return Reply(said, ReplyStatus.ANSWERED, language, found.tier, citations, found.timings_ms, _trace(found))


def _trace(found: Found) -> dict[str, Any]:
    """Give what is kept of a search: why it found or refused, and which parts were missing."""
    return {**found.trace, "outages": list(found.outages), "failures": list(found.failures), "relaxed": dict(found.relaxed)}


def _notes(turn: Turn, found: Found, tools: Tools) -> list[str]:
    """Say what an answer begins with, the least important last."""
    remarks = {"shortened": turn.shortened, "degraded": bool(found.outages)}
    said = [tools.texts.say(turn.language, name) for name, needed in remarks.items() if needed]
    return [*_level(turn.question, found.hits, tools, turn.language), *said]


def _level(question: str, hits: Sequence[Hit], tools: Tools, language: str) -> list[str]:
    """Say aloud for which territory the answer holds, when the person named a place."""
    place = tools.places.territory_of(question)
    if place is None:
        return []
    held = {hit.passage.territory for hit in choose(hits)} - {STATE}
    level = next((code for code in tools.places.around(place.code) if code in held), None)
    if level is None:
        return [tools.texts.say(language, "level_state", place=place.name)]
    return [tools.texts.say(language, "level_territory", place=tools.places.by_code[level].name)]


STEPS: Final[tuple[Step, ...]] = (read, detect_language, refuse_unreadable, obey_command, find, write)


def follow(turn: Turn, tools: Tools, steps: Iterable[Step] = STEPS) -> Reply:
    """Run the steps in order; the first reply ends the journey. Adds the notice of the first contact and the timings."""
    timings: dict[str, float] = {}
    for step in steps:
        started = perf_counter()
        outcome = step(turn, tools)
        timings[step.__name__] = (perf_counter() - started) * 1000
        if isinstance(outcome, Reply):
            text = _noticed(turn, tools, outcome)
            return replace(outcome, text=text, timings_ms={**outcome.timings_ms, **timings, "total": sum(timings.values())})
        turn = outcome
    raise JourneyUnfinishedError


def converse(message: Message, tools: Tools, *, first_contact: bool = False, previous_language: str | None = None) -> Reply:
    """Answer one message."""
    return follow(Turn(message, previous_language, first_contact), tools)


def _noticed(turn: Turn, tools: Tools, reply: Reply) -> str:
    """Put the notice of the first contact before a reply; without how to reach a person where there is no room for both."""
    text = _notice(turn, tools, reply.language) + reply.text
    if turn.first_contact and len(text) > MAX_REPLY:
        text = f"{tools.texts.say(reply.language, 'first_contact', human='').strip()}\n\n{reply.text}"
    return text


def _notice(turn: Turn, tools: Tools, language: str) -> str:
    return f"{tools.say(language, 'first_contact')}\n\n" if turn.first_contact else ""
