"""The account of a run: who was answered how often, in which order, and what nobody can explain. Pure: it only compares."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Final

from tests.faults.record import ACKNOWLEDGED, REJECTED, UNREACHED, Attempt, InboxRow, OutboxRow, Question, Record, Take

# How far a reply has come, as callbacks tell it; what is not listed says nothing about progress.
PROGRESS: Final = {"pending": 0, "queued": 1, "sending": 1, "sent": 2, "delivered": 3, "read": 4, "undelivered": 5, "failed": 5}
# What must be empty after any run. A message may be set aside: to be taken by three workers that die is nobody's fault.
DEMANDED: Final = (
    "lost", "doubled", "unexpected", "mixed", "disordered", "refused", "rejected", "not stored", "not final", "unrecorded",
    "failed", "behind callbacks", "canaries",
)  # fmt: skip

# Says which parts the reply to a question has, given the limit that the message was over; None: any.
Expected = Callable[[Question, str | None], Sequence[str] | None]


@dataclass(frozen=True, slots=True)
class Account:
    """What came out: numbers, and the message ids behind every kind of fault."""

    counts: dict[str, int]
    faults: dict[str, list[str]] = field(default_factory=dict)

    @property
    def clean(self) -> bool:
        """Whether nothing is there that must not be."""
        return not any(self.faults.get(name) for name in DEMANDED)


class Ledger:
    """Pairs what was asked with what was sent."""

    def __init__(self, record: Record, expected: Expected) -> None:
        self._record = record
        self._expected = expected
        self._rows: dict[str, InboxRow] = {row.sid: row for row in record.inbox}
        self._parts: dict[int, list[OutboxRow]] = defaultdict(list)
        for row in record.outbox:
            self._parts[row.inbox_id].append(row)
        self._attempts: dict[str, list[Attempt]] = defaultdict(list)
        for attempt in record.attempts:
            self._attempts[attempt.sid].append(attempt)
        self._wanted: dict[tuple[str, str], list[tuple[str, int]]] = defaultdict(list)
        self._sends: dict[tuple[str, int], list[Take]] = defaultdict(list)
        self._unpaired: list[Take] = []
        self._pair()

    def _pair(self) -> None:
        """Give every message that was taken to the part of the reply that it is."""
        for sid in self._attempts:
            question = self._record.questions[sid]
            for number, text in enumerate(self.parts(sid)):
                self._wanted[question.sender, text].append((sid, number))
        for take in sorted(self._record.takes, key=lambda take: take.at):
            places = self._wanted.get((take.recipient, take.body))
            if not places:
                self._unpaired.append(take)
                continue
            # Equal texts to one person can only be told apart by their number: the least often sent comes first.
            self._sends[min(places, key=lambda place: len(self._sends[place]))].append(take)

    def parts(self, sid: str) -> Sequence[str]:
        """Give the parts that the reply to a message must have."""
        row = self._rows.get(sid)
        expected = self._expected(self._record.questions[sid], row.over_limit if row else None)
        if expected is not None:
            return expected
        return [part.body for part in sorted(self._parts[row.id], key=lambda part: part.part)] if row else ()

    def acknowledged(self) -> dict[str, float]:
        """Give when each message was acknowledged first."""
        first: dict[str, float] = {}
        for attempt in self._record.attempts:
            if attempt.outcome == ACKNOWLEDGED:
                first[attempt.sid] = min(attempt.ended, first.get(attempt.sid, attempt.ended))
        return first

    def answered_at(self) -> dict[str, float]:
        """Give when the first part of each reply was taken."""
        return {sid: sends[0].at for (sid, part), sends in self._sends.items() if part == 0 and sends}

    def completed_at(self) -> dict[str, float]:
        """Give when the last part of each whole reply was taken."""
        whole = {}
        for sid in self._attempts:
            sends = [self._sends.get((sid, number)) for number in range(len(self.parts(sid)))]
            if sends and all(sends):
                whole[sid] = max(takes[0].at for takes in sends if takes)
        return whole

    def account(self) -> Account:
        """Compare everything with everything."""
        acknowledged = self.acknowledged()
        disordered, crossed = self._inversions(acknowledged)
        faults = {
            "lost": [sid for sid in acknowledged if self._missing(sid)],
            "doubled": [f"{sid}.{part}" for (sid, part), sends in self._sends.items() if len(sends) > 1],
            "unexpected": [self._described(take) for take in self._unpaired],
            "mixed": list(self._mixed().values()),
            "disordered": disordered,
            "crossed": crossed,
            **self._unacknowledged(acknowledged),
            **self._stored(),
            "behind callbacks": list(self._behind()),
            "canaries": list(self._record.canaries),
        }
        return Account(self._counts(acknowledged, faults), faults)

    def _missing(self, sid: str) -> bool:
        row = self._rows.get(sid)
        if row is not None and row.over_limit is not None and not self._parts[row.id]:
            return False  # stored, and left unanswered as the limits say
        parts = self.parts(sid)
        return not parts or any(not self._sends.get((sid, number)) for number in range(len(parts)))

    def _described(self, take: Take) -> str:
        asked = any(question.sender == take.recipient for question in self._record.questions.values())
        return f"{take.sid} ({'text' if asked else 'recipient'} that nobody expects)"

    def _mixed(self) -> dict[str, str]:
        """Find replies whose parts came in another order, or with another reply to the same person in between."""
        by_person: dict[str, list[tuple[float, str, int]]] = defaultdict(list)
        for (sid, part), sends in self._sends.items():
            for take in sends:
                by_person[take.recipient].append((take.at, sid, part))
        mixed = {}
        for sent in by_person.values():
            for (_, before, earlier), (_, sid, part) in pairwise(sorted(sent)):
                if (part > 0 and before != sid) or (before == sid and part < earlier):
                    mixed[sid] = f"{sid}.{part} after {before}.{earlier}"
        return mixed

    def _inversions(self, acknowledged: dict[str, float]) -> tuple[list[str], list[str]]:
        """Find messages of a sender that were answered before one that had been acknowledged when they were posted."""
        answered = self.answered_at()
        by_sender: dict[str, list[str]] = defaultdict(list)
        for sid in acknowledged:
            if sid in answered:
                by_sender[self._record.questions[sid].sender].append(sid)
        disordered, crossed = [], []
        for sids in by_sender.values():
            for later in sids:
                posted = min(attempt.started for attempt in self._attempts[later])
                overtaken = [sid for sid in sids if acknowledged[sid] <= posted and answered[sid] > answered[later]]
                for sid in overtaken:
                    one = len(self._listeners(sid) | self._listeners(later)) == 1
                    (disordered if one else crossed).append(f"{later} before {sid}")
        return disordered, crossed

    def _listeners(self, sid: str) -> set[int]:
        return {attempt.listener for attempt in self._attempts[sid] if attempt.outcome != UNREACHED}

    def _unacknowledged(self, acknowledged: Iterable[str]) -> dict[str, list[str]]:
        known = set(acknowledged)
        return {
            "refused": [sid for sid in self._attempts if sid not in known],
            "rejected": [attempt.sid for attempt in self._record.attempts if attempt.outcome == REJECTED],
            "not stored": [sid for sid in known if sid not in self._rows],
        }

    def _stored(self) -> dict[str, list[str]]:
        taken = {take.sid for take in self._record.takes}
        rows = self._record.outbox
        recorded = {row.provider_sid for row in rows} | {sid for row in rows for sid in row.superseded}
        return {
            "not final": [str(row.id) for row in rows if row.unsettled or row.status == "pending"],
            "failed": [f"{row.id} ({row.error_code})" for row in rows if row.status in {"failed", "undelivered"}],
            "unrecorded": sorted(taken - recorded),
            "limited": [row.sid for row in self._record.inbox if row.over_limit is not None],
            "set aside": [row.sid for row in self._record.inbox if row.set_aside],
        }

    def _behind(self) -> Iterator[str]:
        """Find replies whose row is behind what an acknowledged callback said."""
        rows = {row.id: row for row in self._record.outbox}
        for told in self._record.told:
            row = rows.get(told.reply)
            if row is None or PROGRESS.get(row.status, 0) < PROGRESS.get(told.status, 0):
                yield f"{told.reply}: {told.status}, recorded as {row.status if row else 'nothing'}"

    def _counts(self, acknowledged: dict[str, float], faults: dict[str, list[str]]) -> dict[str, int]:
        attempts = self._record.attempts
        return {
            "attempted": len(self._attempts),
            "acknowledged": len(acknowledged),
            "answered": len(self.completed_at()),
            "posts": len(attempts),
            "duplicates posted": sum(attempt.duplicate for attempt in attempts),
            "posts not acknowledged": sum(attempt.outcome != ACKNOWLEDGED for attempt in attempts),
            "replies taken": len(self._record.takes),
            "tries to send": sum(row.attempts for row in self._record.outbox),
            **{name: len(found) for name, found in faults.items()},
        }
