"""The values of delivery, and cutting a long reply into messages that a channel takes."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any

from semantic_text_splitter import TextSplitter

from clara.answering.message import Past


class Lane(StrEnum):
    """How a message goes to its turn: an emergency by slots of its own, a long one by few of the others'."""

    EMERGENCY = "emergency"
    ORDINARY = "ordinary"
    LONG = "long"


@dataclass(frozen=True, slots=True)
class Incoming:
    """A message as the channel handed it over.

    `channel` names it as rows do. `sid` is the channel's id of the message, which it vouches for; no other channel gives one
    like it. `text` is None in a voice note. `recordings` name its voice notes at the channel. `received_at` is set when the
    message waited somewhere before it reached the inbox: with a time zone, by the clock of whoever acknowledged it.
    """

    sid: str
    channel: str
    sender: str
    recipient: str
    text: str | None
    media_types: tuple[str, ...] = ()
    received_at: datetime | None = None
    recordings: tuple[str, ...] = ()
    lane: Lane = Lane.ORDINARY


@dataclass(frozen=True, slots=True)
class Report:
    """What the channel says became of a reply: `outgoing_id` is our number of it, `provider_sid` the channel's.

    `resend_within`: a failure that another try may overcome, within so many seconds of the person's message; 0: none may.
    """

    outgoing_id: int
    provider_sid: str
    status: str
    error_code: str | None = None
    resend_within: float = 0.0


class Limit(StrEnum):
    """Which limit a message was over."""

    SENDER_MINUTE = "sender_minute"
    SENDER_DAY = "sender_day"
    EVERYONE_MINUTE = "everyone_minute"
    EVERYONE_DAY = "everyone_day"


@dataclass(frozen=True, slots=True)
class Case:
    """A message whose turn was begun, and what is known of its conversation.

    `fence` grows with every beginning: what a worker writes under an older one is refused. `tries` counts the beginnings
    that ended without a recorded reply. `age` is in seconds by the database's clock, since the message was received.
    `past` are the last turns of the same person, newest first, of the last half an hour; none for who does not want that.
    `timely`: the channel still takes an answer.
    """

    inbox_id: int
    fence: int
    incoming: Incoming
    pseudonym: str
    first_contact: bool
    previous_language: str | None
    tries: int = 0
    answered: bool = False
    limit: Limit | None = None
    age: float = 0.0
    past: tuple[Past, ...] = ()
    timely: bool = True


@dataclass(frozen=True, slots=True)
class Outgoing:
    """A part of a reply that waits to be sent. `sender` is our own address, `recipient` the person's.

    `attempts` counts the earlier tries to send it. `uncertain_for` is None when nothing may be on its way; otherwise the
    seconds, by the database's clock, since a try began whose outcome nobody recorded. `hold_for` are the seconds for which
    it must wait, because an earlier try went too fast for the channel.
    """

    id: int
    sender: str
    recipient: str
    text: str
    part: int = 0
    attempts: int = 0
    uncertain_for: float | None = None
    hold_for: float = 0.0


@dataclass(frozen=True, slots=True)
class Taken:
    """A message that the channel has taken, as its list shows it. `age` is in seconds by the channel's clock."""

    sid: str
    text: str
    age: float


@dataclass(frozen=True, slots=True)
class StoredTurn:
    """A turn as it was recorded. `text` is the message, None once it was erased or where it had none.

    `citations` are JSON; `begun_at` is when it began to be answered, None where nobody asked for it.
    """

    status: str
    tier: str | None
    trace: Mapping[str, Any]
    text: str | None
    language: str = ""
    citations: Sequence[Mapping[str, Any]] = ()
    begun_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class LocalReply:
    """A reply as the local chat page reads it."""

    text: str
    language: str


def units(text: str) -> int:
    """Count UTF-16 units, as the strictest reader of a channel's limit would: an emoji is two."""
    return len(text.encode("utf-16-le", "surrogatepass")) // 2


def split(text: str, most: int) -> tuple[str, ...]:
    """Cut into messages of at most so many UTF-16 units where a reader would pause, none of them empty.

    Between paragraphs, else lines, sentences, words.
    """
    text = text.strip()
    if units(text) <= most:
        return (text,) if text else ()
    return tuple(TextSplitter.from_callback(units, most, trim=True).chunks(text))
