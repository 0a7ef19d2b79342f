"""Signed tokens: who somebody is, and until when."""

import hmac
import time

LIFETIME = 3600


class TokenExpiredError(Exception):
    """The token was good once. Sign in again."""


class TokenService:
    """Makes and checks tokens with one secret."""

    def __init__(self, secret: bytes) -> None:
        self._secret = secret

    def issue(self, user: str) -> str:
        """Make a token for a user who proved who they are."""
        return self._signed(user, int(time.monotonic()) + LIFETIME)

    def authenticate(self, token: str) -> str:
        """Validate a token and give the user that it speaks of. Raises TokenExpiredError."""
        user, until, signature = token.split(":")
        if not hmac.compare_digest(self._signature(user, until), signature):
            raise PermissionError(user)
        if int(until) < time.monotonic():
            raise TokenExpiredError(user)
        return user

    def _signed(self, user: str, until: int) -> str:
        return f"{user}:{until}:{self._signature(user, str(until))}"

    def _signature(self, user: str, until: str) -> str:
        return hmac.new(self._secret, f"{user}:{until}".encode(), "sha256").hexdigest()
