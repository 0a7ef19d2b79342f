"""Giving back what nobody does any more: once, soon, and never what somebody is doing."""

import asyncio
import signal
import subprocess
import sys
import textwrap
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from threading import Event, Thread
from time import monotonic

import psycopg
import pytest
from procrastinate import App, PsycopgConnector
from procrastinate.jobs import Job
from tests.integration.delivering import PERSON, REPLY, Store, at_once, by, store_on
from tests.journeys.talking import until

from clara.adapters.procrastinate.engine import STALLED_AFTER_SECONDS, Worker
from clara.adapters.procrastinate.recovery import DatabaseClock, Ended, Recovery
from clara.answering.message import Reply
from clara.delivery.message import Case, Outgoing
from clara.delivery.ports import SupersededError
from clara.delivery.turn_processor import Clerk, take_turn

AGES = 600.0  # a worker that was heard of so far in the future stays alive, however slow this machine is
JOB = """
    insert into procrastinate_jobs (queue_name, task_name, lock, args, status, worker_id, attempts)
    values ('messages', 'take_turn', %s, '{"inbox_id": 1}', %s, %s, %s) returning id
"""
# A worker in a process of its own. What it does is told on its standard output; `answer` waits for a line.
PROCESS = """
    import sys
    from threading import Event

    from tests.integration.delivering import REPLY, by, store_on

    from clara.adapters.procrastinate.engine import Worker
    from clara.delivery.ports import SupersededError
    from clara.delivery.turn_processor import Clerk, take_turn
    from clara.logs import configure_logs

    configure_logs()

    class Sender:
        def send(self, outgoing, timely):
            print("sent", flush=True)

    def answer(case):
        print("answering", flush=True)
        if {hangs}:
            Event().wait()
        sys.stdin.readline()
        return REPLY

    with store_on(sys.argv[1]) as store:
        clerk = Clerk(store.desk, answer, by(Sender()))

        def take(inbox_id):
            try:
                return take_turn(inbox_id, clerk)
            except SupersededError:
                print("superseded", flush=True)
                raise

        Worker(sys.argv[1], take).run()
"""


@pytest.fixture
def store(empty_url: str) -> Iterator[Store]:
    with store_on(empty_url) as made:
        yield made


def heartbeat(connection: psycopg.Connection, seconds: float) -> int:
    """Register a worker whose last beat is at so many seconds from now."""
    statement = "insert into procrastinate_workers (last_heartbeat) values (now() + make_interval(secs => %s)) returning id"
    row = connection.execute(statement, [seconds]).fetchone()
    assert row is not None
    return int(row[0])


def job_of(connection: psycopg.Connection, worker: int | None, status: str = "doing", attempts: int = 0) -> int:
    row = connection.execute(JOB, [None, status, worker, attempts]).fetchone()
    assert row is not None
    return int(row[0])


def recover(url: str, ended: Ended | None = None, clock: DatabaseClock | None = None) -> list[int]:
    """Recover once, as a worker does."""

    async def once() -> list[int]:
        app = App(connector=PsycopgConnector(conninfo=url, min_size=1, max_size=1))
        async with app.open_async():
            return await Recovery(app, clock or DatabaseClock(), ended or Ended(), STALLED_AFTER_SECONDS).once()

    return asyncio.run(once())


@contextmanager
def working(url: str, take: Callable[[int], str]) -> Iterator[Worker]:
    """Run a worker in a thread."""
    worker = Worker(url, take)
    thread = Thread(target=worker.run, kwargs={"handle_signals": False})
    thread.start()
    try:
        yield worker
    finally:
        worker.stop()
        thread.join(15)
    assert not thread.is_alive()


@contextmanager
def process_of(url: str, *, hangs: bool = False) -> Iterator[subprocess.Popen[str]]:
    process = subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(PROCESS).format(hangs=hangs), url],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


def test_what_nobody_does_is_given_back(empty_url: str) -> None:
    """A worker is dead three seconds after its last beat, or when it is gone; the job can be taken at once, as tried again."""
    with psycopg.connect(empty_url) as connection:
        alive, gone, dead = heartbeat(connection, AGES), heartbeat(connection, AGES), heartbeat(connection, -3.1)
        abandoned = [job_of(connection, dead), job_of(connection, gone), job_of(connection, None, attempts=7)]
        others = [job_of(connection, alive), job_of(connection, dead, "todo"), job_of(connection, dead, "failed")]
        connection.execute("update procrastinate_jobs set scheduled_at = now() + interval '1 hour'")
        connection.execute("delete from procrastinate_workers where id = %s", [gone])
    assert sorted(recover(empty_url)) == abandoned
    with psycopg.connect(empty_url) as connection:
        left = connection.execute("select id, status, attempts, scheduled_at is null from procrastinate_jobs order by id")
        assert left.fetchall() == [
            *((job, "todo", attempts, True) for job, attempts in zip(abandoned, (1, 1, 8), strict=True)),
            *((job, status, 0, False) for job, status in zip(others, ("doing", "todo", "failed"), strict=True)),
        ]


