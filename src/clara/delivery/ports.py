"""What delivery needs from outside, and how those things may fail."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from clara.answering.message import Reply
from clara.delivery.message import Case, Incoming, LocalReply, Outgoing, Report, Taken
from clara.errors import Refused, Unavailable


class StoreUnavailableError(Unavailable):
    """The store of messages could not be asked or written. Nothing is known about what it holds."""


class StoreRefusesError(StoreUnavailableError):
    """The store answers and takes nothing in: not now, or not this. It is kept elsewhere until the store takes it."""


class RefusedError(Refused):
    """The store will never take this: its own values are at fault. The message says which kind of fault, not which values."""


class SupersededError(Refused):
    """Another worker has begun this turn since: whatever this one still wants to write or send must not happen."""


class TemporarySendError(Unavailable):
    """The channel did not take the message; trying again later may help. `wait` is in seconds, None when it said nothing."""

    def __init__(self, reason: str, wait: float | None = None) -> None:
        super().__init__(reason)
        self.wait = wait


class LostAnswerError(Unavailable):
    """Nobody knows whether the channel took the message: ask it before trying again."""


class PermanentSendError(Refused):
    """The channel will never take this message. `code` is the channel's error code."""

    def __init__(self, code: str, reason: str) -> None:
        super().__init__(f"{code}: {reason}")
        self.code = code


class UnsealableError(Refused):
    """What was sealed cannot be opened: another key sealed it, for another message, or it was damaged."""


class SpoolFullError(Unavailable):
    """The spool holds as much as it may. Nothing was stored."""


class SpoolUnavailableError(Unavailable):
    """The spool's folder cannot be written. Nothing was stored. The message names the folder and the remedy."""


class Inbox(Protocol):
    """Takes messages in. Raises StoreUnavailableError, RefusedError."""

    def accept(self, incoming: Incoming) -> bool:
        """Store the message and schedule its turn, both or neither; False when the message was known already."""


class DeliveryReports(Protocol):
    """Takes the channel's reports on what became of a reply. Raises StoreUnavailableError, RefusedError."""

    def delivery(self, report: Report) -> bool:
        """Record a report; False when there is no such reply, or the status is unknown."""


class Sealer(Protocol):
    """Encrypts what must not be read at rest. `context` names what it belongs to: it opens nowhere else."""

    def seal(self, plain: bytes, context: str) -> bytes:
        """Encrypt and authenticate."""

    def open(self, sealed: bytes, context: str) -> bytes:
        """Decrypt. Raises UnsealableError."""


class Spool(Protocol):
    """Keeps records on this machine, in order, while the store is away."""

    def append(self, record: bytes) -> None:
        """Store a record so that it survives a crash. Raises SpoolFullError, SpoolUnavailableError."""

    def waiting(self) -> int:
        """Count the records that wait."""

    def drain(self, take: Callable[[Sequence[bytes]], None]) -> int:
        """Hand over the records in order, some at a time; give how many went. What `take` raises ends it before those."""


class Desk(Protocol):
    """Keeps each message's turn. Every method may raise StoreUnavailableError."""

    def begin(self, inbox_id: int) -> Case | None:
        """Begin the turn under a new fence; None when the message was erased."""

    def reply(self, case: Case, reply: Reply, parts: Sequence[str]) -> Outgoing | None:
        """Record the turn and put the parts into the outbox, all or nothing. Raises SupersededError.

        The part of a reply that has only one may be claimed with it, and is then given; otherwise, and where an earlier reply
        stays, None.
        """

    def waiting(self, case: Case) -> Sequence[Outgoing]:
        """Give the parts that still have to be sent, in order."""

    def claim(self, case: Case, outgoing: Outgoing) -> None:
        """Record that a try to send begins now. Raises SupersededError when somebody else did that, or settled the part."""

    def unclaim(self, outgoing: Outgoing) -> None:
        """Record that the try that was claimed did not reach the channel."""

    def sent(self, outgoing: Outgoing, provider_sid: str | None) -> None:
        """Record that the channel took the part."""

    def refused(self, outgoing: Outgoing, code: str) -> None:
        """Record that the channel will never take the part."""

    def unrecorded(self, outgoing: Outgoing, sids: Sequence[str]) -> Sequence[str]:
        """Give those of the channel's ids that no reply is recorded under, in the same order."""


@dataclass(frozen=True, slots=True)
class ChannelLimits:
    """What a channel takes: messages of at most `longest` UTF-16 units, and an answer for `window_seconds` after the question.

    None: for ever. What comes later is recorded as refused under `window_code`, as the channel itself would refuse it.
    """

    longest: int
    window_seconds: float | None = None
    window_code: str = ""

    def timely(self, age: float) -> bool:
        """Whether the channel takes an answer to a message that is so many seconds old."""
        return self.window_seconds is None or age <= self.window_seconds


class Sender(Protocol):
    """Sends a part of a reply through a channel."""

    def send(self, outgoing: Outgoing, timely: Callable[[], bool]) -> str | None:
        """Send it; give the channel's id of it. `timely` is asked at the last moment: False forbids it.

        Raises TemporarySendError (it was surely not taken), LostAnswerError, PermanentSendError.
        """

    def taken(self, outgoing: Outgoing) -> Sequence[Taken]:
        """Give what the channel took lately for this recipient, newest first. Raises TemporarySendError."""


class Replies(Protocol):
    """Reads replies back, for a channel that asks instead of being called. Raises StoreUnavailableError."""

    def reply_to(self, sid: str) -> LocalReply | None:
        """Give the reply to a message; None while there is none. Raises KeyError when the message is unknown."""
