"""Leaving a host alone between two requests."""

from collections.abc import Callable
from threading import Lock


class HostPace:
    """Gives each host its pause, by a monotonic clock; safe to share between threads. Other processes are not known of."""

    def __init__(self, clock: Callable[[], float], wait: Callable[[float], None]) -> None:
        self._clock = clock
        self._wait = wait
        self._lock = Lock()
        self._free_at: dict[str, float] = {}

    def take(self, host: str, pause: float) -> None:
        """Wait until the host may be asked again, and take that turn: the next one comes `pause` seconds later."""
        with self._lock:
            turn = max(self._clock(), self._free_at.get(host, 0.0))
            self._free_at[host] = turn + pause
        if (seconds := turn - self._clock()) > 0:
            self._wait(seconds)
