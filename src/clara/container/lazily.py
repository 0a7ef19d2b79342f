"""Building a thing once, on first use."""

from collections.abc import Callable
from threading import Lock
from typing import Generic, TypeVar

Built = TypeVar("Built")


class Lazily(Generic[Built]):
    """Builds a thing once, on first use, however many threads ask at the same time."""

    def __init__(self, build: Callable[[], Built]) -> None:
        self._build = build
        self._lock = Lock()
        self._made: list[Built] = []

    def get(self) -> Built:
        """Give the one thing."""
        with self._lock:
            if not self._made:
                self._made.append(self._build())
            return self._made[0]

    def reset(self) -> list[Built]:
        """Forget the thing, so that the next use builds another; give what was forgotten, to be closed."""
        with self._lock:
            made, self._made = self._made, []
            return made
