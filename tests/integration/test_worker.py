"""The worker and the things that go wrong under it: a message that kills it, a database that leaves."""

import subprocess
import sys
import textwrap
from collections.abc import Callable
from threading import Thread

import psycopg
import pytest
from sqlalchemy import text
from tests.journeys.talking import until

from clara.adapters.postgres.engine import open_engine
from clara.adapters.postgres.inbox import PostgresInbox
from clara.adapters.procrastinate.engine import TurnScheduler, Worker
from clara.bootstrap import Services
from clara.conversation.message import Incoming
from clara.conversation.ports import Case
from clara.jobs.working import answer

POISON = """
    import os, signal, sys
    from clara.adapters.procrastinate.engine import Worker
    from clara.logs import configure_logs

    configure_logs()

    def take(inbox_id, attempts):
        if attempts < 2:
            os.kill(os.getpid(), signal.SIGKILL)  # what a crash inside the model's C code looks like
        print(f"taken after {attempts}", flush=True)
        return "sent"

    Worker(sys.argv[1], take).run()
"""


def store(url: str, sid: str, sender: str = "a") -> None:
    engine = open_engine(url)
    assert PostgresInbox(engine, "k" * 32, TurnScheduler().schedule).accept(Incoming(sid, "local", sender, "b", "NIE"))
    engine.dispose()


def test_a_message_that_kills_its_worker_comes_back_counted(empty_url: str) -> None:
    """Each death counts as a try, so the third worker knows that it must take the safe way."""
    store(empty_url, "SM1")
    ends = []
    for _ in range(3):
        process = subprocess.Popen(
            [sys.executable, "-c", textwrap.dedent(POISON), empty_url],
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        assert process.stdout is not None
        line = process.stdout.readline()
        if line:
            assert line == "taken after 2\n"
            process.terminate()
        ends.append(process.wait(20))
        process.stdout.close()
    assert ends == [-9, -9, 0]


@pytest.mark.parametrize(
    ("attempts", "tier", "says"),
    [
        pytest.param(0, "pgvector", "9,84 €", id="first try: the whole chain"),
        pytest.param(2, "json_fallback", "9,84 €", id="after two deaths: no model, no database"),
        pytest.param(4, None, "Algo ha fallado por nuestra parte", id="after four: an apology"),
    ],
)
def test_the_more_often_it_failed_the_safer_the_way(
    knowledge_url: str, services_on: Callable[..., Services], attempts: int, tier: str | None, says: str
) -> None:
    """A message that keeps breaking something is still answered."""
    services = services_on(knowledge_url, clara_channel="local")
    case = Case(Incoming("SM1", "local", "a", "b", "¿Cuánto cuesta el NIE?"), first_contact=False, previous_language="es")
    reply = answer(services, case, attempts)
    assert (reply.tier, says in reply.text) == (tier, True)
    assert services.embedder._made == [] or attempts == 0


def test_the_worker_survives_the_loss_of_every_connection(empty_url: str) -> None:
    """A restarting database costs the worker its connections, not its life.

    The end of the first turn may go unrecorded; the same sender's second message is taken all the same, and the first one
    may come again, which the turn's own record makes harmless.
    """
    taken: list[int] = []

    def take(inbox_id: int, _attempts: int) -> str:
        taken.append(inbox_id)
        return "sent"

    worker = Worker(empty_url, take)
    thread = Thread(target=worker.run, kwargs={"handle_signals": False})
    thread.start()
    store(empty_url, "SM1")
    until(lambda: taken == [1])  # its end is being recorded right now
    with psycopg.connect(empty_url, autocommit=True) as connection:
        connection.execute(
            "select pg_terminate_backend(pid) from pg_stat_activity "
            "where datname = current_database() and pid <> pg_backend_pid()"
        )
    store(empty_url, "SM2")
    until(lambda: 2 in taken)
    worker.stop()
    thread.join(15)
    assert not thread.is_alive()


def test_a_sender_is_served_in_order(empty_url: str) -> None:
    """Two workers take the messages of one sender one after the other, in the order in which they came."""
    taken: list[int] = []
    for number in range(12):
        store(empty_url, f"SM{number}", sender="one")
    running = []

    def take(inbox_id: int, _attempts: int) -> str:
        running.append(inbox_id)
        assert len(running) == 1
        taken.append(inbox_id)
        running.remove(inbox_id)
        return "sent"

    workers = [Worker(empty_url, take) for _ in range(2)]
    threads = [Thread(target=worker.run, kwargs={"handle_signals": False}) for worker in workers]
    for thread in threads:
        thread.start()
    try:
        until(lambda: len(taken) == 12)
    finally:
        for worker, thread in zip(workers, threads, strict=True):
            worker.stop()
            thread.join(15)
    engine = open_engine(empty_url)
    with engine.connect() as connection:
        assert taken == connection.scalars(text("select id from inbox order by id")).all()
    engine.dispose()
