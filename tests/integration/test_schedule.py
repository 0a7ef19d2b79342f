"""The schedule, through the real engine on a real PostgreSQL: once for each due time, late rather than not, beside turns."""

import os
import signal
import subprocess
import sys
import textwrap
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from itertools import pairwise
from pathlib import Path
from threading import Event, Thread
from time import sleep

import psycopg
import pytest
from tests.journeys.talking import until

from clara.adapters.procrastinate import schedule as periodic
from clara.adapters.procrastinate.engine import GRACE_SECONDS
from clara.adapters.procrastinate.schedule import ZONE, InterruptedRunError, PeriodicWorker
from clara.cli import cli
from clara.container import Container
from clara.processes import schedule as scheduling
from clara.processes.schedule import SCHEDULES, Scheduled, build_schedule, enabled, run_beside
from clara.processes.web_app import NoWorkerError, _worker
from clara.settings import Settings, child_environment

EVERY_SECOND = "* * * * * *"
# A command that reads the file after it.
LOAD = ("corpus", "load", "handbook", "--jsonl")
# A worker whose scheduled job says who runs it, and then sleeps.
WORKER = """
    import sys
    from threading import Event

    from clara.container import Container
    from clara.processes.schedule import Scheduled, build_schedule
    from clara.settings import Settings

    services = Container(Settings(), sys.argv[1])
    job = ("corpus", "load", "handbook", "--jsonl", sys.argv[2])
    build_schedule(services, [Scheduled("boe", "* * * * * *", job, 60, 3)]).start()
    Event().wait()
"""
Start = Callable[..., PeriodicWorker]


@pytest.fixture
def start(empty_url: str) -> Iterator[Start]:
    """Start schedules; they end with the test."""
    running: list[PeriodicWorker] = []

    def make(run: Callable[[str, Event], None], cron: str = EVERY_SECOND, **settings: float) -> PeriodicWorker:
        worker = PeriodicWorker(empty_url, {"boe": cron}, run, **settings)
        running.append(worker)
        worker.start()
        return worker

    yield make
    for worker in running:
        worker.stop()


@pytest.fixture
def endless(tmp_path: Path) -> str:
    """A file that nobody writes: who reads it waits for ever."""
    os.mkfifo(tmp_path / "endless.jsonl")
    return str(tmp_path / "endless.jsonl")


def rows(url: str, sql: str) -> list[tuple[object, ...]]:
    with psycopg.connect(url, autocommit=True) as connection:
        return connection.execute(sql.encode()).fetchall()


def running(*words: str) -> list[int]:
    """Process ids of the commands with these words."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            command = (folder / "cmdline").read_bytes().decode().split("\0")
        except OSError:
            continue
        if all(word in command for word in words):
            found.append(int(folder.name))
    return found


def test_each_due_time_is_one_run_however_many_workers_there_are(start: Start, empty_url: str) -> None:
    """Three workers with the same schedule do each second's job once between them."""
    done: list[str] = []
    for _ in range(3):
        start(lambda job, _stopped: done.append(job))
    began = datetime.now(UTC)
    until(lambda: len(done) >= 4)
    seconds = (datetime.now(UTC) - began).total_seconds()
    assert seconds >= 3
    assert len(done) <= seconds + 2
    assert set(done) == {"boe"}


def test_what_was_due_before_the_start_is_done_once(start: Start, empty_url: str) -> None:
    """A worker that starts hours late does the missed job at once; the next worker knows that it was done."""
    hour = (datetime.now(ZONE).hour - 2) % 24  # two hours ago or a little more, by the clock of Spain
    done: list[str] = []
    first = start(lambda job, _stopped: done.append(job), cron=f"0 {hour} * * *")
    until(lambda: done == ["boe"])
    until(lambda: rows(empty_url, "select 1 from procrastinate_jobs") == [])
    first.stop()
    start(lambda job, _stopped: done.append(job), cron=f"0 {hour} * * *")
    ready = "select 1 from procrastinate_workers where id < 0"
    until(lambda: rows(empty_url, ready) != [])
    until(lambda: rows(empty_url, "select 1 from procrastinate_jobs") == [])
    assert done == ["boe"]


