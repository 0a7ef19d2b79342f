"""The values of the conversation."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Any, Final

from clara.answering.safety.danger import CALM, Alarm
from clara.retrieval.passage import Found
from clara.retrieval.turn_vectors import TurnVectors


@dataclass(frozen=True, slots=True)
class Message:
    """What the journey needs of a message: no address and no id.

    `recordings` are the addresses of its voice notes at the channel.
    """

    text: str | None
    media_types: tuple[str, ...] = ()
    recordings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Citation:
    """The evidence behind one mark in a reply. `verified_on` is a day or a month, ISO 8601."""

    mark: str
    passage_id: str
    document_id: str
    section: str
    source_url: str
    verified_on: str


# What WhatsApp takes in one message through Twilio.
MAX_REPLY: Final = 1_600


class ReplyStatus(StrEnum):
    """What kind of reply this is."""

    ANSWERED = "answered"
    NOT_FOUND = "not_found"
    OUTAGE = "outage"
    COMMAND = "command"
    UNREADABLE = "unreadable"
    LIMITED = "limited"
    URGENT = "urgent"
    CLARIFIED = "clarified"
    OUT_OF_SCOPE = "out_of_scope"
    CALMED = "calmed"
    RIGHTS = "rights"
    FEEDBACK = "feedback"


class Act(StrEnum):
    """What must be done as a reply is recorded, in the same statement: what the person decided, or how they rate an answer."""

    ERASE = "erase"
    REMEMBER = "remember"
    DO_NOT_REMEMBER = "do_not_remember"
    HELPFUL = "helpful"
    UNHELPFUL = "unhelpful"
    WRONG = "wrong"


@dataclass(frozen=True, slots=True)
class Past:
    """An earlier turn of the conversation, as far as the next one needs it.

    `question` is what the person wrote, `passages` what the reply cited, best first, all of `document_id`, the procedure.
    `options` are what a number in the next message chooses. `age` is in seconds. `danger` are the kinds that the reply told
    help for, first first.
    """

    question: str
    status: ReplyStatus
    language: str
    document_id: str | None = None
    passages: tuple[str, ...] = ()
    options: tuple[str, ...] = ()
    age: float = 0.0
    danger: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Turn:
    """A message on its way through the journey; each step adds what it finds out.

    `past` are the last turns, newest first. `question` is what the person wrote, `asked` what is looked for: the same, unless
    the message hangs on what was said before (then it is `understood` by that) or is misspelt: `mended` has the words as they
    were written and as they are read. `ordered` says that orders to the machine were cut off, `heard` that the text is what a
    voice note was understood to say. `parts` are the questions about procedures that she chose together, by the procedure.
    `language` is that of the reply, `written` that of what is asked, where the person wished another one.
    `corrected` says that the person puts right how the last message was understood, and `apart` is the procedure, if any,
    that was not meant. `vectors` embeds what is asked, once, within the time of the turn. `alarm` is the danger
    heard in it.
    """

    message: Message
    previous_language: str | None = None
    first_contact: bool = False
    past: tuple[Past, ...] = ()
    heard: bool = False
    question: str = ""
    asked: str = ""
    parts: Mapping[str, str] = field(default_factory=dict)
    understood: bool = False
    ordered: bool = False
    mended: tuple[tuple[str, str], ...] = ()
    shortened: bool = False
    language: str = "es"
    written: str = ""
    found: Found | None = None
    corrected: bool = False
    apart: str | None = None
    vectors: TurnVectors | None = None
    alarm: Alarm = CALM

    @property
    def asked_in(self) -> str:
        """Give the language of what is asked."""
        return self.written or self.language


@dataclass(frozen=True, slots=True)
class Reply:
    """What the person gets, with the evidence behind it. `trace` is JSON: how it was found, without a word of the message.

    `options` are what a number in the person's next message chooses: procedures by their id, or names of commands.
    `act` is what the edge does when it records the reply.
    """

    text: str
    status: ReplyStatus
    language: str
    tier: str | None = None
    citations: tuple[Citation, ...] = ()
    timings_ms: Mapping[str, float] = field(default_factory=dict)
    trace: Mapping[str, Any] = field(default_factory=dict)
    options: tuple[str, ...] = ()
    act: Act | None = None


def past_of(question: str, reply: Reply, age: float = 0.0) -> Past:
    """Give what the next turn needs of one that ended with this reply. `age` is in seconds."""
    document = reply.citations[0].document_id if reply.citations else None
    cited = tuple(citation.passage_id for citation in reply.citations if citation.document_id == document)
    told = tuple(reply.trace.get("danger", ()))
    return Past(question, reply.status, reply.language, document, cited, reply.options, age, told)


# The journey remembers so many turns.
REMEMBERED: Final = 4


def after(past: Sequence[Past], question: str, reply: Reply, pause: float = 0.0) -> tuple[Past, ...]:
    """Give the past of the message that comes `pause` seconds after this reply, newest first."""
    older = (replace(earlier, age=earlier.age + pause) for earlier in past)
    return (past_of(question, reply, pause), *older)[:REMEMBERED]
