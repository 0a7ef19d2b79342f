"""Taking messages in and counting them, and paid answers, for the limits: in windows of a minute and of a day."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any, Final

import psycopg
from sqlalchemy import Engine

from clara.adapters.postgres.statements import AtOnce
from clara.delivery.limits import Admission, Counts, Limits, admit, reached
from clara.delivery.message import Lane, Limit
from clara.delivery.ports import StoreUnavailableError

# Rows that everyone's count is spread over. Connections have neighbouring process numbers, so they hardly ever share one of so
# many; adding all of them up costs nothing that shows (.8 ms for a count, as with one row). Sixteen connections that stored a
# message in 2 ms each made 224 a second on one row, 793 on 16, 806 on 256.
SHARDS: Final = 256
# A day is the longest window, and WhatsApp takes no answer to a message that waited longer than that.
KEPT_DAYS: Final = 2
NO_LIMITS: Final = Limits(0, 0, 0, 0)  # what is bound where nothing is counted
_BY_MINUTE: Final = frozenset({Limit.SENDER_MINUTE, Limit.EVERYONE_MINUTE})


@dataclass(frozen=True, slots=True)
class TurnTask:
    """What the turn of a message is to the job engine."""

    queue: str
    task: str


# The lanes as the job engine knows them. Workers of an earlier release take the highest first, and make no other difference.
PRIORITIES: Final = {Lane.EMERGENCY: 1, Lane.ORDINARY: 0, Lane.LONG: -1}
EMERGENCY_LOCK: Final = "emergency:"


def job_of(name: str, lane: Lane) -> dict[str, str | int]:
    """Give priority and lock of a message's job. A sender's turns follow each other, but no emergency waits for the others."""
    return {"priority": PRIORITIES[lane], "lock": EMERGENCY_LOCK + name if lane is Lane.EMERGENCY else name}


def take_in(
    at_once: AtOnce, message: Mapping[str, Any], limits: Limits | None, kind: TurnTask, lane: Lane = Lane.ORDINARY
) -> Admission | None:
    """Store a message, count it and schedule its turn, or its notice; None when it was known. `limits` None: there are none.

    One statement. A message over a limit takes a second one: where each commits by itself and the process dies between them,
    upkeep finds the message without a job, and it is answered. Another message of the same sender waits meanwhile. The
    driver's errors come through.
    """
    name = message["pseudonym"]
    job = {"queue": kind.queue, "task": kind.task, "pseudonym": name, **job_of(name, lane)}
    asked = {**message, **job, **asdict(limits or NO_LIMITS), "counted": limits is not None, "shards": SHARDS}
    row = at_once.row("accept_message", **asked)
    if row is None:
        return None
    if limits is None or row.scheduled:
        return Admission()
    counts = Counts(row.sender_minute, row.sender_day, row.everyone_minute, row.everyone_day)
    limit = reached(counts, limits)
    if limit is None:
        return Admission()
    window = row.minute if limit in _BY_MINUTE else row.day
    refusal = {"id": row.id, **job, "over_limit": limit.value, "window_start": window}
    (refused,) = at_once.rows("refuse_message", **refusal)
    return admit(replace(counts, refused=refused.used), limits)


class PostgresBudget:
    """Implements delivery's Budget: so many answers with a paid model a day, for each sender and for all together."""

    def __init__(self, engine: Engine, sender_per_day: int, everyone_per_day: int) -> None:
        self._at_once = AtOnce(engine, StoreUnavailableError)
        self._shares = {"sender_per_day": sender_per_day, "everyone_per_day": everyone_per_day}

    def spend(self, pseudonym: str) -> bool:
        """Take one answer from both shares of the day, or from neither. Raises StoreUnavailableError."""
        with self._at_once.transaction() as together:
            taken = bool(together.value("spend_answer", pseudonym=pseudonym, **self._shares))
            if not taken:
                raise psycopg.Rollback
        return taken


class PostgresAllowance:
    """Implements the guards' Allowance: so many calls of a provider a day, counted for all processes together."""

    def __init__(self, engine: Engine, provider: str, per_day: int) -> None:
        self._at_once = AtOnce(engine, StoreUnavailableError)
        self._asked = {"scope": f"calls:{provider}", "per_day": per_day}

    def spend(self) -> bool:
        """Take one of the day's calls; False when none is left. Raises StoreUnavailableError."""
        return self._at_once.row("spend_call", **self._asked) is not None
