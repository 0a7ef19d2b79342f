"""The worker and the things that go wrong under it: a message that kills it, a database that leaves."""

import contextlib
import itertools
import shutil
import socket
import subprocess
import sys
import tempfile
import textwrap
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Event, Lock, Thread

import psycopg
import pytest
from tests.integration.delivering import Store, store_on
from tests.journeys.talking import until

from clara.adapters.procrastinate.engine import Worker
from clara.container import Container
from clara.delivery.message import Case, Incoming
from clara.delivery.ports import LostAnswerError, StoreUnavailableError, SupersededError, TemporarySendError
from clara.processes.worker import answer

POISON = """
    import os, signal, sys

    from tests.integration.delivering import store_on

    from clara.adapters.procrastinate.engine import Worker
    from clara.logs import configure_logs

    configure_logs()

    with store_on(sys.argv[1]) as store:

        def take(inbox_id):
            tries = store.begin(inbox_id).tries
            if tries < 2:
                os.kill(os.getpid(), signal.SIGKILL)  # what a crash inside the model's C code looks like
            print(f"taken after {tries}", flush=True)
            return "sent"

        Worker(sys.argv[1], take).run()
"""


@pytest.fixture
def store(empty_url: str) -> Iterator[Store]:
    with store_on(empty_url) as made:
        yield made


@pytest.fixture
def work(empty_url: str) -> Iterator[Callable[..., Worker]]:
    """Start workers in threads; they are stopped when the test ends."""
    running: list[tuple[Worker, Thread]] = []

    def start(take: Callable[[int], str], **settings: object) -> Worker:
        worker = Worker(empty_url, take, **settings)
        thread = Thread(target=worker.run, kwargs={"handle_signals": False})
        thread.start()
        running.append((worker, thread))
        return worker

    yield start
    for worker, _ in running:
        worker.stop()
    for _, thread in running:
        thread.join(20)
        assert not thread.is_alive()


def test_a_message_that_kills_its_worker_comes_back_counted(store: Store, empty_url: str) -> None:
    """Each death counts as a try, so the third worker knows that it must take the safe way, and a person is told to look."""
    store.accept()
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
    assert store.rows("select tries, set_aside_at is not null from inbox") == [(3, True)]


@pytest.mark.parametrize(
    ("tries", "tier", "says"),
    [
        pytest.param(0, "pgvector", "9,84 €", id="first try: the whole chain"),
        pytest.param(2, "json_fallback", "9,84 €", id="after two deaths: no model, no database"),
        pytest.param(4, None, "Algo ha fallado por nuestra parte", id="after four: an apology"),
    ],
)
def test_the_more_often_it_failed_the_safer_the_way(
    knowledge_url: str, services_on: Callable[..., Container], tries: int, tier: str | None, says: str
) -> None:
    """A message that keeps breaking something is still answered."""
    services = services_on(knowledge_url, clara_channel="local")
    incoming = Incoming("SM1", "local", "", "", "¿Cuánto cuesta el NIE?")
    reply = answer(services, Case(1, 1, incoming, "p", first_contact=False, previous_language="es", tries=tries))
    assert (reply.tier, says in reply.text) == (tier, True)
    assert "embedder" not in vars(services) or tries == 0


def test_the_worker_survives_the_loss_of_every_connection(store: Store, empty_url: str, work: Callable[..., Worker]) -> None:
    """A restarting database costs the worker its connections, not its life.

    The end of the first turn may go unrecorded; the same sender's second message is taken all the same, and the first one
    may come again, which the turn's own record makes harmless.
    """
    taken: list[int] = []
    work(lambda inbox_id: taken.append(inbox_id) or "sent")
    store.accept("SM1")
    until(lambda: taken == [1])  # its end is being recorded right now
    with psycopg.connect(empty_url, autocommit=True) as connection:
        connection.execute(
            "select pg_terminate_backend(pid) from pg_stat_activity "
            "where datname = current_database() and pid <> pg_backend_pid()"
        )

    def stored() -> bool:
        try:
            store.accept("SM2")
        except StoreUnavailableError:  # the last word of the server had not arrived when the connection was looked at
            return False
        return True

    until(stored)
    until(lambda: 2 in taken)
    until(lambda: store.rows("select count(*) from procrastinate_jobs") == [(0,)])


