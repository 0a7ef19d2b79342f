"""Who may read the figures of a running Clara, and act: whoever has a token, of which only a digest is configured.

A token and its digest for CLARA_ADMIN_TOKEN_SHA256:

    python3 -c "import secrets,hashlib; t=secrets.token_urlsafe(32); print(t, hashlib.sha256(t.encode()).hexdigest())"
"""

import hashlib
import hmac
from collections import OrderedDict
from collections.abc import Callable
from enum import StrEnum
from math import ceil
from threading import Lock
from time import monotonic
from typing import Final

from flask import Response, jsonify, request

SCHEME = "bearer"
# Wrong tokens of one address: so many at once, then one every so many seconds.
WRONG_AT_ONCE: Final = 10
ONE_MORE_EVERY_SECONDS: Final = 6.0
MOST_ADDRESSES: Final = 1_024
ASK = "This needs the header 'Authorization: Bearer <token>'."
TOO_MANY = "Too many wrong tokens came from this address. Try again later."
NOT_YOURS = "This token may read and not act. Use the operator's."


class Role(StrEnum):
    """What a token is good for: a reader reads, an operator acts too. A stranger has none."""

    READER = "reader"
    OPERATOR = "operator"
    STRANGER = "stranger"


class Doorman:
    """Tells from the request's Authorization header who asks, and turns away whoever guesses.

    The digests are SHA-256 in 64 hex digits. Wrong tokens are counted by address, in this process: while an address has had
    too many, its requests are not looked at, so that nothing can be learnt by going on.
    """

    def __init__(
        self, operator_sha256: str | None, reader_sha256: str | None = None, clock: Callable[[], float] = monotonic
    ) -> None:
        self._digests = ((Role.OPERATOR, operator_sha256), (Role.READER, reader_sha256))
        self._clock = clock
        self._lock = Lock()
        # By address: when the last of its wrong tokens will be forgotten, if each takes its seconds.
        self._until: OrderedDict[str, float] = OrderedDict()

    @property
    def has_tokens(self) -> bool:
        """Whether any token is configured: without one nobody has a role."""
        return any(digest is not None for _, digest in self._digests)

    def who(self) -> Role | Response:
        """Give the role of who asks, or the answer that turns them away: 401, or 429 while they guess."""
        address = request.remote_addr or ""
        if (wait := self._wait(address)) > 0:
            return refusal(TOO_MANY, 429, "Retry-After", str(ceil(wait)))
        scheme, _, token = request.headers.get("Authorization", "").partition(" ")
        role = self._role(token.strip()) if scheme.lower() == SCHEME else Role.STRANGER
        if role is not Role.STRANGER:
            return role
        if token.strip():
            self._note(address)
        return refusal(ASK, 401, "WWW-Authenticate", 'Bearer realm="clara"')

    def _role(self, token: str) -> Role:
        """Compare with every digest, so that the time taken tells nothing."""
        given = hashlib.sha256(token.encode("utf-8", "replace")).hexdigest()
        fits = [role for role, digest in self._digests if hmac.compare_digest(given, (digest or "").lower())]
        return fits[0] if fits else Role.STRANGER

    def _wait(self, address: str) -> float:
        """Give the seconds until one more wrong token of this address would be looked at."""
        with self._lock:
            ahead = self._until.get(address, 0.0) - self._clock()
        return ahead - (WRONG_AT_ONCE - 1) * ONE_MORE_EVERY_SECONDS

    def _note(self, address: str) -> None:
        with self._lock:
            until = max(self._until.pop(address, 0.0), self._clock()) + ONE_MORE_EVERY_SECONDS
            self._until[address] = until
            while len(self._until) > MOST_ADDRESSES:
                self._until.popitem(last=False)


def refusal(error: str, status: int, header: str, told: str) -> Response:
    """Give an answer that turns somebody away, with the header that says what to do."""
    refused = jsonify(error=error)
    refused.status_code = status
    refused.headers[header] = told
    return uncached(refused)


def uncached(response: Response) -> Response:
    """Forbid keeping the response: it is old at once, and not for everybody."""
    response.headers["Cache-Control"] = "no-store"
    return response
