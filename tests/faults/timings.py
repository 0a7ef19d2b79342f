"""How long things took, from a record and its ledger. Pure."""

import math
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from tests.faults.ledger import Ledger
from tests.faults.record import ACKNOWLEDGED, Record

# A turn takes less than this from its beginning; one that began earlier was not held by its worker any more.
HELD_SECONDS: Final = 5.0


@dataclass(frozen=True, slots=True)
class Spread:
    """How values spread, in seconds."""

    count: int
    p50: float
    p95: float
    p99: float
    most: float

    def __str__(self) -> str:
        if not self.count:
            return "none"
        return f"p50 {self.p50:.3f}  p95 {self.p95:.3f}  p99 {self.p99:.3f}  max {self.most:.3f} s  (of {self.count})"


def spread(values: Iterable[float]) -> Spread:
    """Describe values; the percentiles are values that occurred (nearest rank)."""
    known = sorted(values)
    if not known:
        return Spread(0, 0.0, 0.0, 0.0, 0.0)

    def rank(share: float) -> float:
        return known[max(0, math.ceil(share * len(known)) - 1)]

    return Spread(len(known), rank(0.5), rank(0.95), rank(0.99), known[-1])


def _within(moment: float, intervals: Sequence[tuple[float, float]]) -> bool:
    return any(start <= moment <= end for start, end in intervals)


def acknowledging(record: Record) -> dict[str, Spread]:
    """Measure the acknowledgements, counted from when each message was due: all of them, and those without a database."""
    waits = [
        (attempt.due, attempt.ended - attempt.due)
        for attempt in record.attempts
        if attempt.outcome == ACKNOWLEDGED and not attempt.duplicate
    ]
    return {
        "acknowledged": spread(wait for _, wait in waits),
        "acknowledged, database down": spread(wait for due, wait in waits if _within(due, record.down)),
    }


def replying(record: Record, ledger: Ledger, after: float = 0.0) -> Spread:
    """Measure from the acknowledgement to the last part of the reply, for what was acknowledged after a moment."""
    completed = ledger.completed_at()
    return spread(
        completed[sid] - moment for sid, moment in ledger.acknowledged().items() if sid in completed and moment >= after
    )


def resuming(record: Record, ledger: Ledger) -> Spread:
    """Measure from the kill of a worker to the replies to the messages that it had begun and not brought out."""
    answered = ledger.answered_at()
    begun: dict[int, list[tuple[float, str]]] = defaultdict(list)
    for beginning in record.begun:
        begun[beginning.pid].append((beginning.at, beginning.sid))
    waits = []
    for kill in record.kills:
        if kill.kind != "worker":
            continue
        own = sorted(begun[kill.pid])
        held = {sid for at, sid in own[bisect_left(own, (kill.at - HELD_SECONDS, "")) :] if at <= kill.at}
        waits += [answered[sid] - kill.at for sid in held if answered.get(sid, 0.0) > kill.at]
    return spread(waits)


def catching_up(record: Record, ledger: Ledger) -> Spread:
    """Measure, for every absence of the database, from its return to the reply to the last message that came meanwhile."""
    completed = ledger.completed_at()
    acknowledged = ledger.acknowledged()
    waits = []
    for start, end in record.down:
        replies = [completed[sid] for sid, at in acknowledged.items() if start <= at <= end and sid in completed]
        if replies:
            waits.append(max(replies) - end)
    return spread(waits)