def test_many_recoveries_at_once_give_back_once(empty_url: str) -> None:
    """Every worker looks for abandoned jobs; each is found by one of them, and none of them waits for another in a circle."""
    with psycopg.connect(empty_url) as connection:
        dead = heartbeat(connection, -60)
        jobs = [job_of(connection, dead) for _ in range(40)]
    given_back = at_once(6, lambda _: recover(empty_url))
    assert sorted(job for each in given_back for job in each) == jobs
    with psycopg.connect(empty_url) as connection:
        assert connection.execute("select distinct attempts from procrastinate_jobs").fetchall() == [(1,)]


def live_and_die(url: str, dead: int, turns: int) -> list[int]:
    """Take jobs one after the other and die with each, so that it goes on; give those that were ours no more by then."""
    dying = "update procrastinate_jobs set worker_id = %s where id = %s and worker_id = %s and status = 'doing'"
    fetching = "select id from procrastinate_fetch_job_v2(array['messages'], %s) where id is not null"
    lost, taken = [], 0
    with psycopg.connect(url, autocommit=True) as connection:
        me = heartbeat(connection, AGES)
        while taken < turns:
            for (job,) in connection.execute(fetching, [me]).fetchall():
                taken += 1
                connection.execute("select pg_sleep(0.003)")
                if not connection.execute(dying, [dead, job, me]).rowcount:
                    lost.append(job)
    return lost


async def recover_until(url: str, stop: Event) -> None:
    app = App(connector=PsycopgConnector(conninfo=url, min_size=1, max_size=1))
    async with app.open_async():
        recovery = Recovery(app, DatabaseClock(), Ended(), STALLED_AFTER_SECONDS)
        while not stop.is_set():
            await recovery.once()


def test_a_living_worker_keeps_what_it_took_over(empty_url: str) -> None:
    """However recoveries and workers meet, a job that somebody alive has taken over is not given back once more."""
    with psycopg.connect(empty_url) as connection:
        dead = heartbeat(connection, -3_600)
        for _ in range(12):
            job_of(connection, dead)
    stop = Event()
    threads = [Thread(target=lambda: asyncio.run(recover_until(empty_url, stop))) for _ in range(3)]
    for thread in threads:
        thread.start()
    try:
        assert at_once(3, lambda _: live_and_die(empty_url, dead, 150)) == [[]] * 3
    finally:
        stop.set()
        for thread in threads:
            thread.join()


# Keeps whoever gives a job back waiting for as long as somebody else holds the lock.
HELD = """
    create function hold() returns trigger language plpgsql as
    $$ begin perform pg_advisory_xact_lock(7); return new; end $$;
    create trigger held before update on procrastinate_jobs for each row when (new.status = 'todo') execute function hold()
"""
WAITING = """
    select count(*) from pg_locks
     where locktype = 'advisory' and not granted and database = (select oid from pg_database where datname = current_database())
"""


def test_a_worker_that_registers_meanwhile_keeps_its_job(empty_url: str) -> None:
    """A recovery that began before a worker was registered leaves alone what that worker took over."""
    with psycopg.connect(empty_url, autocommit=True) as connection, psycopg.connect(empty_url) as other:
        dead = heartbeat(connection, -3_600)
        abandoned, taken_over = job_of(connection, dead), job_of(connection, dead)
        connection.execute(HELD)
        other.execute("select pg_advisory_xact_lock(7)")
        with ThreadPoolExecutor(1) as pool:
            recovering = pool.submit(recover, empty_url)
            try:
                until(lambda: connection.execute(WAITING).fetchall() == [(1,)])
                taking = "update procrastinate_jobs set worker_id = %s where id = %s"
                connection.execute(taking, [heartbeat(connection, AGES), taken_over])
            finally:
                other.rollback()  # or the recovery waits for ever, and so does this test
            assert recovering.result() == [abandoned]


