"""Taking in what the channel sends: into the store, and onto this machine's disk while the store is away or slow.

What was acknowledged first enters the store first: from the moment that something waits in the spool everything goes there,
and the way back is opened only when nothing waits and nothing is being appended.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from threading import Condition, Event, Lock, Thread
from typing import Final

import structlog

from clara.delivery.hands import Call, Hands
from clara.delivery.message import Incoming, Report
from clara.delivery.moving import CONTEXT, Mover
from clara.delivery.ports import (
    DeliveryReports,
    Inbox,
    Sealer,
    Spool,
    SpoolFullError,
    SpoolUnavailableError,
    StoreUnavailableError,
)
from clara.delivery.records import written

# Twilio reads for 15 s; our goal is to acknowledge within 1 s with the database down, and the spool needs some of that.
PATIENCE_SECONDS: Final = 0.8
# As many as the web server has threads: more would never work at the same time.
HANDS: Final = 8
DRAIN_EVERY_SECONDS: Final = 0.25
# When no more than so many were left, the door is held while the last ones go in, which takes some 20 ms.
LAST_ONES: Final = 16
# So long new ones wait at the held door; then they go to the spool, and the way back is opened another time.
HOLD_SECONDS: Final = 0.15
STOP_SECONDS: Final = 1.0
log = structlog.get_logger()


class _StoppedError(Exception):
    """Nobody wants the draining to go on."""


@dataclass(frozen=True, slots=True)
class Timing:
    """The clock that gives the time with its zone, and how many seconds the store has to acknowledge."""

    now: Callable[[], datetime] = lambda: datetime.now(UTC)
    patience: float = PATIENCE_SECONDS


class SpoolingInbox:
    """Implements Inbox and DeliveryReports over those of the store, with a spool beside them; safe between threads.

    `on_bad` gets the records that cannot be read, or that the store refuses: they must not hold up the others. What the store
    refuses without having been away is raised, and not spooled.
    """

    def __init__(
        self,
        inbox: Inbox,
        reports: DeliveryReports,
        spool: Spool,
        sealer: Sealer,
        on_bad: Callable[[bytes], None],
        timing: Timing = Timing(),
    ) -> None:
        self._inbox = inbox
        self._reports = reports
        self._spool = spool
        self._sealer = sealer
        self._timing = timing
        self._hands = Hands(HANDS)
        self._mover = Mover(inbox, reports, sealer, on_bad)
        self._draining = Lock()
        self._door = Condition()  # for the three fields below: together they say where the next one goes
        self._spooling = spool.waiting() > 0
        self._appending = 0
        self._held = False
        self._reachable = False  # the store answered since it was left

    def accept(self, incoming: Incoming) -> bool:
        """Keep the message; False when the store knew it already. Raises StoreUnavailableError when nothing can keep it."""
        return self._keep(incoming)

    def delivery(self, report: Report) -> bool:
        """Keep the report; False when the store knows no such reply. Raises StoreUnavailableError when nothing can keep it."""
        if self._spooling and self._reachable:  # reports need no order: they do not queue behind messages that are moved on
            try:
                return self._hands.result(lambda: self._store(report), self._timing.patience)
            except StoreUnavailableError:
                self._reachable = False
        return self._keep(report)

    def drain(self, probe: Callable[[], None], going: Callable[[], bool] = lambda: True) -> int:
        """Move what waits into the store, in order, until it is away again or `going` says no; give how many went.

        `probe` asks a store that was away for nothing, and raises StoreUnavailableError when it still is. Raises
        SpoolUnavailableError when a bad record cannot be set aside.
        """
        moved = 0

        def move(records: Sequence[bytes]) -> None:
            nonlocal moved
            if not going():
                raise _StoppedError
            self._mover.move(records)
            moved += len(records)
            self._reachable = True

        with self._draining:
            try:
                if self._spooling:
                    self._mover.call(probe)
                    self._reachable = True
                while self._spool.drain(move) > LAST_ONES:
                    pass  # what came meanwhile
                self._go_back(move)
            except _StoppedError:
                pass
            except StoreUnavailableError as error:
                self._leave(error)
            finally:
                if moved:
                    log.info("spool drained", count=moved)
        return moved

    def close(self) -> None:
        """Let the threads end."""
        self._hands.close()
        self._mover.close()

    def _keep(self, item: Incoming | Report) -> bool:
        if self._enters_directly():
            try:
                return self._hands.result(lambda: self._store(item), self._timing.patience)
            except StoreUnavailableError as error:
                self._leave(error, appending=1)
        try:
            self._spool.append(self._sealer.seal(written(item, self._timing.now), CONTEXT))
        except (SpoolFullError, SpoolUnavailableError) as error:
            raise StoreUnavailableError(str(error)) from error
        finally:
            with self._door:
                self._appending -= 1
                self._door.notify_all()
        log.info("message spooled", part=type(item).__name__.lower())
        return True

    def _store(self, item: Incoming | Report) -> bool:
        return self._inbox.accept(item) if isinstance(item, Incoming) else self._reports.delivery(item)

    def _enters_directly(self) -> bool:
        """Decide where it goes; whoever is sent to the spool is counted as appending from this moment."""
        with self._door:
            self._door.wait_for(lambda: not self._held, HOLD_SECONDS)
            self._appending += self._spooling
            return not self._spooling

    def _leave(self, error: StoreUnavailableError, appending: int = 0) -> None:
        with self._door:
            left, self._spooling, self._reachable = not self._spooling, True, False
            self._appending += appending
        if left:
            log.warning("store is away", reason=str(error))

    def _go_back(self, move: Callable[[Sequence[bytes]], None]) -> None:
        """Open the direct way again if nothing is before it.

        New ones are held for a moment meanwhile: or on a busy day, with a slow disk, somebody would always be appending.
        """
        with self._door:
            if not self._spooling:
                return
            self._held = True
            self._door.wait_for(lambda: not self._appending, HOLD_SECONDS)
        try:
            self._spool.drain(move)
        finally:
            with self._door:
                back = not self._appending and not self._spool.waiting()
                self._spooling, self._held = not back, False
                self._door.notify_all()
        if back:
            log.info("store is back")


class Drainer:
    """A thread that moves what waits in the spool as soon as the store is back; looks every `every` seconds.

    `probe` asks the store for nothing, and raises StoreUnavailableError when it is away.
    """

    def __init__(self, receiving: SpoolingInbox, probe: Callable[[], None], every: float = DRAIN_EVERY_SECONDS) -> None:
        self._receiving = receiving
        self._probe = probe
        self._every = every
        self._stopped = Event()
        self._thread = Thread(target=self._run, name="spool-drainer", daemon=True)

    def start(self) -> None:
        """Begin, with what dead processes left."""
        self._thread.start()

    def stop(self) -> None:
        """End within a second; a call to the store that hangs is left behind."""
        self._stopped.set()
        self._thread.join(STOP_SECONDS)

    def _run(self) -> None:
        told = ""
        while True:
            call = Call(lambda: self._receiving.drain(self._probe, lambda: not self._stopped.is_set()))
            call.run()
            if call.error is not None and repr(call.error) != told:
                log.error("spool not drained", exc_info=call.error)
            told = repr(call.error)
            if self._stopped.wait(self._every):
                return