def test_what_was_due_long_ago_waits_for_its_next_time(start: Start, empty_url: str) -> None:
    """Later than the time for catching up, a missed job is not done out of its turn."""
    hour = (datetime.now(ZONE).hour - 2) % 24
    done: list[str] = []
    start(lambda job, _stopped: done.append(job), cron=f"0 {hour} * * *", caught_up_seconds=3600.0)
    until(lambda: rows(empty_url, "select 1 from procrastinate_workers where id < 0") != [])
    sleep(0.5)
    assert (done, rows(empty_url, "select 1 from procrastinate_periodic_defers")) == ([], [])


@pytest.mark.parametrize(
    ("day", "utc_hour"), [pytest.param((2026, 1, 15), 7, id="winter"), pytest.param((2026, 7, 15), 6, id="summer")]
)
def test_due_by_the_clock_of_spain(day: tuple[int, int, int], utc_hour: int) -> None:
    """Ten past eight in Madrid is another hour of Greenwich's in summer than in winter."""
    task = periodic._InZone(task=None, cron="10 8 * * *", periodic_id="boe", configure_kwargs={})
    midnight = datetime(*day, tzinfo=UTC).timestamp()
    due = datetime.fromtimestamp(task.croniter.get_next(float, start_time=midnight), UTC)
    assert (due.hour, due.minute) == (utc_hour, 10)


def test_a_slow_job_is_not_begun_again_beside_itself(start: Start) -> None:
    """Two workers, a job due every second that takes two: never two at once."""
    at_work: list[int] = []
    most: list[int] = []

    def slow(_job: str, stopped: Event) -> None:
        at_work.append(1)
        most.append(len(at_work))
        stopped.wait(2)
        at_work.pop()

    for _ in range(2):
        start(slow)
    until(lambda: len(most) >= 2)
    assert max(most) == 1


def test_a_job_that_was_interrupted_is_begun_again_by_the_next_worker(start: Start, empty_url: str) -> None:
    """A deploy ends the worker, not the work: the next one takes the job over at once."""
    began = Event()
    hour = (datetime.now(ZONE).hour - 2) % 24

    def interrupted(_job: str, stopped: Event) -> None:
        began.set()
        assert stopped.wait(20)
        raise InterruptedRunError

    first = start(interrupted, cron=f"0 {hour} * * *")
    assert began.wait(20)
    first.stop()
    assert rows(empty_url, "select status::text, attempts from procrastinate_jobs") == [("todo", 1)]
    done: list[str] = []
    start(lambda job, _stopped: done.append(job), cron=f"0 {hour} * * *")
    until(lambda: done == ["boe"])


def test_a_job_that_keeps_ending_its_worker_is_given_up(start: Start, empty_url: str) -> None:
    """After three tries it is not begun again: the next due time has a try of its own."""
    with psycopg.connect(empty_url, autocommit=True) as connection:
        connection.execute(
            "insert into procrastinate_jobs (queue_name, task_name, args, attempts) "
            "values ('operations', 'run_scheduled', '{\"timestamp\": 1, \"job\": \"boe\"}', 3)"
        )
    done: list[str] = []
    start(lambda job, _stopped: done.append(job), cron="0 0 1 1 *")
    until(lambda: rows(empty_url, "select 1 from procrastinate_jobs") == [])
    assert done == []


def test_what_was_abandoned_is_given_back_although_the_next_one_waits(start: Start, empty_url: str) -> None:
    """A worker died of a lost database, and the job came due again: both are done, one after the other."""
    with psycopg.connect(empty_url, autocommit=True) as connection:
        connection.execute(
            "insert into procrastinate_workers (id, last_heartbeat) overriding system value values (-99, '-infinity')"
        )
        for status, worker in (("doing", -99), ("todo", None)):
            connection.execute(
                "insert into procrastinate_jobs (queue_name, task_name, status, worker_id, lock, queueing_lock, args) values ("
                "'operations', 'run_scheduled', %s::procrastinate_job_status, %s, 'operations:boe', 'operations:boe', "
                '\'{"timestamp": 1, "job": "boe"}\')',
                (status, worker),
            )
    done: list[str] = []
    start(lambda job, _stopped: done.append(job), cron="0 0 1 1 *")
    until(lambda: rows(empty_url, "select 1 from procrastinate_jobs") == [])
    assert done == ["boe", "boe"]


