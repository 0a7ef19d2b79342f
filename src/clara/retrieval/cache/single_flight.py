"""The same computation, asked for by many at once, is done once."""

from collections.abc import Callable
from threading import Event, Lock, get_ident
from types import TracebackType
from typing import Generic, TypeVar

T = TypeVar("T")

# As long as the database allows one statement (statement_timeout=10s); whoever waited so long computes for itself.
PATIENCE_SECONDS = 10.0


class _Flight(Generic[T]):
    """One computation. As a context it notes an error without catching it, and always sets `landed`."""

    def __init__(self) -> None:
        self.owner = get_ident()
        self.landed = Event()
        self.results: list[T] = []
        self.error: Exception | None = None

    def __enter__(self) -> None:
        return

    def __exit__(self, _kind: type[BaseException] | None, error: BaseException | None, _trace: TracebackType | None) -> None:
        if isinstance(error, Exception):
            self.error = error
        self.landed.set()


class SingleFlight(Generic[T]):
    """Runs one computation for each key at a time and gives its result to everybody who asked meanwhile.

    An error reaches all of them and is not remembered. When the computing thread is ended, or takes longer than `patience`
    seconds, those who wait compute for themselves; so does a computation that asks for its own key.
    """

    def __init__(self, patience: float = PATIENCE_SECONDS) -> None:
        self._patience = patience
        self._lock = Lock()
        self._flights: dict[str, _Flight[T]] = {}

    def run(self, key: str, compute: Callable[[], T]) -> T:
        """Give the result of `compute`, or of the computation with the same key that is under way."""
        mine: _Flight[T] = _Flight()
        with self._lock:
            flight = self._flights.setdefault(key, mine)
        if flight is mine:
            return self._lead(key, mine, compute)
        if flight.owner == mine.owner or not flight.landed.wait(self._patience):
            return compute()
        if flight.error is not None:
            raise flight.error
        return flight.results[0] if flight.results else compute()

    def _lead(self, key: str, flight: _Flight[T], compute: Callable[[], T]) -> T:
        try:
            with flight:
                flight.results.append(compute())
                return flight.results[0]
        finally:
            with self._lock:
                del self._flights[key]
