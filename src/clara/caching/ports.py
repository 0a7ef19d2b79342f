"""What the caching needs from outside, and how it may fail."""

from typing import Protocol


class CacheUnavailableError(Exception):
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
