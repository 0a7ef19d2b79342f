"""Runs of jobs, on a real PostgreSQL: recorded however they end, one at a time, and a dead one blocks nobody."""

import signal
import subprocess
import sys
import textwrap
from collections.abc import Callable, Iterator
from threading import Event, Thread

import psycopg
import pytest
from tests.journeys.talking import until

from clara.adapters.postgres.connections import DatabaseUnavailableError
from clara.adapters.postgres.operations.runs import PostgresRuns, Run
from clara.container import Container
from clara.editorial.ports import JobOutcome
from clara.processes.run_record import recorded
from clara.settings import child_environment

# A process that begins a run, says so, and works until it is killed.
WORKING = """
    import sys, threading

    from clara.adapters.postgres.operations.runs import PostgresRuns
    from clara.container import Container
    from clara.processes.run_record import recorded
    from clara.settings import Settings

    def work():
        print("at work", flush=True)
        threading.Event().wait()

    recorded(PostgresRuns(Container(Settings(), sys.argv[1]).engine), "ingestion", "--all", work, beat_seconds=0.1)
"""


@pytest.fixture
def services(empty_url: str, services_on: Callable[..., Container]) -> Container:
    return services_on(empty_url, clara_channel="local")


@pytest.fixture
def runs(services: Container) -> PostgresRuns:
    return PostgresRuns(services.engine)


@pytest.fixture
def elsewhere(empty_url: str) -> Iterator[subprocess.Popen[str]]:
    """Another process that is in the middle of an ingestion."""
    command = [sys.executable, "-c", textwrap.dedent(WORKING), empty_url]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    assert process.stdout is not None
    assert process.stdout.readline() == "at work\n"
    yield process
    process.kill()
    process.wait()
    process.stdout.close()


def only(runs: PostgresRuns) -> Run:
    (run,) = runs.runs(10)
    return run


@pytest.mark.parametrize(("exit_code", "state"), [(0, "fine"), (1, "findings"), (2, "failed")])
def test_an_end_is_recorded(services: Container, runs: PostgresRuns, exit_code: int, state: str) -> None:
    """Exit code, report and times stand in the row, and the exit code is the caller's."""
    report = {"written": 3, "sources": ["a\x00b", "\\u0000", "\ud800"]}
    assert recorded(PostgresRuns(services.engine), "drift", "--stale", lambda: JobOutcome(exit_code, report)) == exit_code
    run = only(runs)
    assert (run.job, run.arguments, run.exit_code, run.state, run.error) == ("drift", "--stale", exit_code, state, None)
    assert run.report == {"written": 3, "sources": ["a b", "\\u0000", "?"]}
    assert run.finished_at is not None
    assert run.started_at <= run.alive_at <= run.finished_at


def test_what_a_run_raises_is_recorded_without_what_it_says(services: Container, runs: PostgresRuns) -> None:
    """The kind of error and what its class says stand in the row; its message, which may repeat a person's words, does not."""

    def fail(error: Exception) -> JobOutcome:
        raise error

    for error in (DatabaseUnavailableError("host 10.0.0.1, 600 000 001"), ValueError("600 000 001")):
        with pytest.raises(type(error)):
            recorded(PostgresRuns(services.engine), "boe", "--check", lambda error=error: fail(error))
    later, earlier = runs.runs(10)
    assert (later.state, later.exit_code, later.error) == ("failed", 2, "ValueError")
    assert str(earlier.error).startswith("DatabaseUnavailableError: PostgreSQL could not be reached")
    assert "600" not in f"{earlier.error}{later.error}"


def test_a_second_run_does_nothing_and_says_who_runs(
    services: Container, runs: PostgresRuns, elsewhere: subprocess.Popen[str]
) -> None:
    """It ends with 0, names the other process, and leaves no row; another job runs meanwhile."""
    said: list[str] = []
    assert recorded(PostgresRuns(services.engine), "ingestion", "", lambda: pytest.fail("ran"), say=said.append) == 0
    assert f":{elsewhere.pid})" in said[0]
    assert "already running since" in said[0]
    assert only(runs).state == "running"
    assert recorded(PostgresRuns(services.engine), "drift", "", lambda: JobOutcome(0, {})) == 0
    assert [run.job for run in runs.runs(10)] == ["drift", "ingestion"]


def test_a_running_job_gives_signs_of_life(runs: PostgresRuns, elsewhere: subprocess.Popen[str]) -> None:
    """Its row gets younger while it works."""
    first = only(runs).alive_at
    until(lambda: only(runs).alive_at > first)
    assert elsewhere.poll() is None


def test_a_killed_run_is_shown_as_dead_and_blocks_nobody(
    services: Container, runs: PostgresRuns, elsewhere: subprocess.Popen[str], empty_url: str
) -> None:
    """After kill -9 the next run begins at once; the row of the dead one stays, without an end."""
    elsewhere.send_signal(signal.SIGKILL)
    elsewhere.wait()
    with psycopg.connect(empty_url, autocommit=True) as connection:
        connection.execute("update job_runs set alive_at = now() - interval '31 seconds'")
    assert (only(runs).state, only(runs).finished_at) == ("died", None)
    done: list[int] = []

    def ran() -> bool:  # the server may need a moment to see that the process is gone
        recorded(PostgresRuns(services.engine), "ingestion", "--all", lambda: done.append(1) or JobOutcome(0, {}))
        return bool(done)

    until(ran)
    assert [run.state for run in runs.runs(10)] == ["fine", "died"]


