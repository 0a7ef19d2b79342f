"""Twilio's error codes by what they mean for a reply: `codes.json`.

The meanings are those of https://www.twilio.com/docs/api/errors, read in 2026. Twilio adds codes and moves causes between
them, so a code that is not here is judged by its HTTP status.
"""

import json
from dataclasses import dataclass
from enum import StrEnum
from importlib.resources import files
from typing import Final

UNAUTHORIZED: Final = 401
FORBIDDEN: Final = 403
TOO_MANY_REQUESTS: Final = 429


class Meaning(StrEnum):
    """Why Twilio does not take a message, or why a message that it took went no further."""

    RATE = "rate"
    """Of the REST API, of the account, of the sender, or of messages to one person."""
    ACCOUNT = "account"
    """The account or its settings: nothing is wrong with the message, and somebody has to act."""
    UNAVAILABLE = "unavailable"
    """Maintenance that Twilio announces with a 4xx."""
    WINDOW_CLOSED = "window closed"
    """WhatsApp's window of a day."""
    BLOCKED = "blocked"
    """The person, or WhatsApp for the person, wants no such message."""
    INVALID_RECIPIENT = "invalid recipient"
    TOO_LONG = "too long"
    CONTENT = "content"
    UNKNOWN = "unknown"


# What may pass: by itself, or once the operator has put the account or the settings in order.
PASSING: Final = frozenset({Meaning.RATE, Meaning.ACCOUNT, Meaning.UNAVAILABLE})


@dataclass(frozen=True, slots=True)
class Refusal:
    """A code, what it means, and what to do about it. `code` is the HTTP status where Twilio gave none."""

    code: str
    meaning: Meaning
    remedy: str

    @property
    def final(self) -> bool:
        """Whether the message will never be taken."""
        return self.meaning not in PASSING


def judge(status: int, code: str | None) -> Refusal:
    """Say what a refusal means, from its HTTP status (400 to 499) and Twilio's code, if it gave one."""
    named = code or str(status)
    known = KNOWN.get(named)
    if status == TOO_MANY_REQUESTS and (known is None or known.meaning is not Meaning.RATE):
        return Refusal(named, Meaning.RATE, "Send fewer requests at once.")
    if known is not None:
        return known
    if status in (UNAUTHORIZED, FORBIDDEN):
        return Refusal(named, Meaning.ACCOUNT, "Check TWILIO_ACCOUNT_SID and TWILIO_AUTH_TOKEN.")
    return Refusal(named, Meaning.UNKNOWN, f"See https://www.twilio.com/docs/api/errors/{named}.")


def retryable_report(code: str | None) -> bool:
    """Whether a message that failed after it was taken, with this code in its status report, may be sent once more.

    Only rates: there the message surely went nowhere, and later it may.
    """
    known = KNOWN.get(code or "")
    return known is not None and known.meaning is Meaning.RATE


def _read_codes() -> dict[str, Refusal]:
    told = json.loads((files(__package__) / "codes.json").read_text("utf-8"))
    return {code: Refusal(code, Meaning(why), remedy) for why, codes in told.items() for code, remedy in codes.items()}


KNOWN: Final = _read_codes()
