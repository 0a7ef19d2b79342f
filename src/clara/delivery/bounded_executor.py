"""Calls that another thread makes, so that one that hangs holds up nobody else."""

from collections.abc import Callable
from queue import SimpleQueue
from threading import Event, Lock, Thread
from types import TracebackType
from typing import Any, Generic, TypeVar

from clara.delivery.ports import StoreUnavailableError

T = TypeVar("T")


class Call(Generic[T]):
    """A call and what became of it: once it has `ended`, there is an error or one result."""

    def __init__(self, work: Callable[[], T]) -> None:
        self._work = work
        self.ended = Event()
        self.results: list[T] = []
        self.error: Exception | None = None
        self.begun = self.given_up = False

    def run(self) -> None:
        """Make the call; whatever it raises is noted."""
        with self:
            self.results.append(self._work())

    def __enter__(self) -> None:
        return

    def __exit__(self, _kind: type[BaseException] | None, error: BaseException | None, _trace: TracebackType | None) -> bool:
        if isinstance(error, Exception):
            self.error = error
        self.ended.set()
        return self.error is not None


class Hands:
    """At most `count` threads that call the store; each begins when the others are busy."""

    def __init__(self, count: int) -> None:
        self._count = count
        self._lock = Lock()
        self._calls: SimpleQueue[Call[Any] | None] = SimpleQueue()
        self._threads: list[Thread] = []
        self._wanted = 0  # calls that were made and have not ended
        self._stuck = 0  # those of them that run and that nobody waits for

    def make(self, work: Callable[[], T], patience: float) -> Call[T]:
        """Make a call and give it back when it has ended, well or badly.

        Raises StoreUnavailableError when that takes more than `patience` seconds (it may still succeed later), and at once
        while every hand is in a call that took so long.
        """
        call = Call(work)
        with self._lock:
            if self._stuck == self._count:
                raise StoreUnavailableError("every call to the store hangs")
            self._wanted += 1
            if len(self._threads) < min(self._wanted, self._count):
                self._begin()
            self._calls.put(call)
        if not call.ended.wait(patience) and self._give_up(call):
            raise StoreUnavailableError(f"the store did not answer within {patience:g} seconds")
        return call

    def result(self, work: Callable[[], T], patience: float) -> T:
        """Give what the work gives and raise what it raises; otherwise like `make`."""
        call = self.make(work, patience)
        if call.error is not None:
            raise call.error
        return call.results[0]

    def close(self) -> None:
        """Let the threads end, each after its call."""
        with self._lock:
            for _ in self._threads:
                self._calls.put(None)
            self._threads = []

    def _begin(self) -> None:
        # A daemon: a call that hangs must not keep the process from ending.
        self._threads.append(Thread(target=self._work, name="store-hand", daemon=True))
        self._threads[-1].start()

    def _work(self) -> None:
        while (call := self._calls.get()) is not None:
            with self._lock:
                call.begun = not call.given_up
            if call.begun:
                call.run()
            with self._lock:
                self._wanted -= 1
                self._stuck -= call.begun and call.given_up

    def _give_up(self, call: Call[T]) -> bool:
        """Stop waiting for the call, unless it ends in this very moment."""
        with self._lock:
            if call.ended.is_set():
                return False
            call.given_up = True
            self._stuck += call.begun
            return True
