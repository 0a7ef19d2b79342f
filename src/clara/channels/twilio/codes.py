"""Twilio's error codes by what they mean for a reply.

The meanings are those of https://www.twilio.com/docs/api/errors, read in 2026. Twilio adds codes and moves causes between
them, so a code that is not here is judged by its HTTP status.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

UNAUTHORIZED: Final = 401
FORBIDDEN: Final = 403
TOO_MANY_REQUESTS: Final = 429


class Meaning(StrEnum):
    """Why Twilio does not take a message, or why a message that it took went no further."""

    RATE = "rate"
    ACCOUNT = "account"
    UNAVAILABLE = "unavailable"
    WINDOW_CLOSED = "window closed"
    BLOCKED = "blocked"
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


def _by_code(refusals: Iterable[Refusal]) -> dict[str, Refusal]:
    return {refusal.code: refusal for refusal in refusals}


KNOWN: Final = _by_code(
    (
        # The rate of the REST API, of the account, of the sender, or of messages to one person.
        Refusal("20429", Meaning.RATE, "Send fewer requests at once: lower the number of workers."),
        Refusal("21611", Meaning.RATE, "Wait: the sender's queue at Twilio is full."),
        Refusal("30001", Meaning.RATE, "Wait: the queue at Twilio overflowed."),
        Refusal("63017", Meaning.RATE, "Wait: the account sends faster than its channels allow."),
        Refusal("63018", Meaning.RATE, "Wait: the WhatsApp sender, or one conversation, is over its rate."),
        # The account or its settings: nothing is wrong with the message, and somebody has to act.
        Refusal("10001", Meaning.ACCOUNT, "The account is not active: check its balance and its notices."),
        Refusal("20003", Meaning.ACCOUNT, "Check TWILIO_ACCOUNT_SID and TWILIO_AUTH_TOKEN."),
        Refusal("20005", Meaning.ACCOUNT, "The account is not active: check its balance and its notices."),
        Refusal("20403", Meaning.ACCOUNT, "The account is suspended or closed: ask Twilio."),
        Refusal("20404", Meaning.ACCOUNT, "Check TWILIO_ACCOUNT_SID and TWILIO_API_URL: the account was not found there."),
        Refusal("21212", Meaning.ACCOUNT, "The number that people write to is no sender of this account."),
        Refusal("21408", Meaning.ACCOUNT, "Allow messages to this region in Twilio's console."),
        Refusal("21601", Meaning.ACCOUNT, "The number that people write to is no sender of this account."),
        Refusal("21603", Meaning.ACCOUNT, "The request names no sender."),
        Refusal("21606", Meaning.ACCOUNT, "The number that people write to cannot send for this account."),
        Refusal("21607", Meaning.ACCOUNT, "A trial account sends from the sandbox number only: upgrade it."),
        Refusal("21608", Meaning.ACCOUNT, "A trial account sends to verified numbers only: upgrade it."),
        Refusal("21609", Meaning.ACCOUNT, "Check CLARA_PUBLIC_URL: Twilio does not accept the address for status reports."),
        Refusal("21659", Meaning.ACCOUNT, "The number that people write to is no sender of this account."),
        Refusal("30002", Meaning.ACCOUNT, "The account is suspended: check its balance and its notices."),
        Refusal("63001", Meaning.ACCOUNT, "WhatsApp does not accept the sender's credentials: check them in Twilio's console."),
        Refusal("63002", Meaning.ACCOUNT, "WhatsApp does not know the sender: check it in Twilio's console."),
        Refusal("63007", Meaning.ACCOUNT, "No WhatsApp sender of this account has that number: check it in Twilio's console."),
        Refusal("63008", Meaning.ACCOUNT, "The WhatsApp channel is misconfigured: check it in Twilio's console."),
        Refusal("63020", Meaning.ACCOUNT, "Meta's business account has a problem: check it in Meta's business manager."),
        Refusal("63051", Meaning.ACCOUNT, "Meta has locked the WhatsApp business account: ask Twilio."),
        Refusal("63112", Meaning.ACCOUNT, "Meta has disabled the WhatsApp business account: ask for a review."),
        Refusal("70051", Meaning.ACCOUNT, "The credentials may not do this: check the API key's permissions."),
        Refusal("90010", Meaning.ACCOUNT, "The account is not active: check its balance and its notices."),
        # Maintenance that Twilio announces with a 4xx.
        Refusal("21730", Meaning.UNAVAILABLE, "Wait: Twilio is under maintenance."),
        # WhatsApp's window of a day.
        Refusal("63016", Meaning.WINDOW_CLOSED, "Nothing: free text is taken within a day of the person's last message."),
        # The person, or WhatsApp for the person, wants no such message.
        Refusal("21610", Meaning.BLOCKED, "Nothing: the person has opted out and may write again to undo that."),
        Refusal("63032", Meaning.BLOCKED, "Nothing: WhatsApp does not deliver this message to this person."),
        # The address.
        Refusal("21211", Meaning.INVALID_RECIPIENT, "Nothing: this is no valid number."),
        Refusal("21266", Meaning.INVALID_RECIPIENT, "Nothing: the message came from our own number."),
        Refusal("21604", Meaning.INVALID_RECIPIENT, "Nothing: the message came without a sender."),
        Refusal("21612", Meaning.INVALID_RECIPIENT, "Nothing: Twilio has no way from our number to this one."),
        Refusal("21614", Meaning.INVALID_RECIPIENT, "Nothing: this number takes no messages."),
        Refusal("63003", Meaning.INVALID_RECIPIENT, "Nothing: WhatsApp does not know this address."),
        Refusal("63015", Meaning.INVALID_RECIPIENT, "The sandbox sends to who joined it: join, or use an own sender."),
        Refusal("63024", Meaning.INVALID_RECIPIENT, "Nothing: WhatsApp cannot deliver to this person."),
        Refusal("63031", Meaning.INVALID_RECIPIENT, "Nothing: the message came from our own number."),
        # The text.
        Refusal("21605", Meaning.TOO_LONG, "Split the text: the part is longer than the channel takes."),
        Refusal("21617", Meaning.TOO_LONG, "Split the text: the part is longer than 1,600 characters."),
        Refusal("21658", Meaning.TOO_LONG, "Split the text: the part is longer than 1,600 characters."),
        Refusal("21602", Meaning.CONTENT, "The part has no text."),
        Refusal("21619", Meaning.CONTENT, "The part has no text."),
        Refusal("63005", Meaning.CONTENT, "WhatsApp does not accept this content."),
        Refusal("63006", Meaning.CONTENT, "The text cannot be put into WhatsApp's format."),
        Refusal("63013", Meaning.CONTENT, "The text is against WhatsApp's policy."),
        Refusal("63021", Meaning.CONTENT, "WhatsApp does not accept this content."),
    )
)