def test_a_dead_run_is_known_as_soon_as_another_began(
    services: Container, runs: PostgresRuns, elsewhere: subprocess.Popen[str]
) -> None:
    """Whoever has the lock is the only one that lives: earlier rows without an end are of the dead."""
    elsewhere.kill()
    elsewhere.wait()
    began, finish = Event(), Event()

    def work() -> JobOutcome:
        began.set()
        assert finish.wait(20)
        return JobOutcome(0, {})

    def again() -> None:
        until(lambda: began.is_set() or recorded(runs, "ingestion", "", work) is None or began.is_set())

    thread = Thread(target=again)
    thread.start()
    assert began.wait(20)
    assert [run.state for run in runs.runs(10)] == ["running", "died"]
    finish.set()
    thread.join(20)


def test_a_restarted_database_ends_no_run(services: Container, runs: PostgresRuns, empty_url: str) -> None:
    """When its connections are cut the run takes its lock again, goes on giving signs of life, and its end is recorded."""

    def work() -> JobOutcome:
        with psycopg.connect(empty_url, autocommit=True) as connection:
            connection.execute(
                "select pg_terminate_backend(pid) from pg_stat_activity "
                "where datname = current_database() and pid <> pg_backend_pid()"
            )
            cut = connection.execute("select alive_at from job_runs").fetchone()
            until(lambda: connection.execute("select alive_at from job_runs").fetchone() > cut)
        assert recorded(PostgresRuns(services.engine), "ingestion", "", lambda: pytest.fail("ran")) == 0
        return JobOutcome(0, {})

    assert recorded(PostgresRuns(services.engine), "ingestion", "", work, beat_seconds=0.05) == 0
    assert only(runs).state == "fine"


def test_without_a_database_nothing_is_done(services_on: Callable[..., Container]) -> None:
    """A run that cannot be recorded is not begun."""
    away = services_on("postgresql://clara@127.0.0.1:1/clara", clara_channel="local")
    with pytest.raises(DatabaseUnavailableError):
        recorded(PostgresRuns(away.engine), "ingestion", "", lambda: pytest.fail("ran"))


def test_pages_of_runs(services: Container, runs: PostgresRuns) -> None:
    """The newest come first; the next page begins before the last number of this one; a job can be asked for alone."""
    for number in range(5):
        recorded(PostgresRuns(services.engine), "drift" if number % 2 else "boe", str(number), lambda: JobOutcome(0, {}))
    first = runs.runs(2)
    second = runs.runs(2, before=first[-1].id)
    assert [run.arguments for run in (*first, *second)] == ["4", "3", "2", "1"]
    assert [run.arguments for run in runs.runs(9, job="drift")] == ["3", "1"]


def test_expected_jobs(services: Container, runs: PostgresRuns, empty_url: str) -> None:
    """A job that is switched on keeps its first day however often it is noted; one that is switched off is forgotten."""
    runs.expect(["boe", "drift"])
    first = runs.expected()
    runs.expect(["drift", "ingestion"])
    second = runs.expected()
    assert (list(first), list(second)) == (["boe", "drift"], ["drift", "ingestion"])
    assert second["drift"].enabled_at == first["drift"].enabled_at
    assert second["drift"].succeeded_at is None
    recorded(PostgresRuns(services.engine), "drift", "", lambda: JobOutcome(1, {}))
    recorded(PostgresRuns(services.engine), "ingestion", "", lambda: JobOutcome(2, {}))
    third = runs.expected()
    assert third["drift"].succeeded_at is not None
    assert (third["ingestion"].succeeded_at, third["ingestion"].started_at is None) == (None, False)


@pytest.mark.parametrize(
    ("arguments", "job", "told"),
    [
        pytest.param(("drift", "--source", "no-such-source"), "drift", "UnknownSourceError", id="drift"),
        pytest.param(("ingest", "--source", "no-such-source"), "ingestion", "NothingChosenError", id="ingestion"),
        pytest.param(("publish", "--undo"), "undo", "NothingToUndoError", id="undo"),
    ],
)
def test_commands_are_recorded_runs(
    runs: PostgresRuns, empty_url: str, arguments: tuple[str, ...], job: str, told: str
) -> None:
    """What an operator or a schedule starts leaves a row, also when it cannot run."""
    command = [sys.executable, "-m", "clara", *arguments]
    environment = child_environment(RAG_DB_URL=empty_url, CLARA_CHANNEL="local")
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=280, check=False)
    assert done.returncode == 2, done.stderr
    run = only(runs)
    assert (run.job, run.state, str(run.error).partition(":")[0]) == (job, "failed", told)
