"""Telling genuine webhooks from forged ones, over the address that Twilio was given."""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

import structlog
from twilio.request_validator import RequestValidator

from clara.adapters.twilio.cutting import load_cutter

# What Python's URL parser, which Twilio's validator uses, drops in silence: another address must not pass for the signed one.
DROPPED: Final = re.compile(r"[\t\r\n]|#$|^[^?#]*\?(?:#|$)")
log = structlog.get_logger()


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
        self._cutter = load_cutter()

    def signed_fields(self, url: str, fields: Sequence[tuple[str, str]], signature: str) -> Mapping[str, str] | None:
        """Give what the form says if it is genuine and its characters can be cut in no other way; None otherwise.

        Only names that Twilio documents are in it.
        """
        if not self.genuine_form(url, fields, signature) or (signed := self._cutter.cut(fields)) is None:
            return None
        if signed.unknown:
            log.info("webhook has unknown fields", count=signed.unknown)
        return signed.values

    def genuine_form(self, url: str, fields: Sequence[tuple[str, str]], signature: str) -> bool:
        """Whether this form, posted to this address, carries the right signature."""
        if DROPPED.search(url):
            return False
        try:
            return bool(self._validator.validate(url, _Form(fields), signature))
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
