"""Calls that another thread makes, so that one that hangs holds up nobody else."""

from collections.abc import Callable
from concurrent.futures import Future, wait
from contextlib import ExitStack
from functools import partial
from queue import SimpleQueue
from threading import Lock, Thread
from types import TracebackType
from typing import Any, TypeVar

from clara.delivery.ports import StoreUnavailableError

T = TypeVar("T")


def settle(future: Future[T], work: Callable[[], T]) -> None:
    """Make a call; what it gives, or whatever it raises, is the future's."""
    with ExitStack() as told:
        told.push(partial(_failed, future))
        future.set_result(work())


def _failed(
    future: Future[Any], _kind: type[BaseException] | None, error: BaseException | None, _trace: TracebackType | None
) -> bool:
    if error is not None:
        future.set_exception(error)
    return isinstance(error, Exception)


class Hands:
    """At most `count` threads that call the store; each begins when the others are busy."""

    def __init__(self, count: int) -> None:
        self._count = count
        self._lock = Lock()
        self._calls: SimpleQueue[tuple[Future[Any], Callable[[], Any]] | None] = SimpleQueue()
        self._threads: list[Thread] = []
        self._wanted = 0  # calls that were made and have not ended
        self._stuck: set[Future[Any]] = set()  # those of them that run and that nobody waits for

    def make(self, work: Callable[[], T], patience: float) -> Future[T]:
        """Make a call and give it back when it has ended, well or badly.

        Raises StoreUnavailableError when that takes more than `patience` seconds (it may still succeed later), and at once
        while every hand is in a call that took so long.
        """
        call: Future[T] = Future()
        with self._lock:
            if len(self._stuck) == self._count:
                raise StoreUnavailableError("every call to the store hangs")
            self._wanted += 1
            if len(self._threads) < min(self._wanted, self._count):
                self._begin()
            self._calls.put((call, work))
        if not wait([call], patience).done and self._give_up(call):
            raise StoreUnavailableError(f"the store did not answer within {patience:g} seconds")
        return call

    def result(self, work: Callable[[], T], patience: float) -> T:
        """Give what the work gives and raise what it raises; otherwise like `make`."""
        return self.make(work, patience).result()

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
        while (taken := self._calls.get()) is not None:
            call, work = taken
            if call.set_running_or_notify_cancel():
                settle(call, work)
            with self._lock:
                self._wanted -= 1
                self._stuck.discard(call)

    def _give_up(self, call: Future[Any]) -> bool:
        """Stop waiting for the call, unless it ends in this very moment."""
        with self._lock:
            if not call.cancel() and not call.done():
                self._stuck.add(call)
            return call.cancelled() or call in self._stuck
