"""Taking messages in, and counting them and paid answers for the limits, in windows of a minute and of a day.

Row and job are stored by one statement, before the channel gets its acknowledgement.
"""

import hashlib
import hmac
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from typing import Any, Final

import psycopg
from sqlalchemy import Engine
from sqlalchemy.exc import DBAPIError
from sqlalchemy.exc import TimeoutError as PoolTimeoutError

from clara.adapters.postgres.connections import blames_values, described, is_outage, named
from clara.adapters.postgres.corpus.index import storable
from clara.adapters.postgres.statements import AtOnce
from clara.delivery.limits import Admission, Counts, Limits, admit, reached
from clara.delivery.message import Incoming, Lane, Limit, LocalReply
from clara.delivery.ports import RefusedError, Sealer, StoreRefusesError, StoreUnavailableError
from clara.delivery.records import seal_address

# Schedules the turn of an inbox row on the driver's own connection, inside its transaction: (connection, row id, pseudonym).
Schedule = Callable[[Any, int, str], None]
# The channels of the first releases, whose people keep the names that they have. Their addresses hold no NUL.
UNSCOPED: Final = frozenset({"whatsapp", "local"})
# Rows that everyone's count is spread over. Connections have neighbouring process numbers, so they hardly ever share one of so
# many; adding all of them up costs nothing that shows (.8 ms for a count, as with one row). Sixteen connections that stored a
# message in 2 ms each made 224 a second on one row, 793 on 16, 806 on 256.
SHARDS: Final = 256
# A day is the longest window, and WhatsApp takes no answer to a message that waited longer than that.
KEPT_DAYS: Final = 2
NO_LIMITS: Final = Limits(0, 0, 0, 0)  # what is bound where nothing is counted
_BY_MINUTE: Final = frozenset({Limit.SENDER_MINUTE, Limit.EVERYONE_MINUTE})
# The lanes as the job engine knows them. Workers of an earlier release take the highest first, and make no other difference.
PRIORITIES: Final = {Lane.EMERGENCY: 1, Lane.ORDINARY: 0, Lane.LONG: -1}
EMERGENCY_LOCK: Final = "emergency:"


@contextmanager
def refusals(table: str) -> Iterator[None]:
    """Turn everything that the driver raises into delivery's errors; `table` is where the values were to go.

    RefusedError: the values are at fault. StoreUnavailableError: the server is away. StoreRefusesError: it is there, and says
    no. The driver's own error is not chained: its details quote what a person wrote.
    """
    try:
        yield
    except (DBAPIError, PoolTimeoutError, psycopg.Error) as error:
        if blames_values(error, table):
            raise RefusedError(f"PostgreSQL takes no such values ({named(error)})") from None
        if is_outage(error):
            raise StoreUnavailableError(described(error)) from None
        msg = f"PostgreSQL answers and takes nothing in ({named(error)}). Its log says why: mend it there."
        raise StoreRefusesError(msg) from None


def pseudonym(key: str, address: str, channel: str = "whatsapp") -> str:
    """Name a sender without revealing the address: keyed, because all Spanish mobiles can be hashed in two minutes.

    Two channels never give one name, whatever their addresses look like.
    """
    scoped = address if channel in UNSCOPED else f"{channel}\0{address}"
    return hmac.new(key.encode(), scoped.encode("utf-8", "replace"), hashlib.sha256).hexdigest()


@dataclass(frozen=True, slots=True)
class TurnTask:
    """What the turn of a message is to the job engine."""

    queue: str
    task: str


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
        sid, sender, recipient = (storable(end) for end in (incoming.sid, incoming.sender, incoming.recipient))
        row = {
            "message_sid": sid,
            "channel": incoming.channel,
            "pseudonym": pseudonym(self._key, incoming.sender, incoming.channel),
            "address": seal_address(replace(incoming, sid=sid, sender=sender, recipient=recipient), self._sealer),
            "body": None if incoming.text is None else storable(incoming.text),
            "media_types": [storable(kind) for kind in incoming.media_types],
            "recordings": list(incoming.recordings),
            "received_at": incoming.received_at,
        }
        with refusals("inbox"):
            return take_in(self._accepting, row, self._limits, self._kind, incoming.lane) is not None

    def hasten(self, sid: str) -> bool:
        """Move a stored message to the lane of emergencies; False when none of that id waits. Raises StoreUnavailableError."""
        moved = {"sid": storable(sid), "priority": PRIORITIES[Lane.EMERGENCY], "lock": EMERGENCY_LOCK}
        return bool(self._at_once.changed("hasten", **moved))

    def reply_to(self, sid: str) -> LocalReply | None:
        """Give the reply to a message; None while there is none. Raises KeyError when the message is unknown."""
        rows = self._at_once.rows("turn.reply_to", sid=storable(sid))
        if not rows:
            raise KeyError(sid)
        if rows[0].body is None:
            return None
        return LocalReply("\n\n".join(row.body for row in rows), rows[0].language)


def take_in(
    at_once: AtOnce, message: Mapping[str, Any], limits: Limits | None, kind: TurnTask, lane: Lane = Lane.ORDINARY
) -> Admission | None:
    """Store a message, count it and schedule its turn, or its notice; None when it was known. `limits` None: there are none.

    One statement. A message over a limit takes a second one: where each commits by itself and the process dies between them,
    upkeep finds the message without a job, and it is answered. Another message of the same sender waits meanwhile: a sender's
    turns follow each other, but no emergency waits for the others. The driver's errors come through.
    """
    name = message["pseudonym"]
    lock = EMERGENCY_LOCK + name if lane is Lane.EMERGENCY else name
    job = {"queue": kind.queue, "task": kind.task, "pseudonym": name, "priority": PRIORITIES[lane], "lock": lock}
    asked = {**message, **job, **asdict(limits or NO_LIMITS), "counted": limits is not None, "shards": SHARDS}
    row = at_once.row("accept_message", **asked)
    if row is None:
        return None
    counts = None if row.scheduled else Counts(row.sender_minute, row.sender_day, row.everyone_minute, row.everyone_day)
    if limits is None or counts is None or (limit := reached(counts, limits)) is None:
        return Admission()
    window = row.minute if limit in _BY_MINUTE else row.day
    (refused,) = at_once.rows("refuse_message", id=row.id, **job, over_limit=limit.value, window_start=window)
    return admit(replace(counts, refused=refused.used), limits)


class PostgresBudget:
    """So many answers with a paid model a day, for each sender and for all together."""

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
