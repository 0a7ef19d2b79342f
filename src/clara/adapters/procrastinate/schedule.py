"""What runs by itself: once for each due time however many workers there are, and late rather than not at all.

It has a queue, a thread and connections of its own, so that no message waits for it and its failures end no turn.
"""

import asyncio
import contextlib
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from threading import Event, Thread
from time import monotonic
from typing import Any, Final
from zoneinfo import ZoneInfo

import psycopg
import structlog
from croniter import croniter
from procrastinate import App, BaseRetryStrategy, JobContext, RetryDecision
from procrastinate.exceptions import ProcrastinateException
from procrastinate.jobs import Job
from procrastinate.periodic import PeriodicRegistry, PeriodicTask
from procrastinate.tasks import ConfigureTaskOptions, Task

from clara.adapters.procrastinate.engine import (
    GRACE_SECONDS,
    HEARTBEAT_SECONDS,
    RECONNECT_SECONDS,
    RECOVERY_EVERY_SECONDS,
    STALLED_AFTER_SECONDS,
    end_task,
    opened_app,
)
from clara.adapters.procrastinate.fenced_jobs import FencedJobs
from clara.adapters.procrastinate.recovery import DatabaseClock, Ended, Recovery
from clara.errors import Unavailable

TASK: Final = "run_scheduled"
QUEUE: Final = "operations"
# The gazette appears by the clock of Spain, summer and winter.
ZONE: Final = ZoneInfo("Europe/Madrid")
# A worker that starts does what was due while there was none, if that is not longer ago: a night, or a working day.
CAUGHT_UP_SECONDS: Final = 12 * 3600.0
# A job that ends its worker, by taking all memory for one, must not do so for ever.
MOST_TRIES: Final = 3
POLL_SECONDS: Final = 1.0
MOST_CONNECTIONS: Final = 2
# Numbers below zero: /health counts workers that answer people, and these answer nobody.
REGISTER: Final = """
insert into procrastinate_workers (id) overriding system value
values (-nextval(pg_get_serial_sequence('procrastinate_workers', 'id'))) returning id as worker_id
"""
log = structlog.get_logger()


class InterruptedRunError(Unavailable):
    """The worker stops, so the job was ended. Nothing has to be done: the next worker begins it again."""


# Does a job; ends soon after the event is set, with InterruptedRunError.
Run = Callable[[str, Event], None]


@dataclass(frozen=True, slots=True)
class Due:
    """A job and when it is due: minute, hour, day, month, weekday and, if there is a sixth field, second, in Spain's time."""

    job: str
    cron: str