def test_an_interrupted_job_goes_back_although_the_next_one_waits(start: Start, empty_url: str) -> None:
    """A worker is told to stop while the next due time already waits: nothing of either is lost."""

    def interrupted(_job: str, stopped: Event) -> None:
        assert stopped.wait(20)
        raise InterruptedRunError

    worker = start(interrupted)
    until(lambda: rows(empty_url, "select status::text from procrastinate_jobs order by id") == [("doing",), ("todo",)])
    worker.stop()
    waiting = rows(empty_url, "select status::text, attempts > 0 from procrastinate_jobs order by id")
    assert waiting[:2] == [("todo", True), ("todo", False)]  # a third may have come due before it stopped


def test_a_restarted_database_ends_no_schedule(start: Start, empty_url: str) -> None:
    """When all its connections are cut the worker connects again, and what is due is done."""
    done: list[str] = []
    start(lambda job, _stopped: done.append(job))
    until(lambda: len(done) >= 1)
    with psycopg.connect(empty_url, autocommit=True) as connection:
        connection.execute(
            "select pg_terminate_backend(pid) from pg_stat_activity "
            "where datname = current_database() and pid <> pg_backend_pid()"
        )
    before = len(done)
    until(lambda: len(done) > before + 1)


def test_workers_of_the_schedule_answer_nobody(start: Start, empty_url: str, services_on: Callable[..., Container]) -> None:
    """/health does not take them for workers of messages."""
    start(lambda _job, _stopped: None)
    until(lambda: rows(empty_url, "select 1 from procrastinate_workers where id < 0") != [])
    with pytest.raises(NoWorkerError):
        _worker(services_on(empty_url, clara_channel="local").engine)


def test_nothing_is_scheduled_unless_it_is_switched_on(services_on: Callable[..., Container], empty_url: str) -> None:
    """Each flag switches on its own job; with none there is no schedule at all."""
    assert build_schedule(services_on(empty_url), enabled(Settings())) is None
    for flag, scheduled in SCHEDULES.items():
        assert enabled(Settings(**{flag: True})) == (scheduled,)
    with_all = enabled(Settings(**dict.fromkeys(SCHEDULES, True)))
    assert {scheduled.job for scheduled in with_all} == {"boe", "drift", "ingestion"}
    (reminding,) = enabled(Settings(rag_drift_check_enabled=True, clara_alert_webhook="https://alerts.example/"))
    assert reminding.arguments == ("drift", "--stale", "--notify")


def command(*arguments: str, most_seconds: float = 60) -> Scheduled:
    return Scheduled("boe", EVERY_SECOND, arguments, most_seconds, 3)


@pytest.mark.parametrize(
    ("arguments", "status"),
    [
        pytest.param(("delivery", "status"), 0, id="fine"),
        pytest.param(("no-such-command",), 2, id="unknown-command"),
        pytest.param(("--version",), 0, id="an-option-of-clara"),
    ],
)
def test_the_status_of_the_command_is_known(empty_url: str, arguments: tuple[str, ...], status: int) -> None:
    """A job is any command of Clara's, in a process of its own; its status is told."""
    assert run_beside(command(*arguments), child_environment(RAG_DB_URL=empty_url), Event()) == status


