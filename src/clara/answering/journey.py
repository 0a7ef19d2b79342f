"""One message, from what a person wrote to the reply: the steps, in order.

Each step either adds to the turn or ends the journey with a reply. No step calls the next.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from time import perf_counter
from typing import Any, Final

from clara.answering.dialogue.clarification import Clarifying, turns_on_place
from clara.answering.dialogue.correction import set_apart
from clara.answering.dialogue.follow_ups import recent
from clara.answering.dialogue.message_parts import Asking
from clara.answering.dialogue.steps import Dialogue
from clara.answering.message import MAX_REPLY, Message, Past, Reply, ReplyStatus, Turn
from clara.answering.privacy.rights import Known, Rights, asks_to_forget
from clara.answering.safety.guard import OPTIONS as SAFETY_OPTIONS
from clara.answering.safety.guard import Guard
from clara.answering.safety.scope import Scope, unmarked
from clara.answering.texts import Texts
from clara.answering.voice_notes import Listener, shown
from clara.answering.writing import several
from clara.answering.writing.extractive import choose as chosen
from clara.answering.writing.frame import Writer
from clara.errors import ClaraError
from clara.knowledge.places import STATE, Places
from clara.language.detection import DEFAULT, LanguageDetector
from clara.language.fold import spaced
from clara.language.identity_data import holds_numbers
from clara.language.spelling import Spelling
from clara.language.tokens import says_something
from clara.retrieval.passage import Found, Hit, Query, Retrieve, Status
from clara.retrieval.turn_vectors import TurnVectors
from clara.retrieval.validation import MAX_CHARACTERS

# Of a longer message only the beginning is read, and the reply says so: it is what a search may be asked.
MAX_QUESTION: Final = MAX_CHARACTERS
# Passages looked at for one reply: the writer shows four, of one procedure.
EVIDENCE: Final = 12


class JourneyUnfinishedError(ClaraError):
    """The steps ended without a reply: the last step must always give one."""


@dataclass(frozen=True, slots=True)
class Tools:
    """What the steps work with. `known` gives what is kept of the person who writes; None where that cannot be read.

    `vectors` gives, for each turn, what embeds for it and for how long: the time begins when the message is read, after a voice
    note was heard. By default it is unlimited.
    """

    corpus: str
    retrieve: Retrieve
    texts: Texts
    detector: LanguageDetector
    guard: Guard
    rights: Rights
    dialogue: Dialogue
    scope: Scope
    clarifying: Clarifying
    spelling: Spelling
    asking: Asking
    writer: Writer
    places: Places
    listener: Listener | None = None
    known: Callable[[], Known] | None = None
    vectors: Callable[[], TurnVectors] = TurnVectors

    def human(self, language: str) -> str:
        """Say how to reach a person."""
        return self.dialogue.reaching.people(language)

    def say(self, language: str, name: str) -> str:
        """Say a fixed text, with how to reach a person where it asks for that."""
        return self.texts.say(language, name, human=self.human(language)).strip()


Step = Callable[[Turn, Tools], Turn | Reply]


def hear(turn: Turn, tools: Tools) -> Turn | Reply:
    """Listen to a voice note: from here on its words are what the person wrote."""
    message = turn.message
    if tools.listener is None or not message.recordings or (message.text or "").strip():
        return turn
    heard = tools.listener.listen(message)
    if isinstance(heard, Message):
        return replace(turn, message=heard, heard=True)
    language = turn.previous_language or DEFAULT
    return Reply(tools.say(language, heard), ReplyStatus.UNREADABLE, language)


def read(turn: Turn, tools: Tools) -> Turn:
    """Take the question out of the message: cleaned, and cut where it is too long. From here on the turn's time runs.

    Marks that come along when somebody copies a text are not looked for.
    """
    text = (turn.message.text or "").replace("\x00", " ").encode("utf-8", "replace").decode("utf-8")
    read_part = spaced(text[: 4 * MAX_QUESTION])
    shortened = len(read_part) > MAX_QUESTION or len(text) > 4 * MAX_QUESTION
    question = read_part[:MAX_QUESTION]
    asked = unmarked(question) or question
    return replace(turn, question=question, asked=asked, shortened=shortened, vectors=tools.vectors())


def detect_language(turn: Turn, tools: Tools) -> Turn:
    """Find the language the person writes, or keep that of the conversation; answer in another one that she wished."""
    written = tools.detector.detect(turn.asked, turn.previous_language)
    return replace(turn, language=tools.dialogue.wished(turn.past) or written, written=written)


def refuse_unreadable(turn: Turn, tools: Tools) -> Turn | Reply:
    """Answer kindly what cannot be read: voice notes, pictures, messages without words; numbers were chosen before."""
    if says_something(turn.asked):
        return turn
    kinds = {media.split("/")[0] for media in turn.message.media_types}
    if "audio" in kinds or (turn.message.text is None and not kinds):
        name = "voice_note"
    else:
        name = "media" if kinds or not turn.question else "no_words"
    return Reply(tools.say(turn.language, name), ReplyStatus.UNREADABLE, turn.language)


def urgent(turn: Turn, tools: Tools) -> Turn | Reply:
    """Answer somebody who is surely in danger before anything else is looked at."""
    return tools.guard.watch(turn, tools.rights.plainly)


def respect_rights(turn: Turn, tools: Tools) -> Turn | Reply:
    """Answer who wants to be forgotten, to know what is kept, or to be remembered or not."""
    return tools.rights.answer(turn, tools.known)


def choose(turn: Turn, tools: Tools) -> Turn | Reply:
    """Take a number for what the last reply offered."""
    return turn if turn.past and asks_to_forget(turn.past[0].options) else tools.dialogue.choose(turn)


def take_feedback(turn: Turn, tools: Tools) -> Turn | Reply:
    """Take what is said of the last answer; what chose or corrected something is none."""
    return turn if turn.understood else tools.rights.rate(turn, tools.human(turn.language))


def obey_command(turn: Turn, tools: Tools) -> Turn | Reply:
    """Answer greetings, thanks, help, the menu and the wish to talk to a person."""
    return tools.dialogue.obey(turn)


def correct(turn: Turn, tools: Tools) -> Turn | Reply:
    """Look again where the person says that the last answer was about something else."""
    return tools.dialogue.correct(turn)


def mend(turn: Turn, tools: Tools) -> Turn:
    """Write what is asked with the words that are meant; what the person wrote stays what is shown."""
    if turn.understood:
        return turn
    mended = tools.spelling.mended(turn.asked, turn.asked_in)
    return replace(turn, asked=mended.text, mended=mended.changes)


def follow_up(turn: Turn, tools: Tools) -> Turn:
    """Make a question that stands alone of one that hangs on the last turns."""
    return tools.dialogue.follow_up(turn)


def screen(turn: Turn, tools: Tools) -> Turn | Reply:
    """Stay calm with insults, and take orders to the machine for what they are."""
    return tools.scope.screen(turn, tools.say)


def ask_about_rights(turn: Turn, tools: Tools) -> Turn | Reply:
    """Ask back where somebody may want to be forgotten, unless the message was understood to be something else."""
    insulted = tools.scope.abuse.without(turn.question) != turn.question
    return turn if turn.understood or turn.ordered or insulted else tools.rights.ask(turn)


def answer_each(turn: Turn, tools: Tools) -> Turn | Reply:
    """Answer several things asked at once, where each is surely about a procedure of its own."""
    asked = tuple(turn.parts.values())
    if not turn.understood and not turn.ordered:
        asked = tools.asking.parts(turn.asked, turn.asked_in)
    place = tools.places.territory_of(turn.asked)  # said once, it holds for all that is asked
    around = tuple(tools.places.around(place.code)) if place else ()
    focus = tools.asking.focus(turn.asked, turn.asked_in)
    query = Query(turn.asked, tools.corpus, turn.asked_in, EVIDENCE, vectors=turn.vectors, territories=around, focus=focus)
    parts = several.found_apart(tools.retrieve, query, asked)
    if len(parts) <= 1 or any(turns_on_place(part.found.hits) for part in parts if place is None):
        return turn
    language, found = turn.language, parts[0].found
    notes = "\n\n".join(dict.fromkeys(note for part in parts for note in _notes(turn, part.found, tools)))
    notes = f"{notes}\n\n" if notes else ""
    below = _below(turn, tools, language, asks=tools.guard.asks(turn))
    room = MAX_REPLY - len(tools.guard.above(turn, language) + _notice(turn, tools, language) + notes + below)
    written = several.write(tools.writer, parts, language, room, f"_{tools.texts.say(language, 'verify')}_")
    if written is None:
        return turn
    trace = {**_trace(found), "writing": dict(written.trace), "parts": [_trace(part.found) for part in parts]}
    said = f"{notes}{written.text}"
    return Reply(said, ReplyStatus.ANSWERED, language, found.tier, written.citations, found.timings_ms, trace)


def find(turn: Turn, tools: Tools) -> Turn:
    """Look for evidence."""
    focus = tools.asking.focus(turn.asked, turn.asked_in)
    subject = "" if turn.understood else tools.dialogue.running(turn)
    asking = Query(turn.asked, tools.corpus, turn.asked_in, EVIDENCE, vectors=turn.vectors, focus=focus, subject=subject)
    found = tools.retrieve(asking)
    return replace(turn, found=set_apart(found, turn.apart))


def tell_apart(turn: Turn, tools: Tools) -> Turn | Reply:
    """Say of what was not found that it is none of Clara's matters, where that is clear."""
    return tools.scope.tell_apart(turn, tools.say)


