"""Taking messages in: row and job are stored by one statement, before the channel gets its acknowledgement."""

import hashlib
import hmac
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any, Final

import psycopg
from sqlalchemy import Engine
from sqlalchemy.exc import DBAPIError
from sqlalchemy.exc import TimeoutError as PoolTimeoutError

from clara.adapters.postgres.connections import blames_values, described, is_outage, named
from clara.adapters.postgres.corpus.index import storable
from clara.adapters.postgres.delivery.usage import EMERGENCY_LOCK, PRIORITIES, TurnTask, take_in
from clara.adapters.postgres.statements import AtOnce
from clara.delivery.limits import Limits
from clara.delivery.message import Incoming, Lane, LocalReply
from clara.delivery.ports import RefusedError, Sealer, StoreRefusesError, StoreUnavailableError
from clara.delivery.records import seal_address


@contextmanager
def refusals(table: str) -> Iterator[None]:
    """Turn everything that the driver raises into delivery's errors; `table` is where the values were to go.

    RefusedError: the values are at fault. StoreUnavailableError: the server is away. StoreRefusesError: it is there, and says
    no. The driver's own error is not chained: its details quote what a person wrote.
    """
    try:
        yield
    except (DBAPIError, PoolTimeoutError, psycopg.Error) as error:
        raise _told(error, table) from None


def _told(error: Exception, table: str) -> Exception:
    if blames_values(error, table):
        return RefusedError(f"PostgreSQL takes no such values ({named(error)})")
    if is_outage(error):
        return StoreUnavailableError(described(error))
    return StoreRefusesError(f"PostgreSQL answers and takes nothing in ({named(error)}). Its log says why: mend it there.")


# Schedules the turn of an inbox row on the driver's own connection, inside its transaction: (connection, row id, pseudonym).
Schedule = Callable[[Any, int, str], None]


# The channels of the first releases, whose people keep the names that they have. Their addresses hold no NUL.
UNSCOPED: Final = frozenset({"whatsapp", "local"})


def pseudonym(key: str, address: str, channel: str = "whatsapp") -> str:
    """Name a sender without revealing the address: keyed, because all Spanish mobiles can be hashed in two minutes.

    Two channels never give one name, whatever their addresses look like.
    """
    scoped = address if channel in UNSCOPED else f"{channel}\0{address}"
    return hmac.new(key.encode(), scoped.encode("utf-8", "replace"), hashlib.sha256).hexdigest()


class PostgresInbox:
    """Implements delivery's Inbox, and reads replies back for the local chat page. `limits` None: there are none."""

    def __init__(self, engine: Engine, key: str, sealer: Sealer, kind: TurnTask, limits: Limits | None = None) -> None:
        self._accepting = AtOnce(engine)
        self._at_once = AtOnce(engine, StoreUnavailableError)
        self._key = key
        self._sealer = sealer
        self._kind = kind
        self._limits = limits

    def accept(self, incoming: Incoming) -> bool:
        """Store and schedule; False when the message was known already. Raises StoreUnavailableError, RefusedError.

        A message over a limit is stored and not scheduled, but for the one that is answered with the notice.
        """
        name = pseudonym(self._key, incoming.sender, incoming.channel)
        row = self._row(incoming, name)
        with refusals("inbox"):
            return take_in(self._accepting, row, self._limits, self._kind, incoming.lane) is not None

    def hasten(self, sid: str) -> bool:
        """Move a stored message to the lane of emergencies; False when none of that id waits. Raises StoreUnavailableError."""
        moved = {"sid": storable(sid), "priority": PRIORITIES[Lane.EMERGENCY], "lock": EMERGENCY_LOCK}
        return bool(self._at_once.changed("hasten", **moved))

    def _row(self, incoming: Incoming, name: str) -> dict[str, Any]:
        stored = replace(
            incoming,
            sid=storable(incoming.sid),
            sender=storable(incoming.sender),
            recipient=storable(incoming.recipient),
        )
        return {
            "message_sid": stored.sid,
            "channel": stored.channel,
            "pseudonym": name,
            "address": seal_address(stored, self._sealer),
            "body": None if stored.text is None else storable(stored.text),
            "media_types": [storable(kind) for kind in stored.media_types],
            "recordings": list(stored.recordings),
            "received_at": stored.received_at,
        }

    def reply_to(self, sid: str) -> LocalReply | None:
        """Give the reply to a message; None while there is none. Raises KeyError when the message is unknown."""
        rows = self._at_once.rows("turn.reply_to", sid=storable(sid))
        if not rows:
            raise KeyError(sid)
        if rows[0].body is None:
            return None
        return LocalReply("\n\n".join(row.body for row in rows), rows[0].language)
