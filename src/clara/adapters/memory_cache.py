"""A cache in the memory of this process."""

import time
from collections import OrderedDict
from collections.abc import Callable
from threading import Lock

# 12 passages of the real knowledge take 9 KB: 32 MB are about 3,500 results, a sixteenth of the smallest machine (512 MB).
MAXIMUM_ENTRIES = 4_000
MAXIMUM_BYTES = 32_000_000


class MemoryCache:
    """Holds the values used last, bounded by their number and by the bytes of keys and values; safe between threads.

    A value that is larger than the whole is not held. `clock` gives seconds that never go back.
    """

    def __init__(
        self,
        entries: int = MAXIMUM_ENTRIES,
        maximum_bytes: int = MAXIMUM_BYTES,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._maximum_entries = entries
        self._maximum_bytes = maximum_bytes
        self._clock = clock
        self._lock = Lock()
        self._held: OrderedDict[str, tuple[bytes, float]] = OrderedDict()
        self._bytes = 0

    def get(self, key: str) -> bytes | None:
        """Give the value and count it as used; None when there is none or its time is over."""
        with self._lock:
            value, until = self._held.get(key, (None, 0.0))
            if value is None:
                return None
            if self._clock() >= until:
                self._drop(key)
                return None
            self._held.move_to_end(key)
            return value

    def put(self, key: str, value: bytes, seconds: float) -> None:
        """Hold the value; those unused for longest make room."""
        with self._lock:
            self._drop(key)
            if seconds <= 0 or _size(key, value) > self._maximum_bytes:
                return
            self._held[key] = (value, self._clock() + seconds)
            self._bytes += _size(key, value)
            while len(self._held) > self._maximum_entries or self._bytes > self._maximum_bytes:
                self._drop(next(iter(self._held)))

    def _drop(self, key: str) -> None:
        if key in self._held:
            value, _ = self._held.pop(key)
            self._bytes -= _size(key, value)


def _size(key: str, value: bytes) -> int:
    return len(key) + len(value)
