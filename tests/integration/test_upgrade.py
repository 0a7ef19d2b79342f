"""An upgrade while people write: the rows and jobs of the previous release, and its processes on the new schema."""

from collections.abc import Callable, Iterator, Sequence
from threading import Thread

import pytest
from alembic import command
from tests.integration.delivering import (
    EARLIER_REFUSED,
    EARLIER_REPLY,
    EARLIER_SENT,
    OURS,
    PERSON,
    REPLY,
    Store,
    by,
    store_on,
)
from tests.journeys.talking import until

from clara.adapters.postgres import migrations
from clara.adapters.procrastinate.engine import QUEUE, Worker
from clara.delivery.message import Outgoing, Taken
from clara.delivery.turn_processor import Clerk, take_turn
from clara.settings import resources

SCRIPTS = resources() / "migrations"
OTHER = "whatsapp:+34600000002"
NEWEST = max(path.name.split("_")[0] for path in (SCRIPTS / "versions").glob("[0-9]*.py"))


class MemorySender:
    """Sends in memory."""

    def __init__(self) -> None:
        self.out: list[tuple[str, str, str]] = []

    def send(self, outgoing: Outgoing, timely: Callable[[], bool]) -> str | None:
        assert timely()
        self.out.append((outgoing.sender, outgoing.recipient, outgoing.text))
        return f"SMout{len(self.out)}"

    def taken(self, outgoing: Outgoing) -> Sequence[Taken]:
        return ()


@pytest.fixture
def store(empty_url: str) -> Iterator[Store]:
    with store_on(empty_url) as made:
        yield made


def finish(store: Store, url: str) -> list[tuple[str, str, str]]:
    """Let a worker of this release do what there is; give what it sent."""
    sender = MemorySender()
    clerk = Clerk(store.desk, lambda _case: REPLY, by(sender))
    worker = Worker(url, lambda inbox_id: take_turn(inbox_id, clerk))
    thread = Thread(target=worker.run, kwargs={"handle_signals": False})
    thread.start()
    try:
        until(lambda: store.rows("select count(*) from procrastinate_jobs") == [(0,)])
    finally:
        worker.stop()
        thread.join(20)
    return sender.out


def taken_by_the_previous_release(store: Store) -> int | None:
    """Take a job as a worker of the previous release does: from its one queue."""
    with store.engine.begin() as connection:
        worker = connection.exec_driver_sql("select procrastinate_register_worker_v1()").scalar_one()
        fetch = "select (args->>'inbox_id')::int from procrastinate_fetch_job_v2(array['turns'], %s)"
        return connection.exec_driver_sql(fetch, (worker,)).scalar()


def test_what_the_previous_release_left_is_finished(store: Store, empty_url: str) -> None:
    """Its messages are answered, its replies sent, each once and to the right person; what was sent stays as it was."""
    with store.engine.begin() as connection:
        command.downgrade(migrations._config(SCRIPTS, connection), "0003")
    asked, answered, sent = (store.earlier(sid, sender) for sid, sender in (("SM1", PERSON), ("SM2", OTHER), ("SM3", PERSON)))
    for number in (answered, sent):
        store.change(EARLIER_REPLY, id=number, body="la de antes")
    store.change(EARLIER_SENT, id=2, provider_sid="SMbefore")
    store.change("update inbox set created_at = now() - interval '1 hour'")
    with store.engine.begin() as connection:
        assert migrations.upgrade(connection, SCRIPTS) == ("0003", NEWEST)
    assert store.rows("select received_at = created_at, fence, tries, address from inbox") == [(True, 0, 0, None)] * 3
    assert sorted(finish(store, empty_url)) == [(OURS, PERSON, "una respuesta"), (OURS, OTHER, "la de antes")]
    assert store.rows("select inbox_id, part, status, provider_sid is not null from outbox order by inbox_id") == [
        (asked, 0, "sent", True), (answered, 0, "sent", True), (sent, 0, "sent", True)
    ]  # fmt: skip
    assert store.rows("select provider_sid from outbox where id = 2") == [("SMbefore",)]


def test_the_previous_release_goes_on_during_the_upgrade(store: Store, empty_url: str) -> None:
    """All it writes and reads works on the new schema: it takes messages in, answers its own, and gets no other ones."""
    own = store.earlier("SM1")
    new = store.accept("SM2", OTHER)
    assert taken_by_the_previous_release(store) == own
    assert taken_by_the_previous_release(store) is None
    assert store.rows("select sender, recipient, body from inbox where id = :id", id=own) == [(PERSON, OURS, "¿NIE?")]
    for _ in range(2):  # a repeated reply stays one reply
        store.change(EARLIER_REPLY, id=own, body="la de antes")
    assert store.rows("select id, body from outbox where inbox_id = :id and status = 'pending'", id=own) == [(1, "la de antes")]
    store.change(EARLIER_SENT, id=1, provider_sid="SMbefore")
    assert store.change("delete from procrastinate_jobs where status = 'doing'") == 1
    refused = store.earlier("SM3")
    store.change(EARLIER_REPLY, id=refused, body="otra")
    store.change(EARLIER_REFUSED, id=store.rows("select max(id) from outbox")[0][0], code="63024")
    assert finish(store, empty_url) == [(OURS, OTHER, "una respuesta")]
    assert store.rows("select inbox_id, status from outbox order by id") == [(own, "sent"), (refused, "failed"), (new, "sent")]


def test_a_sender_s_messages_keep_their_order_through_the_upgrade(store: Store, empty_url: str) -> None:
    """What this release stored waits for what the previous one stored before it, though they are in two queues."""
    first, second, third = store.earlier("SM1"), store.accept("SM2"), store.earlier("SM3")
    queues = "select (args->>'inbox_id')::int, queue_name from procrastinate_jobs order by id"
    assert store.rows(queues) == [(first, "turns"), (second, QUEUE), (third, "turns")]
    finish(store, empty_url)
    assert [number for (number,) in store.rows("select inbox_id from turns order by created_at")] == [first, second, third]


def test_a_job_of_a_later_release_is_understood(store: Store, empty_url: str) -> None:
    """What a job says more than this release knows is no reason to leave the message without an answer."""
    store.accept()
    store.change("""update procrastinate_jobs set args = args || '{"trace": "x", "hurry": true}'""")
    assert finish(store, empty_url) == [(OURS, PERSON, "una respuesta")]
