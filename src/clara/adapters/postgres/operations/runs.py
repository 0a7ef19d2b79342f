"""What ran, when, and how it ended. Who runs a job holds its lock: a second run of it ends at once, having done nothing."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from threading import Event, Thread
from typing import Any, Final

import structlog
from sqlalchemy import Engine

from clara.adapters.postgres.connections import DatabaseUnavailableError
from clara.adapters.postgres.statements import AtOnce, Session, Store

BEAT_SECONDS: Final = 5.0
# Six beats. A run on a busy machine, or behind a database that restarts, is not called dead for one that it missed.
SILENT_AFTER_SECONDS: Final = 30.0
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


class PostgresRuns(Store):
    """Records runs, and reads them. Every method may raise DatabaseUnavailableError."""

    unavailable = DatabaseUnavailableError

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
        return self._at_once.read(Run, "runs", limit=limit, before=before, job=job, silent_after=SILENT_AFTER_SECONDS)

    def expect(self, jobs: Sequence[str]) -> None:
        """Note which jobs are switched on from now on; whoever was already keeps the day from which it is expected."""
        self._at_once.changed("expect_jobs", jobs=sorted(jobs))

    def expected(self) -> Mapping[str, Expected]:
        """Give the jobs that should run by themselves, with what they did last."""
        return {one.job: one for one in self._at_once.read(Expected, "expected_jobs")}


class HeldJob:
    """The lock of a job, held on a connection of its own for as long as the run lasts, and the run's sign of life."""

    def __init__(self, engine: Engine, job: str) -> None:
        self._engine = engine
        self._at_once = AtOnce(engine, DatabaseUnavailableError)
        self._job = job
        self._session: Session | None = None

    def take(self) -> bool:
        """Take the lock if nobody has it."""
        self._session = Session(self._engine, DatabaseUnavailableError, "clara job")
        return bool(self._session.value("run.lock", job=self._job))

    def release(self) -> None:
        """Give the lock back, so that it is free when this returns: after a mere leaving the server needs a moment."""
        if self._session is not None:
            self._session.close()
            self._session = None

    def begin(self, arguments: str, process: str) -> int:
        """Record that a run begins; give its number."""
        return int(self._at_once.value("run.begin", job=self._job, arguments=arguments, process=process))

    def end(self, run: int, exit_code: int, report: str, error: str | None) -> None:
        """Record how a run ended. `report` is JSON."""
        self._at_once.changed("run.end", id=run, exit_code=exit_code, report=report, error=error)

    def beat(self, run: int) -> None:
        """Give a sign of life. After the database was away the lock is taken again; should another run have it, both go on."""
        try:
            if self._session is None:
                self.take()
            if self._session is not None:
                self._session.changed("run.beat", id=run)
        except DatabaseUnavailableError as error:
            log.warning("sign of life not recorded", job=self._job, error=type(error).__name__)
            self.release()


@contextmanager
def heartbeat(held: HeldJob, run: int, every: float = BEAT_SECONDS) -> Iterator[None]:
    """Give signs of life of a run, in a thread, until the block ends."""
    over = Event()

    def beat() -> None:
        while not over.wait(every):
            held.beat(run)

    thread = Thread(target=beat, name="heartbeat", daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()  # a sign of life that is on its way is waited for, because the connection is not shared