def test_a_sender_is_served_in_order(store: Store, work: Callable[..., Worker]) -> None:
    """Workers take the messages of one sender one after the other, in the order they came in, whatever fails."""
    stored = [store.accept(f"SM{number}") for number in range(8)]
    failures = iter([SupersededError(), TemporarySendError("busy", 0.3), LostAnswerError(), StoreUnavailableError("away")])
    failing = {stored[1], stored[2], stored[4], stored[7]}
    taken, running = [], Lock()

    def take(inbox_id: int) -> str:
        assert running.acquire(blocking=False)
        try:
            if inbox_id in failing:
                failing.remove(inbox_id)
                raise next(failures)
            taken.append(inbox_id)
        finally:
            running.release()
        return "sent"

    for _ in range(2):
        work(take, turns_at_once=4)
    until(lambda: len(taken) == 8)
    assert taken == stored


def test_a_sender_who_waits_holds_up_nobody_else(store: Store, work: Callable[..., Worker]) -> None:
    """While one reply is put off for an hour, and one fails in a way nobody thought of, the other senders are served."""
    first, second, other, broken = (
        store.accept(sid, sender) for sid, sender in (("SM1", "a"), ("SM2", "a"), ("SM3", "b"), ("SM4", "c"))
    )
    taken: list[int] = []

    def take(inbox_id: int) -> str:
        taken.append(inbox_id)
        if inbox_id == first:
            raise TemporarySendError("busy", 3_600.0)
        if inbox_id == broken:
            raise ZeroDivisionError
        return "sent"

    work(take, turns_at_once=1)
    until(lambda: other in taken and taken.count(broken) >= 2)
    assert (taken.count(first), second in taken) == (1, False)
    waits = "select extract(epoch from scheduled_at - now())::int from procrastinate_jobs order by id limit 1"
    assert 3_500 < store.rows(waits)[0][0] <= 3_600


def test_a_worker_that_is_stopped_while_it_connects_ends(store: Store, empty_url: str) -> None:
    """Whichever of its connections the database leaves unanswered at that moment."""
    for answered in range(2):
        with unanswering(empty_url, answered) as (url, held):
            worker = Worker(url, lambda _: "sent")
            thread = Thread(target=worker.run, kwargs={"handle_signals": False}, daemon=True)
            thread.start()
            until(held.is_set)
            worker.stop()
            thread.join(15)
            assert not thread.is_alive(), f"after {answered} connections"


def pass_on(source: socket.socket, target: socket.socket) -> None:
    with contextlib.suppress(OSError):
        while some := source.recv(65_536):
            target.sendall(some)
        target.shutdown(socket.SHUT_WR)


@contextmanager
def unanswering(url: str, answered: int) -> Iterator[tuple[str, Event]]:
    """Pass some connections on to a server and leave every later one waiting; give the way in, and what tells of the first."""
    held, kept = Event(), []
    folder = tempfile.mkdtemp(prefix="held")  # a socket's path must be short
    name = f".s.PGSQL.{psycopg.conninfo.conninfo_to_dict(url).get('port', 5432)}"
    real = f"{psycopg.conninfo.conninfo_to_dict(url)['host']}/{name}"

    def listen() -> None:
        for number in itertools.count():
            try:
                client, _ = listener.accept()
            except OSError:  # the test is over
                return
            kept.append(client)
            if number >= answered:
                held.set()
                continue
            server = socket.socket(socket.AF_UNIX)
            server.connect(real)
            kept.append(server)
            for pair in ((client, server), (server, client)):
                Thread(target=pass_on, args=pair, daemon=True).start()

    listener = socket.socket(socket.AF_UNIX)
    listener.bind(f"{folder}/{name}")
    listener.listen()
    accepting = Thread(target=listen, daemon=True)
    accepting.start()
    try:
        yield psycopg.conninfo.make_conninfo(url, host=folder), held
    finally:
        listener.shutdown(socket.SHUT_RDWR)
        listener.close()
        accepting.join()
        for one in kept:
            one.close()
        shutil.rmtree(folder)


def test_upkeep_is_done_beside_the_turns(store: Store, work: Callable[..., Worker]) -> None:
    """It begins when the worker does, and however long it takes, every turn that may be taken at once is."""
    done, going_on, taken = [], Lock(), []

    def upkeep() -> None:
        done.append("begun")
        with going_on:
            done.append("ended")

    with going_on:
        work(lambda inbox_id: taken.append(inbox_id) or "sent", turns_at_once=1, upkeep=upkeep)
        until(lambda: done == ["begun"])
        store.accept()
        until(lambda: taken == [1])
    until(lambda: done == ["begun", "ended"])
