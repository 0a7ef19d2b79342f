"""What the conversation needs from outside, and how those things may fail."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from clara.conversation.message import Incoming, Reply


class StoreUnavailableError(Exception):
    """The store of messages could not be asked or written. Nothing was stored."""


class TemporarySendError(Exception):
    """The channel did not take the message now; trying again later may help."""


class PermanentSendError(Exception):
    """The channel will never take this message. `code` is the channel's error code."""

    def __init__(self, code: str, reason: str) -> None:
        super().__init__(f"{code}: {reason}")
        self.code = code


@dataclass(frozen=True, slots=True)
class Case:
    """A stored message and what is known of its conversation."""

    incoming: Incoming
    first_contact: bool
    previous_language: str | None


@dataclass(frozen=True, slots=True)
class StoredTurn:
    """A turn as it was recorded. `text` is the message, None once it was erased or where it had none."""

    status: str
    tier: str | None
    trace: Mapping[str, Any]
    text: str | None


@dataclass(frozen=True, slots=True)
class Outgoing:
    """A reply that waits to be sent. `sender` is our own address, `recipient` the person's."""

    id: int
    sender: str
    recipient: str
    text: str


class Inbox(Protocol):
    """Takes messages in. Raises StoreUnavailableError."""

    def accept(self, incoming: Incoming) -> bool:
        """Store the message and schedule its turn, both or neither; False when the message was known already."""
        ...


class Desk(Protocol):
    """Keeps each message's turn. Every method may raise StoreUnavailableError."""

    def case(self, inbox_id: int) -> Case | None:
        """Give the message and its conversation; None when it was erased."""
        ...

    def reply(self, inbox_id: int, reply: Reply) -> None:
        """Record the turn and put the reply into the outbox, both or neither; keep an earlier reply to the same message."""
        ...

    def waiting(self, inbox_id: int) -> Outgoing | None:
        """Give the reply that still has to be sent; None when it went out or there is none yet."""
        ...

    def answered(self, inbox_id: int) -> bool:
        """Whether a reply to this message was recorded."""
        ...

    def sent(self, outgoing: Outgoing, provider_sid: str | None) -> None:
        """Record that the channel took the reply."""
        ...

    def refused(self, outgoing: Outgoing, code: str) -> None:
        """Record that the channel will never take the reply."""
        ...


class Sender(Protocol):
    """Sends a reply through a channel."""

    def send(self, outgoing: Outgoing) -> str | None:
        """Send it; give the provider's id of the message. Raises TemporarySendError, PermanentSendError."""
        ...


class LanguageIdentifier(Protocol):
    """Guesses the language of a text among the served ones."""

    def identify(self, text: str) -> str | None:
        """Give a language code, or None when the text has nothing to judge by."""
        ...


@dataclass(frozen=True, slots=True)
class LocalReply:
    """A reply as the local chat page reads it."""

    text: str
    language: str


class Replies(Protocol):
    """Reads replies back, for a channel that asks instead of being called. Raises StoreUnavailableError."""

    def reply_to(self, sid: str) -> LocalReply | None:
        """Give the reply to a message; None while there is none. Raises KeyError when the message is unknown."""
        ...


class DeliveryReports(Protocol):
    """Takes the channel's reports on what became of a reply. Raises StoreUnavailableError."""

    def delivery(self, outgoing_id: int, status: str, error_code: str | None) -> bool:
        """Record a report; False when there is no such reply, or the status is unknown."""
        ...