def clarify(turn: Turn, tools: Tools) -> Turn | Reply:
    """Ask back where the answer turns on what was not said."""
    return tools.clarifying.answer(turn)


def write(turn: Turn, tools: Tools) -> Reply:
    """Write the reply from the evidence, or say that there is none, or that it could not be looked for."""
    found, language = turn.found, turn.language
    if found is None:
        raise JourneyUnfinishedError
    if found.status is not Status.FOUND:
        return _missed(turn, found, tools)
    asks = tools.guard.asks(turn)
    also, options = ("", ()) if asks else tools.clarifying.also(found, turn.asked, language, [*turn.parts][1:])
    also = f"\n\n{also}" if also else ""
    below = _below(turn, tools, language, asks=asks)
    limit = MAX_REPLY - len(tools.guard.above(turn, language) + _notice(turn, tools, language) + below)
    notes = _notes(turn, found, tools)
    written = tools.writer.answer(turn.asked, found.known, language, limit - sum(len(note) + 2 for note in notes))
    if not written.citations:
        return _missed(turn, replace(found, status=Status.NOT_FOUND), tools)  # nobody vouches for what was found
    text = written.text
    while notes and sum(len(note) + 2 for note in notes) + len(text) > limit:
        notes.pop()  # a fact that barely fits with what limits it is worth more than a note
    if sum(len(note) + 2 for note in notes) + len(text) + len(also) > limit:
        also, options = "", ()
    said = "\n\n".join([*notes, text]) + also
    trace = {**_trace(found), "writing": dict(written.trace), **({"offered": list(options)} if options else {})}
    return Reply(said, ReplyStatus.ANSWERED, language, found.tier, written.citations, found.timings_ms, trace, options)


