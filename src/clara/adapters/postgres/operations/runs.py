"""What ran, when, and how it ended. Who runs a job holds its lock: a second run of it ends at once, having done nothing."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import datetime
from threading import Event, Thread
from typing import Any, Final

import structlog
from sqlalchemy import Connection, Engine, text

from clara.adapters.postgres.connections import DatabaseUnavailableError, translated
from clara.adapters.postgres.sql import statement

BEAT_SECONDS: Final = 5.0
# Six beats. A run on a busy machine, or behind a database that restarts, is not called dead for one that it missed.
SILENT_AFTER_SECONDS: Final = 30.0
# The lock of a machine that vanished without a word goes when the server notices, by default after two hours. On a UNIX socket
# these are ignored, and not needed.
NOTICED: Final = text(
    "select set_config('tcp_keepalives_idle', '10', false), set_config('tcp_keepalives_interval', '5', false), "
    "set_config('tcp_keepalives_count', '3', false), set_config('application_name', 'clara job', false)"
)
# Two numbers, so that no other lock of Clara's, which have one, can be the same.
LOCK: Final = text("select pg_try_advisory_lock(5305010, hashtext(:job))")
UNLOCK: Final = text("select pg_advisory_unlock_all()")
BEGIN: Final = text("insert into job_runs (job, arguments, process) values (:job, :arguments, :process) returning id")
BEAT: Final = text("update job_runs set alive_at = now() where id = :id")
END: Final = text("""
update job_runs set alive_at = now(), finished_at = now(), exit_code = :exit_code, error = :error,
    report = cast(:report as jsonb)
where id = :id
""")
log = structlog.get_logger()


@dataclass(frozen=True, slots=True)
class Run:
    """A run of a job. `state` is running, fine, findings, failed (could not run) or died (its end was never recorded)."""

    id: int
    job: str
    arguments: str
    process: str
    started_at: datetime
    alive_at: datetime
    finished_at: datetime | None
    exit_code: int | None
    report: Mapping[str, Any]
    error: str | None
    state: str


@dataclass(frozen=True, slots=True)
class Expected:
    """A job that should run by itself. `now` is the database's time, by which the others were written."""

    job: str
    enabled_at: datetime
    started_at: datetime | None
    succeeded_at: datetime | None
    now: datetime


class PostgresRuns:
    """Records runs, and reads them. Every method may raise DatabaseUnavailableError."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    @contextmanager
    def alone(self, job: str) -> Iterator["HeldJob | None"]:
        """Hold the lock of a job while the block runs; None when another process holds it."""
        held = HeldJob(self._engine, job)
        try:
            yield held if held.take() else None
        finally:
            held.release()

    def runs(self, limit: int, before: int | None = None, job: str | None = None) -> Sequence[Run]:
        """Give runs of a job, or of all, the newest first; those that began before the run with this number."""
        told = {"limit": limit, "before": before, "job": job, "silent_after": SILENT_AFTER_SECONDS}
        with translated(), self._engine.connect() as connection:
            return [Run(**row) for row in connection.execute(statement("runs"), told).mappings()]

    def expect(self, jobs: Sequence[str]) -> None:
        """Note which jobs are switched on from now on; whoever was already keeps the day from which it is expected."""
        with translated(), self._engine.begin() as connection:
            connection.execute(statement("expect_jobs"), {"jobs": sorted(jobs)})

    def expected(self) -> Mapping[str, Expected]:
        """Give the jobs that should run by themselves, with what they did last."""
        with translated(), self._engine.connect() as connection:
            rows = connection.execute(statement("expected_jobs")).mappings()
            return {row["job"]: Expected(**row) for row in rows}


class HeldJob:
    """The lock of a job, held on a connection of its own for as long as the run lasts, and the run's sign of life."""

    def __init__(self, engine: Engine, job: str) -> None:
        self._engine = engine
        self._job = job
        self._connection: Connection | None = None

    def take(self) -> bool:
        """Take the lock if nobody has it."""
        with translated():
            connection = self._engine.connect().execution_options(isolation_level="AUTOCOMMIT")
            connection.detach()  # the lock is the session's: no other user of the pool may ever get this connection
            self._connection = connection
            connection.execute(NOTICED)
            return bool(connection.scalar(LOCK, {"job": self._job}))

    def release(self) -> None:
        """Give the lock back, so that it is free when this returns: after a mere leaving the server needs a moment."""
        if self._connection is not None:
            if not self._connection.invalidated:  # else the server has ended the session, and the lock with it
                with suppress(DatabaseUnavailableError), translated():
                    self._connection.execute(UNLOCK)
            self._connection.close()
            self._connection = None

    def begin(self, arguments: str, process: str) -> int:
        """Record that a run begins; give its number."""
        told = {"job": self._job, "arguments": arguments, "process": process}
        with translated(), self._engine.begin() as connection:
            return int(connection.execute(BEGIN, told).scalar_one())

    def end(self, run: int, exit_code: int, report: str, error: str | None) -> None:
        """Record how a run ended. `report` is JSON."""
        told = {"id": run, "exit_code": exit_code, "report": report, "error": error}
        with translated(), self._engine.begin() as connection:
            connection.execute(END, told)

    def beat(self, run: int) -> None:
        """Give a sign of life. After the database was away the lock is taken again; should another run have it, both go on."""
        try:
            with translated():
                if self._connection is None:
                    self.take()
                if self._connection is not None:
                    self._connection.execute(BEAT, {"id": run})
        except DatabaseUnavailableError as error:
            log.warning("sign of life not recorded", job=self._job, error=type(error).__name__)
            self.release()


class Heartbeat:
    """Gives signs of life of a run, in a thread, until the block ends."""

    def __init__(self, held: HeldJob, run: int, every: float = BEAT_SECONDS) -> None:
        self._held = held
        self._run = run
        self._every = every
        self._over = Event()
        self._thread = Thread(target=self._beat, name="heartbeat", daemon=True)

    def __enter__(self) -> None:
        """Begin."""
        self._thread.start()

    def __exit__(self, *_error: object) -> None:
        """End. A sign of life that is on its way is waited for, because the connection is not shared."""
        self._over.set()
        self._thread.join()

    def _beat(self) -> None:
        while not self._over.wait(self._every):
            self._held.beat(self._run)