def test_a_job_has_less_claim_to_the_machine(empty_url: str, endless: str) -> None:
    """It is niced, and its session where time is shared by sessions; it is the first to go when memory runs out."""
    stopped = Event()
    words = ("scheduled", "load", endless)
    looked: list[tuple[int, str, bool]] = []

    def session_is_niced(pid: int) -> bool:
        shared = Path(f"/proc/{pid}/autogroup")
        return not shared.exists() or shared.read_text().split()[-1] == "10"

    def look() -> None:
        def ready() -> bool:
            looked.extend(
                (
                    os.getpriority(os.PRIO_PROCESS, pid),
                    Path(f"/proc/{pid}/oom_score_adj").read_text().strip(),
                    session_is_niced(pid),
                )
                for pid in running(*words)
            )
            return bool(looked) and looked[-1] == (own, "800", True)

        until(ready)
        stopped.set()

    own = min(os.getpriority(os.PRIO_PROCESS, 0) + 10, 19)
    watcher = Thread(target=look)
    watcher.start()
    with pytest.raises(InterruptedRunError):
        run_beside(command(*LOAD, endless), child_environment(RAG_DB_URL=empty_url), stopped)
    watcher.join(20)
    assert running(*words) == []


def test_a_job_that_takes_too_long_is_ended(empty_url: str, endless: str) -> None:
    """Its time is limited; what it has done stays done."""
    job = command(*LOAD, endless, most_seconds=0.5)
    status = run_beside(job, child_environment(RAG_DB_URL=empty_url), Event())
    assert status == -signal.SIGTERM
    assert running("load", endless) == []


def test_a_job_ends_with_its_worker_however_that_ends(empty_url: str, endless: str) -> None:
    """Kill -9 of the worker leaves no job behind."""
    command_line = [sys.executable, "-c", textwrap.dedent(WORKER), empty_url, endless]
    words = ("scheduled", "load", endless)
    with subprocess.Popen(command_line, stderr=subprocess.DEVNULL) as worker:
        try:
            until(lambda: running(*words) != [])
        finally:
            worker.kill()
    until(lambda: running(*words) == [])


@pytest.mark.parametrize(
    "arguments", [pytest.param({}, id="worker"), pytest.param({"CLARA_WORKER": "inline", "PORT": "0"}, id="inline")]
)
def test_a_flag_has_the_worker_run_its_job(knowledge_url: str, arguments: dict[str, str]) -> None:
    """A real worker, or a web process with one inside, does what was due; SIGTERM ends it, with the job, within seconds."""
    environment = child_environment(
        RAG_DB_URL=knowledge_url,
        CLARA_CHANNEL="local",
        RAG_BOE_MONITOR_ENABLED="true",
        BOE_BASE_URL="http://127.0.0.1:1",
        **arguments,
    )
    command_line = [sys.executable, "-m", "clara", "web" if arguments else "worker"]
    with subprocess.Popen(command_line, env=environment, stderr=subprocess.DEVNULL) as worker:
        try:
            until(lambda: rows(knowledge_url, "select 1 from procrastinate_workers where id > 0") != [])
            until(lambda: rows(knowledge_url, "select 1 from job_runs where job = 'boe'") != [])
            worker.terminate()
            assert worker.wait(15) == 0
        finally:
            worker.kill()
    process = rows(knowledge_url, "select process, arguments from job_runs")
    assert [run[1] for run in process] == ["--check --notify"]
    until(lambda: not Path(f"/proc/{str(process[0][0]).rpartition(':')[2]}").exists())


@pytest.mark.parametrize("scheduled", SCHEDULES.values(), ids=lambda scheduled: scheduled.job)
def test_every_scheduled_command_is_one(scheduled: Scheduled) -> None:
    """The command line takes the arguments that the schedule gives it."""
    name, *arguments = scheduled.arguments
    context = cli.commands[name].make_context(name, arguments, resilient_parsing=False)
    assert context.args == []


def test_the_table_agrees_with_itself() -> None:
    """Every job is due often enough to succeed within the days that its success may be old, and every name is its own."""
    assert len({scheduled.job for scheduled in SCHEDULES.values()}) == len(SCHEDULES)
    for scheduled in SCHEDULES.values():
        due = periodic._InZone(task=None, cron=scheduled.cron, periodic_id="", configure_kwargs={}).croniter
        times = [due.get_next(float) for _ in range(20)]
        longest = max(later - earlier for earlier, later in pairwise(times))
        assert longest + scheduled.most_seconds < scheduled.allowed_days * 86_400
    assert scheduling.GRACE_SECONDS < GRACE_SECONDS
