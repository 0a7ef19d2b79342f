"""Telling genuine webhooks from forged ones, over the address that Twilio was given."""

from collections.abc import Sequence

from twilio.request_validator import RequestValidator


class _Form:
    """The fields of a form in the shape Twilio's validator reads: names may repeat."""

    def __init__(self, fields: Sequence[tuple[str, str]]) -> None:
        self._fields = fields

    def __iter__(self):  # type: ignore[no-untyped-def]  # noqa: ANN204  only the validator's set() uses it
        return iter(name for name, _ in self._fields)

    def __len__(self) -> int:
        return len(self._fields)

    def getlist(self, name: str) -> list[str]:
        return [value for field, value in self._fields if field == name]


class TwilioSignature:
    """Checks X-Twilio-Signature with the account's auth token.

    The signed address is built from configuration, never from request headers: behind a proxy those name another host,
    and a forger may set them.
    """

    def __init__(self, auth_token: str) -> None:
        self._validator = RequestValidator(auth_token)

    def genuine_form(self, url: str, fields: Sequence[tuple[str, str]], signature: str) -> bool:
        """Whether this form, posted to this address, carries the right signature."""
        try:
            return bool(self._validator.validate(url, _Form(fields), signature))
        except UnicodeEncodeError:  # a lone surrogate cannot have been signed
            return False

    def genuine_body(self, url: str, body: str, signature: str) -> bool:
        """Whether this JSON body, posted to this address with its bodySHA256, carries the right signature."""
        try:
            return "bodySHA256=" in url and bool(self._validator.validate(url, body, signature))
        except (UnicodeEncodeError, ValueError, TypeError):  # nothing that was signed for this address looks like that
            return False