def test_what_ended_without_record_is_given_back(empty_url: str) -> None:
    """An end that the database did not hear of frees the sender, though the worker lives; the next try is left alone."""
    ended = Ended()
    with psycopg.connect(empty_url) as connection:
        worker = heartbeat(connection, AGES)
        unheard, again, fresh = (job_of(connection, worker, attempts=attempts) for attempts in (2, 3, 2))
    known = {"status": "doing", "queue": "messages", "lock": None, "queueing_lock": None, "task_name": "take_turn"}
    for job, when in ((unheard, 10.0), (again, 10.0), (fresh, 0.0)):
        ended.note(Job(**known, id=job, attempts=2, worker_id=worker), monotonic() - when)
    assert recover(empty_url, ended) == [unheard]
    assert recover(empty_url, ended) == []


def test_recovering_tells_the_database_s_time(empty_url: str) -> None:
    """A worker whose clock was believed to be two hours off knows better after the first look."""
    clock = DatabaseClock()
    clock.seen(datetime.now(UTC) + timedelta(hours=2))
    recover(empty_url, clock=clock)
    with psycopg.connect(empty_url) as connection:
        row = connection.execute("select clock_timestamp()").fetchone()
    assert row is not None
    assert abs(clock.now() - row[0]) < timedelta(minutes=1)


class CountingSender:
    """Sends in memory."""

    def __init__(self) -> None:
        self.out: list[str] = []

    def send(self, outgoing: Outgoing, timely: Callable[[], bool]) -> str | None:
        assert timely()
        self.out.append(outgoing.recipient)
        return f"SMout{len(self.out)}"

    def taken(self, outgoing: Outgoing) -> list[object]:
        return []


def test_who_wakes_up_late_leaves_the_turn_to_whoever_took_it_over(store: Store, empty_url: str) -> None:
    """A worker that was held for longer than it counts as alive neither sends, nor ends the job that another one is doing."""
    sender, release, answering = CountingSender(), Event(), Event()

    def answer(_case: Case) -> Reply:
        answering.set()
        release.wait()
        return REPLY

    with process_of(empty_url) as stalled:
        store.accept()
        assert stalled.stdout is not None
        assert stalled.stdin is not None
        assert stalled.stdout.readline() == "answering\n"
        stalled.send_signal(signal.SIGSTOP)
        clerk = Clerk(store.desk, answer, by(sender))
        with working(empty_url, lambda inbox_id: take_turn(inbox_id, clerk)):
            assert answering.wait(40)
            stalled.send_signal(signal.SIGCONT)
            stalled.stdin.write("\n\n\n\n")
            stalled.stdin.flush()
            assert stalled.stdout.readline() == "superseded\n"
            stalled.kill()
            assert store.rows("select status::text from procrastinate_jobs") == [("doing",)]
            release.set()
            until(lambda: store.rows("select count(*) from procrastinate_jobs") == [(0,)])
            until(lambda: store.rows("select status, attempts from outbox") == [("sent", 1)])
        assert stalled.stdout.read() == ""
    assert sender.out == [PERSON]


def test_a_hanging_turn_does_not_keep_a_process_that_was_told_to_end(store: Store, empty_url: str) -> None:
    """SIGTERM ends it within ten seconds, and what it hung on is taken by another worker."""
    taken: list[int] = []
    with process_of(empty_url, hangs=True) as hanging:
        store.accept()
        assert hanging.stdout is not None
        assert hanging.stdout.readline() == "answering\n"
        began = monotonic()
        hanging.terminate()
        with working(empty_url, lambda inbox_id: taken.append(inbox_id) or "sent"):
            until(lambda: taken == [1])
        assert hanging.wait(20) == 0
        assert monotonic() - began < 20
    assert store.rows("select count(*) from procrastinate_jobs") == [(0,)]


def test_a_worker_that_was_struck_off_goes_on(store: Store, empty_url: str) -> None:
    """One that others took for dead is back by its next heartbeat, and what it held is taken again."""
    taken: list[int] = []
    release = Event()

    def take(inbox_id: int) -> str:
        taken.append(inbox_id)
        if taken == [1]:
            release.wait()
            raise SupersededError
        return "sent"

    with working(empty_url, take):
        store.accept("SM1")
        until(lambda: taken == [1])
        store.change("delete from procrastinate_workers")
        until(lambda: 1 in taken[1:] or store.rows("select status::text from procrastinate_jobs") == [("todo",)])
        release.set()
        store.accept("SM2", "whatsapp:+34600000002")
        until(lambda: 2 in taken and taken.count(1) >= 2)
        until(lambda: store.rows("select count(*) from procrastinate_jobs") == [(0,)])
        until(lambda: store.rows("select count(*) from procrastinate_workers") == [(1,)])
