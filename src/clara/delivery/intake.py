"""Taking in what a channel sends: into the store, onto this machine's disk while it is away, and from there into it."""

from collections.abc import Callable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from datetime import UTC, datetime
from threading import Condition, Event, Lock, Thread
from typing import Final, TypeAlias

import structlog

from clara.delivery import ports
from clara.delivery.bounded_executor import Hands, settle
from clara.delivery.message import Incoming, Report
from clara.delivery.records import read, written
from clara.errors import Refused

# What waits already may take longer than a call that somebody waits for, but none may keep the others in the spool for ever.
DRAIN_PATIENCE_SECONDS: Final = 3.0
# So that calls which hang do not stop the next look at the store.
DRAINING_HANDS: Final = 4
# A record that is refused may have met a deadlock or another accident of the moment.
TRIES: Final = 3
CONTEXT: Final = "spool"
Item: TypeAlias = Incoming | Report
Entry: TypeAlias = tuple[bytes, Item]
Bad: TypeAlias = tuple[bytes, BaseException]
log = structlog.get_logger()


class Mover:
    """Opens records and stores them; `on_bad` gets those that cannot be read, or that the store refuses."""

    def __init__(self, store: Callable[[Item], bool], sealer: ports.Sealer, on_bad: Callable[[bytes], None]) -> None:
        self._store_one = store
        self._sealer = sealer
        self._on_bad = on_bad
        self._hands = Hands(DRAINING_HANDS)

    def move(self, records: Sequence[bytes]) -> None:
        """Store the records, in their order. May be repeated: the store knows those that it has.

        Raises StoreUnavailableError, and SpoolUnavailableError when a bad record cannot be set aside; some may be stored then.
        """
        bad: list[Bad] = []
        items: list[Entry] = []
        for record in records:
            try:
                items.append((record, read(self._sealer.open(record, CONTEXT))))
            except (ports.UnsealableError, ValueError, LookupError, TypeError) as unreadable:
                bad.append((record, unreadable))
        call = self._hands.make(lambda: self._store([item for _, item in items]), DRAIN_PATIENCE_SECONDS)
        if away := _away(call.exception()):
            raise away
        if call.exception() is not None:
            bad += self._one_by_one(items)
        for record, reason in bad:  # last, because what cannot be finished is repeated
            self._on_bad(record)
            # Not the error's own text: it may hold what a person wrote.
            log.error("message set aside", reason=type(reason).__name__)

    def call(self, work: Callable[[], None]) -> None:
        """Do something with the store, as patiently as with records. Raises what it raises, and StoreUnavailableError."""
        self._hands.result(work, DRAIN_PATIENCE_SECONDS)

    def close(self) -> None:
        """Let the threads end."""
        self._hands.close()

    def _store(self, items: Sequence[Item]) -> None:
        for item in items:
            self._store_one(item)

    def _one_by_one(self, entries: Sequence[Entry]) -> list[Bad]:
        """Store each alone; give those that are at fault themselves, with the reason. Raises StoreUnavailableError.

        A store that refuses may do so to everybody. Who is refused although one behind them is taken is at fault; while nobody
        behind them is, the store may be, and everything stays.
        """
        bad: list[Bad] = []
        accused: list[Entry] = []
        unsure: list[Entry] = []
        taken: Item | None = None
        for record, item in entries:
            # That it is no accident of the moment is known after the first.
            refusal = self._refusal(item, tries=1 if unsure else TRIES)
            if isinstance(refusal, ports.StoreRefusesError):
                unsure.append((record, item))
                last = refusal
            elif refusal is not None:
                bad.append((record, refusal))
            else:
                accused, unsure, taken = [*accused, *unsure], [], item
        if unsure:
            raise last
        blamed = [(record, refusal) for record, item in accused if (refusal := self._refusal(item)) is not None]
        if blamed and taken is not None and (refusal := self._refusal(taken)) is not None:
            raise refusal  # by now it refuses what it took
        return bad + blamed

    def _refusal(self, item: Item, tries: int = TRIES) -> BaseException | None:
        """Store one alone; say why the store refuses it. Raises StoreUnavailableError when the store is away."""
        refusal = None
        for _ in range(tries):
            refusal = self._hands.make(lambda: self._store([item]), DRAIN_PATIENCE_SECONDS).exception()
            if refusal is None or isinstance(refusal, ports.RefusedError):
                break
            if away := _away(refusal):
                raise away
        return refusal


def _away(error: BaseException | None) -> ports.StoreUnavailableError | None:
    """Give the error if it says that the store is away, and not that it refuses."""
    return error if isinstance(error, ports.StoreUnavailableError) and not isinstance(error, ports.StoreRefusesError) else None


# Channels wait for ten seconds or more; our goal is an acknowledgement within 1 s with the database down, the spool included.
PATIENCE_SECONDS: Final = 0.8
# As many as the web server has threads: more would never work at the same time.
HANDS: Final = 8
DRAIN_EVERY_SECONDS: Final = 0.25
# When no more than so many were left, the door is held while the last ones go in, which takes some 20 ms.
LAST_ONES: Final = 16
# So long new ones wait at the held door; then they go to the spool, and the way back is opened another time.
HOLD_SECONDS: Final = 0.15
STOP_SECONDS: Final = 1.0


class _StoppedError(Refused):
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
        inbox: ports.Inbox,
        reports: ports.DeliveryReports,
        spool: ports.Spool,
        sealer: ports.Sealer,
        on_bad: Callable[[bytes], None],
        timing: Timing = Timing(),
    ) -> None:
        self._inbox = inbox
        self._reports = reports
        self._spool = spool
        self._sealer = sealer
        self._timing = timing
        self._hands = Hands(HANDS)
        self._mover = Mover(self._store, sealer, on_bad)
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
            except ports.StoreUnavailableError:
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
            except ports.StoreUnavailableError as error:
                self._leave(error)
            finally:
                if moved:
                    log.info("spool drained", count=moved)
        return moved

    def close(self) -> None:
        """Let the threads end."""
        self._hands.close()
        self._mover.close()

    def _keep(self, item: Item) -> bool:
        if self._enters_directly():
            try:
                return self._hands.result(lambda: self._store(item), self._timing.patience)
            except ports.StoreUnavailableError as error:
                self._leave(error, appending=1)
        try:
            self._spool.append(self._sealer.seal(written(item, self._timing.now), CONTEXT))
        except (ports.SpoolFullError, ports.SpoolUnavailableError) as error:
            raise ports.StoreUnavailableError(str(error)) from error
        finally:
            with self._door:
                self._appending -= 1
                self._door.notify_all()
        log.info("message spooled", part=type(item).__name__.lower())
        return True

    def _store(self, item: Item) -> bool:
        return self._inbox.accept(item) if isinstance(item, Incoming) else self._reports.delivery(item)

    def _enters_directly(self) -> bool:
        """Decide where it goes; whoever is sent to the spool is counted as appending from this moment."""
        with self._door:
            self._door.wait_for(lambda: not self._held, HOLD_SECONDS)
            self._appending += self._spooling
            return not self._spooling

    def _leave(self, error: ports.StoreUnavailableError, appending: int = 0) -> None:
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
            drained: Future[int] = Future()
            settle(drained, lambda: self._receiving.drain(self._probe, lambda: not self._stopped.is_set()))
            error = drained.exception()
            if error is not None and repr(error) != told:
                log.error("spool not drained", exc_info=error)
            told = repr(error)
            if self._stopped.wait(self._every):
                return
