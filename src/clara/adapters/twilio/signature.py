"""Telling genuine webhooks from forged ones, over the address that Twilio was given."""

import re
from collections.abc import Iterator, Sequence
from typing import Final

from twilio.request_validator import RequestValidator

# What Python's URL parser, which Twilio's validator uses, drops in silence: another address must not pass for the signed one.
DROPPED: Final = re.compile(r"[\t\r\n]|#$|^[^?#]*\?(?:#|$)")
NAME: Final = re.compile(r"[A-Za-z]")
MESSAGE: Final = "MessageSid"
SID: Final = r"(?:SM|MM)[0-9a-f]{32}"
MESSAGES: Final = re.compile(rf"{MESSAGE}({SID})")
# SmsMessageSid, OriginalRepliedMessageSid: fields of their own that end alike.
REFERENCE: Final = re.compile(rf"[A-Z][A-Za-z]*{MESSAGE}={SID}")


class _Form:
    """The fields of a form in the shape Twilio's validator reads: names may repeat."""

    def __init__(self, fields: Sequence[tuple[str, str]]) -> None:
        self._values: dict[str, list[str]] = {}
        for name, value in fields:
            self._values.setdefault(name, []).append(value)

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    def getlist(self, name: str) -> list[str]:
        return self._values[name]


class TwilioSignature:
    """Checks X-Twilio-Signature with the account's auth token.

    The signed address is built from configuration, never from request headers: behind a proxy those name another host,
    and a forger may set them.
    """

    def __init__(self, auth_token: str) -> None:
        self._validator = RequestValidator(auth_token)

    def genuine_form(self, url: str, fields: Sequence[tuple[str, str]], signature: str) -> bool:
        """Whether this form, posted to this address, carries the right signature and can be cut in one way only."""
        if DROPPED.search(url):
            return False
        try:
            return bool(self._validator.validate(url, _Form(fields), signature)) and cut_in_one_way(fields)
        except UnicodeEncodeError:  # a lone surrogate cannot have been signed
            return False

    def genuine_body(self, url: str, body: str, signature: str) -> bool:
        """Whether this JSON body, posted to this address with its bodySHA256, carries the right signature."""
        if DROPPED.search(url):
            return False
        try:
            return "bodySHA256=" in url and bool(self._validator.validate(url, body, signature))
        except (UnicodeEncodeError, ValueError, TypeError):  # nothing that was signed for this address looks like that
            return False


def cut_in_one_way(fields: Sequence[tuple[str, str]]) -> bool:
    """Whether signed fields are what was signed, and not the same characters cut into other names and values.

    Twilio signs the address and the fields run together, so whoever has one signature - of a message of their own, say -
    could move the cuts: a text "holaFromwhatsapp:+34..." becomes a text "hola" and another sender. Two things prevent it:

    - Names begin with a letter, so nothing of the address ("?reply=12", "/status") can pass into the first name.
    - The id under which the message is stored must be the only one to be read in those characters. Moved cuts then leave
      the id as it is, and a message with a known id changes nothing.

    A person who writes "MessageSid" and thirty-four characters like an id is refused as well: nobody does so by chance.
    """
    if not all(NAME.match(name) for name, _ in fields):
        return False
    joined = "".join(
        "\n" if name != MESSAGE and REFERENCE.fullmatch(f"{name}={value}") else f"{name}{value}"
        for name, value in sorted(set(fields))
    )
    told = {value for name, value in fields if name == MESSAGE}
    return len(told.union(MESSAGES.findall(joined))) <= 1