def _missed(turn: Turn, found: Found, tools: Tools) -> Reply:
    """Say that there is no evidence, and what is nearest; or that it could not be looked for."""
    language, status = turn.language, ReplyStatus.OUTAGE if found.status is Status.OUTAGE else ReplyStatus.NOT_FOUND
    offers = status is ReplyStatus.NOT_FOUND and not tools.guard.asks(turn) and not turn.alarm.raised
    near, options = tools.clarifying.nearest(found, language) if offers else ("", ())
    said = "\n\n".join(filter(None, (tools.say(language, status.value), near)))
    return Reply(said, status, language, found.tier, (), found.timings_ms, _trace(found), options)


def _trace(found: Found) -> dict[str, Any]:
    """Give what is kept of a search: why it found or refused, and which parts were missing."""
    return {**found.trace, "outages": list(found.outages), "failures": list(found.failures), "relaxed": dict(found.relaxed)}


def _notes(turn: Turn, found: Found, tools: Tools) -> list[str]:
    """Say what an answer begins with, the least important last."""
    remarks = {"corrected": turn.corrected, "shortened": turn.shortened, "degraded": bool(found.outages)}
    said = [tools.texts.say(turn.language, name) for name, needed in remarks.items() if needed]
    return [*_level(turn.asked, found.known, tools, turn.language), *said]


