"""Moving what waited in the spool into the store: some at a time, and one by one where one of them is refused.

Another thread does it, and passing work to it waits for the interpreter: so it gets more than one record.
"""

from collections.abc import Callable, Sequence
from typing import Final, TypeAlias

import structlog

from clara.delivery.hands import Hands
from clara.delivery.message import Incoming, Report
from clara.delivery.ports import (
    DeliveryReports,
    Inbox,
    RefusedError,
    Sealer,
    StoreRefusesError,
    StoreUnavailableError,
    UnsealableError,
)
from clara.delivery.records import read

# What waits already may take longer than a call that somebody waits for, but none may keep the others in the spool for ever.
DRAIN_PATIENCE_SECONDS: Final = 3.0
# So that calls which hang do not stop the next look at the store.
DRAINING_HANDS: Final = 4
# A record that is refused may have met a deadlock or another accident of the moment.
TRIES: Final = 3
CONTEXT: Final = "spool"
Entry: TypeAlias = tuple[bytes, Incoming | Report]
Bad: TypeAlias = tuple[bytes, Exception]
log = structlog.get_logger()


class Mover:
    """Opens records and stores them; `on_bad` gets those that cannot be read, or that the store refuses."""

    def __init__(self, inbox: Inbox, reports: DeliveryReports, sealer: Sealer, on_bad: Callable[[bytes], None]) -> None:
        self._inbox = inbox
        self._reports = reports
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
            except (UnsealableError, ValueError, LookupError, TypeError) as unreadable:
                bad.append((record, unreadable))
        call = self._hands.make(lambda: self._store([item for _, item in items]), DRAIN_PATIENCE_SECONDS)
        if away := _away(call.error):
            raise away
        if call.error is not None:
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

    def _store(self, items: Sequence[Incoming | Report]) -> None:
        for item in items:
            if isinstance(item, Incoming):
                self._inbox.accept(item)
            else:
                self._reports.delivery(item)

    def _one_by_one(self, entries: Sequence[Entry]) -> list[Bad]:
        """Store each alone; give those that are at fault themselves, with the reason. Raises StoreUnavailableError.

        A store that refuses may do so to everybody. Who is refused although one behind them is taken is at fault; while nobody
        behind them is, the store may be, and everything stays.
        """
        bad: list[Bad] = []
        accused: list[Entry] = []
        unsure: list[Entry] = []
        taken: Incoming | Report | None = None
        for record, item in entries:
            # That it is no accident of the moment is known after the first.
            refusal = self._refusal(item, tries=1 if unsure else TRIES)
            if isinstance(refusal, StoreRefusesError):
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

    def _refusal(self, item: Incoming | Report, tries: int = TRIES) -> Exception | None:
        """Store one alone; say why the store refuses it. Raises StoreUnavailableError when the store is away."""
        refusal = None
        for _ in range(tries):
            refusal = self._hands.make(lambda: self._store([item]), DRAIN_PATIENCE_SECONDS).error
            if refusal is None or isinstance(refusal, RefusedError):
                break
            if away := _away(refusal):
                raise away
        return refusal


def _away(error: Exception | None) -> StoreUnavailableError | None:
    """Give the error if it says that the store is away, and not that it refuses."""
    return error if isinstance(error, StoreUnavailableError) and not isinstance(error, StoreRefusesError) else None