class PeriodicWorker:
    """Runs jobs when they are due, one at a time, in a thread of its own, until told to stop."""

    def __init__(self, url: str, due: Sequence[Due], run: Run, caught_up_seconds: float = CAUGHT_UP_SECONDS) -> None:
        self._url = url
        self._due = tuple(due)
        self._run = run
        self._caught_up_seconds = caught_up_seconds
        self._stopped = Event()
        self._ended = Ended()
        self._task: asyncio.Task[None] | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread = Thread(target=lambda: asyncio.run(self._work_on()), name="schedule")

    def start(self) -> None:
        """Begin."""
        self._thread.start()

    def stop(self) -> None:
        """End the job that runs, and then the thread; wait for both."""
        self._stopped.set()
        loop, task = self._loop, self._task
        if loop is not None and task is not None:
            with contextlib.suppress(RuntimeError):  # the loop ended meanwhile
                loop.call_soon_threadsafe(task.cancel)
        self._thread.join()

    async def _work_on(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._loop.set_default_executor(ThreadPoolExecutor(2, "scheduled"))
        while not self._stopped.is_set():
            self._task = asyncio.create_task(self._work())
            if self._stopped.is_set():  # asked from another thread while there was nothing to cancel
                self._task.cancel()
            try:
                await self._task
            except asyncio.CancelledError:
                break
            except (ProcrastinateException, psycopg.OperationalError, OSError) as error:
                log.warning("schedule lost the database", error=type(error).__name__)
            await asyncio.sleep(RECONNECT_SECONDS)

    async def _work(self) -> None:
        app = await opened_app(self._url, MOST_CONNECTIONS)
        app.job_manager = _Operations(app.connector, self._url)
        app.periodic_registry = _SpanishTime()  # type: ignore[no-untyped-call]  # the library's, without types
        app.periodic_defaults = {"max_delay": self._caught_up_seconds}
        self._register(app)
        recovery = Recovery(app, DatabaseClock(), self._ended, STALLED_AFTER_SECONDS)
        try:
            await app.open_async()
            recovering = asyncio.create_task(recovery.run(RECOVERY_EVERY_SECONDS))
            try:
                if not self._stopped.is_set():  # connecting may swallow the cancellation
                    await self._take_jobs(app)
            finally:
                await end_task(recovering)
        finally:
            await app.close_async()

    async def _take_jobs(self, app: App) -> None:
        await app.run_worker_async(
            queues=[QUEUE],
            concurrency=1,
            fetch_job_polling_interval=POLL_SECONDS,
            listen_notify=False,
            install_signal_handlers=False,
            shutdown_graceful_timeout=GRACE_SECONDS,
            update_heartbeat_interval=HEARTBEAT_SECONDS,
            stalled_worker_timeout=STALLED_AFTER_SECONDS,
            delete_jobs="successful",
        )

    def _register(self, app: App) -> None:
        @app.task(name=TASK, queue=QUEUE, pass_context=True, retry=_AfterInterruption())
        def run_scheduled(context: JobContext, /, timestamp: int, job: str, **_of_a_later_release: object) -> None:
            del timestamp
            self._take(context.job, job)

        for due in self._due:
            lock = f"{QUEUE}:{due.job}"
            options: ConfigureTaskOptions = {"lock": lock, "queueing_lock": lock, "task_kwargs": {"job": due.job}}
            app.periodic_registry.register_task(run_scheduled, due.cron, due.job, options)

    def _take(self, taken: Job, job: str) -> None:
        try:
            if job not in {due.job for due in self._due}:
                log.info("scheduled job is switched off", job=job)
            elif taken.attempts >= MOST_TRIES:
                log.error("scheduled job given up", job=job, attempts=taken.attempts)
            else:
                self._run(job, self._stopped)
        finally:
            self._ended.note(taken, monotonic())


class _Operations(FencedJobs):
    """The jobs of the schedule, taken under numbers that no worker of messages has."""

    async def register_worker(self) -> int:
        """Register this worker."""
        return int((await self.connector.execute_query_one_async(REGISTER))["worker_id"])


class _InZone(PeriodicTask[Any, Any, Any]):
    """A job that is due by the clock of Spain; the library's own are due by Greenwich's."""

    @cached_property
    def croniter(self) -> croniter:
        """Give what knows the due times."""
        return croniter(self.cron, datetime.now(ZONE))


class _SpanishTime(PeriodicRegistry):
    def register_task(
        self, task: Task[Any, Any, Any], cron: str, periodic_id: str, configure_kwargs: ConfigureTaskOptions
    ) -> PeriodicTask[Any, Any, Any]:
        due = _InZone(task=task, cron=cron, periodic_id=periodic_id, configure_kwargs=configure_kwargs)
        self.periodic_tasks[task.name, periodic_id] = due
        return due


class _AfterInterruption(BaseRetryStrategy):
    """Begins again what was ended because its worker stopped, and nothing else: what failed waits for the next due time."""

    def get_retry_decision(self, *, exception: BaseException, job: Job) -> RetryDecision | None:
        """Give whether to begin again, which is at once."""
        del job
        return RetryDecision() if isinstance(exception, InterruptedRunError) else None
