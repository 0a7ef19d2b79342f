"""What a webhook is called with, how its reader says what came, and where that goes. Without Flask, which only the web has."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from clara.delivery.message import Incoming, Report
from clara.delivery.ports import DeliveryReports, Inbox, Replies
from clara.errors import Invalid, Refused


@dataclass(frozen=True, slots=True)
class ChannelIntake:
    """Where what came goes, and where a page reads replies back. `direction` gives that of a language: "ltr" or "rtl"."""

    inbox: Inbox
    reports: DeliveryReports
    replies: Replies
    direction: Callable[[str], str]


@dataclass(frozen=True, slots=True)
class WebhookCall:
    """A request to one of a reader's paths.

    `url` is the address that the channel was given, with the query that came: built from configuration, never from headers.
    Names of `headers` are written like Content-Type. `fields` are those of a form, in their order, names repeated as they
    came; `body` is empty where there is a form.
    """

    path: str
    url: str
    query: Mapping[str, str]
    headers: Mapping[str, str]
    fields: Sequence[tuple[str, str]]
    body: bytes


class ForgedCallError(Refused):
    """The request does not carry the channel's proof. The message says which settings to check; `proof` names it."""

    def __init__(self, proof: str, remedy: str) -> None:
        super().__init__(remedy)
        self.proof = proof


class UnreadableCallError(Invalid):
    """The request is the channel's and no message. The message says what it lacks."""


class CallReader(Protocol):
    """Verifies and reads what a channel calls. `name` is the channel's, `thanks` the body and kind of the acknowledgement."""

    name: str
    paths: Sequence[str]
    thanks: tuple[str, str]

    def read(self, call: WebhookCall) -> Incoming | Report | None:
        """Give the message or the report; None: nothing to keep. Raises ForgedCallError, UnreadableCallError."""
