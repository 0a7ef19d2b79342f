"""Counting messages and paid answers for the limits, in windows of a minute and of a day."""

from dataclasses import asdict, replace
from datetime import datetime
from typing import Final

from sqlalchemy import Connection, Engine
from sqlalchemy.dialects.postgresql import insert as upsert

from clara.adapters.postgres.desk import outages
from clara.adapters.postgres.schema import usage
from clara.adapters.postgres.sql import statement
from clara.delivery.limits import Counts, Limits, reached
from clara.delivery.message import Limit

# Rows that everyone's count is spread over. Connections have neighbouring process numbers, so they hardly ever share one of so
# many; adding all of them up costs nothing that shows (.8 ms for a count, as with one row). Sixteen connections that stored a
# message in 2 ms each made 224 a second on one row, 793 on 16, 806 on 256.
SHARDS: Final = 256
# A day is the longest window, and WhatsApp takes no answer to a message that waited longer than that.
KEPT_DAYS: Final = 2
_BY_MINUTE: Final = frozenset({Limit.SENDER_MINUTE, Limit.EVERYONE_MINUTE})


def count(connection: Connection, pseudonym: str, limits: Limits, received_at: datetime | None = None) -> Counts:
    """Count a message in the transaction that stores it, once for each message; None: it was received now.

    Another message of the same sender waits until this transaction ends. The driver's errors come through.
    """
    asked = {**asdict(limits), "pseudonym": pseudonym, "received_at": received_at, "shards": SHARDS}
    row = connection.execute(statement("count_message"), asked).one()
    counts = Counts(row.sender_minute, row.sender_day, row.everyone_minute, row.everyone_day)
    limit = reached(counts, limits)
    if limit is None:
        return counts
    window = row.minute if limit in _BY_MINUTE else row.day
    return replace(counts, refused=_refused(connection, f"refused_{limit.value}:{pseudonym}", window))


def _refused(connection: Connection, scope: str, window: datetime) -> int:
    """Count a refusal; give how many there were in the window, this one included."""
    first = upsert(usage).values(scope=scope, window_start=window, used=1)
    again = first.on_conflict_do_update(constraint=usage.primary_key, set_={"used": usage.c.used + 1})
    return int(connection.execute(again.returning(usage.c.used)).scalar_one())


class PostgresBudget:
    """Implements delivery's Budget: so many answers with a paid model a day, for each sender and for all together."""

    def __init__(self, engine: Engine, sender_per_day: int, everyone_per_day: int) -> None:
        self._engine = engine
        self._shares = {"sender_per_day": sender_per_day, "everyone_per_day": everyone_per_day}

    def spend(self, pseudonym: str) -> bool:
        """Take one answer from both shares of the day, or from neither. Raises StoreUnavailableError."""
        with outages(), self._engine.connect() as connection:
            taken = bool(connection.scalar(statement("spend_answer"), {**self._shares, "pseudonym": pseudonym}))
            if taken:
                connection.commit()
            else:
                connection.rollback()
        return taken


class PostgresAllowance:
    """Implements the guards' Allowance: so many calls of a provider a day, counted for all processes together."""

    def __init__(self, engine: Engine, provider: str, per_day: int) -> None:
        self._at_once = engine.execution_options(isolation_level="AUTOCOMMIT")
        self._asked = {"scope": f"calls:{provider}", "per_day": per_day}

    def spend(self) -> bool:
        """Take one of the day's calls; False when none is left. Raises StoreUnavailableError."""
        with outages(), self._at_once.connect() as connection:
            return connection.execute(statement("spend_call"), self._asked).scalar() is not None


def purge(engine: Engine) -> int:
    """Drop the windows older than two days; give how many rows went. Raises StoreUnavailableError."""
    with outages(), engine.begin() as connection:
        return connection.execute(statement("forget_usage"), {"days": KEPT_DAYS}).rowcount
