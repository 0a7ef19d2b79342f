"""What the first release wrote is still read: its database is brought to this schema, its files are handed over."""

import gzip
import shutil
from collections.abc import Callable, Sequence
from pathlib import Path
from threading import Thread

import psycopg
import pytest
from tests.integration.delivering import LIMITS, REPLY
from tests.journeys.talking import until

from clara.adapters.procrastinate.engine import Worker
from clara.container import Container
from clara.delivery.message import Outgoing, Taken
from clara.delivery.turn_processor import Clerk, Outlet, take_turn
from clara.knowledge.passages import CORPUS
from clara.processes.preparation import fill
from clara.processes.web_app import open_door
from clara.retrieval.passage import Query, Status

# Written by that release itself: two questions answered, one that waited for a worker, and the facts of one procedure; and
# what its web process kept in a file while PostgreSQL stood still.
HELD = Path(__file__).parents[1] / "data" / "first_release"
COLUMNS = """
    select table_name, column_name, data_type from information_schema.columns where table_schema = 'public' order by 1, 2
"""


class MemorySender:
    """Sends in memory."""

    def __init__(self) -> None:
        self.out: list[tuple[str, str]] = []

    def send(self, outgoing: Outgoing, timely: Callable[[], bool]) -> str | None:
        assert timely()
        self.out.append((outgoing.recipient, outgoing.text))
        return f"sent-{len(self.out)}"

    def taken(self, outgoing: Outgoing) -> Sequence[Taken]:
        return ()


@pytest.fixture
def left(empty_url: str) -> str:
    """A database as the first release left it, an hour ago."""
    with psycopg.connect(empty_url, autocommit=True) as connection:
        connection.execute("drop schema public cascade; create schema public")
        connection.execute(gzip.decompress((HELD / "database.sql.gz").read_bytes()).decode())
    with psycopg.connect(empty_url) as connection:
        connection.execute("update inbox set created_at = now() - interval '1 hour', received_at = now() - interval '1 hour'")
    return empty_url


def rows(services: Container, statement: str) -> list[tuple[object, ...]]:
    with services.engine.connect() as connection:
        return [tuple(row) for row in connection.exec_driver_sql(statement)]


def test_its_database_is_brought_to_this_schema(
    left: str, clone: Callable[[str], str], services_on: Callable[..., Container]
) -> None:
    """`clara migrate` moves it once, to the very tables of a new database, and its replies stay as they were."""
    services = services_on(left, clara_channel="local")
    before = rows(services, "select inbox_id, body, status from outbox order by id")
    assert services.migrate().startswith("schema 0010 -> ")
    assert "nothing to do" in services.migrate()
    assert rows(services, "select inbox_id, body, status from outbox order by id") == before
    assert [status for _inbox, _body, status in before] == ["sent", "sent"]
    fresh = services_on(clone("schema"))
    assert rows(services, COLUMNS) == rows(fresh, COLUMNS)
    answered = services.desk().turn(2)
    assert answered is not None
    assert (answered.text, answered.status) == ("¿Cómo pido el NIE?", "answered")


def test_its_facts_are_found_and_brought_up_to_date(left: str, services_on: Callable[..., Container]) -> None:
    """What it wrote into the index is read as it is; ingesting writes the rest, and drops what is told no longer."""
    services = services_on(left, clara_channel="local")
    services.migrate()
    found = services.retriever(Query("¿Cómo pido el NIE?", CORPUS))
    assert (found.status, found.hits[0].passage.document_id) == (Status.FOUND, "nie")
    fill(services, lambda _said: None)
    assert rows(services, "select count(distinct document_id) from passages where corpus = 'clara'") == [
        (len(services.snapshot().knowledge.names),)
    ]


def test_the_message_that_waited_is_answered(left: str, services_on: Callable[..., Container]) -> None:
    """A worker of this release takes it, and the reply goes to whoever asked: the address opens with the same key."""
    services = services_on(left, clara_channel="local")
    services.migrate()
    sender = MemorySender()
    clerk = Clerk(services.desk(), lambda _case: REPLY, {"local": Outlet(sender, LIMITS)})
    worker = Worker(left, lambda inbox_id: take_turn(inbox_id, clerk))
    thread = Thread(target=worker.run, kwargs={"handle_signals": False})
    thread.start()
    try:
        until(lambda: sender.out != [])
    finally:
        worker.stop()
        thread.join(20)
    assert [text for _to, text in sender.out] == [REPLY.text]
    assert "c1" in sender.out[0][0]


def test_its_spooled_messages_are_handed_over(left: str, tmp_path: Path, services_on: Callable[..., Container]) -> None:
    """The file is adopted, opened and stored; nothing waits any more, nothing is set aside."""
    shutil.copytree(HELD / "spool", tmp_path / "spool")
    services = services_on(left, clara_channel="local", clara_spool=tmp_path / "spool")
    services.migrate()
    door = open_door(services)
    assert door.spool.waiting() == 2
    assert door.receiving.drain(lambda: None) == 2
    assert (door.spool.waiting(), list((tmp_path / "spool").glob("*aside*"))) == (0, [])
    assert rows(services, "select body from inbox where id > 3 order by id") == [("Tengo permiso de trabajo",), ("hola",)]
