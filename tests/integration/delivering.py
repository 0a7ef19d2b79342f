"""A delivery store to test: its keys, its parts on one database, and a look at its rows."""

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from threading import Barrier
from typing import Any, TypeVar

from sqlalchemy import Engine, text

from clara.adapters.aes_gcm import AesGcmSealer
from clara.adapters.postgres.connections import open_engine
from clara.adapters.postgres.delivery.inbox import PostgresInbox, TurnTask, pseudonym
from clara.adapters.postgres.delivery.turn_store import PostgresDesk
from clara.adapters.procrastinate.engine import QUEUE, TASK
from clara.answering.message import Reply, ReplyStatus
from clara.delivery.limits import Limits
from clara.delivery.message import Case, Incoming
from clara.delivery.ports import ChannelLimits, Sender
from clara.delivery.turn_processor import Outlet

LIMITS = ChannelLimits(1_600, 24 * 3600.0, "63016")
KEY, OTHER_KEY = "c4e81f0a7d3952b6" * 4, "5d90b3f7e1a8c264" * 4
PSEUDONYM_KEY = "2b7e91c05f8da346" * 4
PERSON, OURS = "whatsapp:+34600000001", "whatsapp:+15555550100"
INCOMING = Incoming("SM1", "whatsapp", PERSON, OURS, "¿NIE?")
REPLY = Reply("una respuesta", ReplyStatus.ANSWERED, "es", "pgvector")
# The statements of the release before addresses were sealed, as they are in its code.
EARLIER_MESSAGE = """
    insert into inbox (message_sid, channel, pseudonym, sender, recipient, body, media_types)
    values (:sid, 'whatsapp', :name, :sender, :recipient, :body, '{}') on conflict do nothing returning id
"""
EARLIER_JOB = """
    insert into procrastinate_jobs (queue_name, task_name, priority, lock, args)
    values ('turns', 'take_turn', 0, :name, jsonb_build_object('inbox_id', cast(:id as bigint))) returning id
"""
EARLIER_REPLY = "insert into outbox (inbox_id, body) values (:id, :body) on conflict do nothing returning id"
EARLIER_SENT = """
    update outbox set updated_at = now(), status = case when (outbox.status = 'pending') then 'sent' else outbox.status end,
    provider_sid = :provider_sid where outbox.id = :id
"""
EARLIER_REFUSED = "update outbox set updated_at = now(), status = 'failed', error_code = :code where outbox.id = :id"
# A server that ends the connection in the middle of a statement.
CUT = """
create function cut() returns trigger language plpgsql as
$$ begin perform pg_terminate_backend(pg_backend_pid()); return new; end $$
"""
T = TypeVar("T")
TURN = TurnTask(QUEUE, TASK)


@dataclass(frozen=True)
class Store:
    """Inbox and desk on one database, as one process has them."""

    engine: Engine
    sealer: AesGcmSealer
    desk: PostgresDesk

    def inbox(self, kind: TurnTask = TURN, limits: Limits | None = None) -> PostgresInbox:
        return PostgresInbox(self.engine, PSEUDONYM_KEY, self.sealer, kind, limits)

    def accept(self, sid: str = "SM1", sender: str = PERSON, body: str | None = "¿NIE?") -> int:
        """Take a message in; give the number of its row."""
        assert self.inbox().accept(Incoming(sid, "whatsapp", sender, OURS, body))
        return int(self.rows("select id from inbox where message_sid = :sid", sid=sid)[0][0])

    def begin(self, inbox_id: int = 1) -> Case:
        case = self.desk.begin(inbox_id)
        assert case is not None
        return case

    def answered(self, *parts: str, inbox_id: int = 1) -> Case:
        """Begin a turn and record its reply."""
        case = self.begin(inbox_id)
        self.desk.reply(case, REPLY, parts or ("una respuesta",))
        return case

    def rows(self, sql: str, **values: Any) -> list[tuple[Any, ...]]:
        with self.engine.connect() as connection:
            return [tuple(row) for row in connection.execute(text(sql), values)]

    def earlier(self, sid: str, sender: str = PERSON, *, job: bool = True) -> int:
        """Take a message in as the release before addresses were sealed did; give the number of its row."""
        name = pseudonym(PSEUDONYM_KEY, sender)
        with self.engine.begin() as connection:
            values = {"sid": sid, "name": name, "sender": sender, "recipient": OURS, "body": "¿NIE?"}
            made = int(connection.execute(text(EARLIER_MESSAGE), values).scalar_one())
            if job:
                connection.execute(text(EARLIER_JOB), {"name": name, "id": made})
        return made

    def change(self, sql: str, **values: Any) -> int:
        with self.engine.begin() as connection:
            return connection.execute(text(sql), values).rowcount


def by(sender: Sender) -> dict[str, Outlet]:
    """Give the way out for messages of WhatsApp."""
    return {"whatsapp": Outlet(sender, LIMITS)}


@contextmanager
def store_on(url: str, key: str = KEY) -> Iterator[Store]:
    engine, sealer = open_engine(url, pool_size=16), AesGcmSealer(key)
    yield Store(engine, sealer, PostgresDesk(engine, sealer))
    engine.dispose()


def at_once(count: int, work: Callable[[int], T]) -> list[T | Exception]:
    """Do the work so many times, each on a thread of its own, all starting together; give what each gave or raised."""
    start = Barrier(count)

    def run(number: int) -> T | Exception:
        start.wait()
        try:
            return work(number)
        except Exception as error:  # noqa: BLE001  what was raised is what is looked at
            return error

    with ThreadPoolExecutor(count) as pool:
        return list(pool.map(run, range(count)))
