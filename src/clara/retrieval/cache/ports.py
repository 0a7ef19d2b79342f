"""What the cache needs from outside, how that may fail, and what it can do for a question, to be counted."""

from enum import StrEnum
from typing import Protocol

from clara.errors import Unavailable


class Event(StrEnum):
    """What happened to one question, or on its way."""

    EXACT = "exact"
    SEMANTIC = "semantic"
    MISS = "miss"
    BYPASSED = "bypassed"
    STORED = "stored"
    UNAVAILABLE = "unavailable"
    DAMAGED = "damaged"


class CacheUnavailableError(Unavailable):
    """The cache could not be asked. Whoever asked it computes the value instead: no answer is lost."""


class Cache(Protocol):
    """Holds bytes under a key for a while. It may forget any of them at any moment."""

    def get(self, key: str) -> bytes | None:
        """Give the value, None when there is none or its time is over. Raises CacheUnavailableError."""
        ...

    def put(self, key: str, value: bytes, seconds: float) -> None:
        """Hold the value for at most so many seconds, in place of an older one; for 0 or less, hold none.

        Raises CacheUnavailableError.
        """
        ...