def _level(question: str, hits: Sequence[Hit], tools: Tools, language: str) -> list[str]:
    """Say aloud for which territory the answer holds, when the person named a place."""
    place = tools.places.territory_of(question)
    if place is None:
        return []
    held = {hit.passage.territory for hit in chosen(hits)} - {STATE}
    level = next((code for code in tools.places.around(place.code) if code in held), None)
    if level is None:
        return [tools.texts.say(language, "level_state", place=place.name)]
    return [tools.texts.say(language, "level_territory", place=tools.places.by_code[level].name)]


STEPS: Final[tuple[Step, ...]] = (
    hear, read, detect_language, urgent, respect_rights, choose, correct, take_feedback, refuse_unreadable, obey_command,
    mend, follow_up, screen, ask_about_rights, answer_each, find, tell_apart, clarify, write,
)  # fmt: skip


def follow(turn: Turn, tools: Tools, steps: Iterable[Step] = STEPS) -> Reply:
    """Run the steps in order; the first reply ends the journey. Adds the notice of the first contact and the timings."""
    timings: dict[str, float] = {}
    for step in steps:
        started = perf_counter()
        outcome = step(turn, tools)
        timings[step.__name__] = (perf_counter() - started) * 1000
        if isinstance(outcome, Reply):
            reply = _noticed(turn, tools, outcome)
            return replace(reply, timings_ms={**reply.timings_ms, **timings, "total": sum(timings.values())})
        turn = outcome
    raise JourneyUnfinishedError


def converse(
    message: Message,
    tools: Tools,
    *,
    first_contact: bool = False,
    previous_language: str | None = None,
    past: Sequence[Past] = (),
) -> Reply:
    """Answer one message; `past` are the last turns, newest first."""
    return follow(Turn(message, previous_language, first_contact, tuple(past)), tools)


def _noticed(turn: Turn, tools: Tools, reply: Reply) -> Reply:
    """Put around a reply what belongs to any: whom to call, who answers, what was heard, that numbers are not wanted.

    Who is in danger reads the help first. Where there is no room, the notice goes without how to reach a person.
    """
    reply = tools.guard.beside(turn, reply)
    if reply.status is ReplyStatus.URGENT:
        text = f"{reply.text}\n\n{_first(turn, tools, reply.language)}".strip()
        return replace(reply, text=text) if len(text) <= MAX_REPLY else reply
    asks = tools.guard.asks(turn, reply)
    above, below = tools.guard.above(turn, reply.language), _below(turn, tools, reply.language, asks=asks)
    text = f"{above}{_notice(turn, tools, reply.language)}{reply.text}{below}"
    if turn.first_contact and len(text) > MAX_REPLY:
        text = f"{above}{tools.texts.say(reply.language, 'first_contact', human='').strip()}\n\n{reply.text}"
    options = SAFETY_OPTIONS if asks else reply.options
    return replace(reply, text=text, options=options, trace={**reply.trace, **tools.guard.trace(turn.alarm, asks=asks)})


def _notice(turn: Turn, tools: Tools, language: str) -> str:
    """Say what stands before a reply: at the first contact who answers, after a voice note how it was understood."""
    heard = f"{tools.texts.say(language, 'voice_heard', words=shown(turn.question))}\n\n" if turn.heard else ""
    return _first(turn, tools, language) + heard


def _first(turn: Turn, tools: Tools, language: str) -> str:
    return f"{tools.say(language, 'first_contact')}\n\n" if turn.first_contact else ""


def _below(turn: Turn, tools: Tools, language: str, *, asks: bool) -> str:
    """Ask somebody who sent identity numbers not to; ask who hints at danger, and say how to get another language, once."""
    names = {"identity_sent": holds_numbers(turn.question), "danger_question": asks}
    said = [tools.say(language, name) for name, needed in names.items() if needed]
    if not asks and turn.written == language and tools.detector.transliterated(turn.question, language):
        told = any(tools.detector.transliterated(earlier.question, earlier.language) for earlier in recent(turn.past))
        said += [tools.texts.by_language[language].transliterated] if not told else []
    return "".join(f"\n\n{one}" for one in filter(None, said))
