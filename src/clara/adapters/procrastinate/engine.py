"""The job engine: what works through queues; scheduling turns inside the caller's transaction; the worker that takes them."""

import asyncio
import contextlib
import os
import random
import signal
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from datetime import datetime, timedelta
from threading import Event, Timer
from time import monotonic
from typing import Any, Final

import psycopg
import structlog
from procrastinate import App, BaseRetryStrategy, JobContext, PsycopgConnector, RetryDecision, SyncPsycopgConnector
from procrastinate.exceptions import ConnectorException, ProcrastinateException
from procrastinate.jobs import Job
from psycopg_pool import AsyncConnectionPool

from clara.adapters.procrastinate.fenced_jobs import FencedJobs
from clara.adapters.procrastinate.recovery import DatabaseClock, Ended, Recovery
from clara.delivery.ports import LostAnswerError, StoreUnavailableError, SupersededError, TemporarySendError
from clara.delivery.turn_processor import SETTLED_SECONDS

# The library's look for the next job is planned for the few jobs of a quiet hour: with 2,000 waiting it took 90 ms until the
# server's statistics were renewed a minute later. Never sorting, it takes 1 ms with or without statistics.
PLANNING: Final = "-c enable_sort=off"


async def opened_app(url: str, most_connections: int) -> App:
    """Give an engine that is not open yet, on a database that answers. Raises psycopg's errors when it does not.

    The pool asks ever more rarely for a database that is away; whether it is back is found out here, by whoever tries again.
    """
    await (await psycopg.AsyncConnection.connect(url, connect_timeout=3)).close()
    return App(
        connector=PsycopgConnector(
            conninfo=url,
            pool_factory=_pool_without_check,
            min_size=1,
            max_size=most_connections,
            timeout=5.0,
            kwargs={"options": PLANNING},
            configure=_at_once,
        )
    )


def _pool_without_check(*, check: object, **arguments: object) -> AsyncConnectionPool[Any]:
    """Leave out the check that asks the server before every use: what fails is met by starting anew."""
    del check
    return AsyncConnectionPool(**arguments)  # type: ignore[arg-type]  # whatever the library gives its pool


async def _at_once(connection: psycopg.AsyncConnection[Any]) -> None:
    """Commit each statement by itself: the library's calls are one statement each, so this takes one trip instead of three."""
    await connection.set_autocommit(True)


async def end_task(task: asyncio.Task[Any]) -> None:
    """Cancel a task until it has ended: one cancellation can be lost when a wait inside the task ends at the same moment."""
    while not task.done():
        task.cancel()
        await asyncio.wait([task], timeout=1.0)


# After this long a try to send is old enough to be looked for at the channel.
LOOK_AGAIN_SECONDS: Final = SETTLED_SECONDS + 0.1
SHORT_SECONDS: Final = 2.0
# Twilio asks for exponential back-off on 20429; five minutes is late, and still useful to a person who waits.
LONGEST_SECONDS: Final = 300.0


def wait_after(error: BaseException, attempts: int) -> float:
    """Give the seconds to wait, after so many earlier tries. There is no last try: the turn itself gives up after a day."""
    if isinstance(error, LostAnswerError):
        return LOOK_AGAIN_SECONDS
    if isinstance(error, TemporarySendError) and error.wait is not None:
        return error.wait
    if isinstance(error, StoreUnavailableError | SupersededError):
        return SHORT_SECONDS
    return float(min(SHORT_SECONDS * 2 ** min(attempts, 10), LONGEST_SECONDS)) * random.uniform(0.8, 1.2)  # noqa: S311


class Patience(BaseRetryStrategy):
    """Sets the time of the next try by the database's clock, which is the one that decides when it has come."""

    def __init__(self, now: Callable[[], datetime]) -> None:
        self._now = now

    def get_retry_decision(self, *, exception: BaseException, job: Job) -> RetryDecision:
        """Give when to try again; there is always a next try."""
        return RetryDecision(retry_at=self._now() + timedelta(seconds=wait_after(exception, job.attempts)))


class AfterOutage(BaseRetryStrategy):
    """Tries again, after so many seconds, what ended with one kind of error, and nothing else."""

    def __init__(self, kind: type[BaseException], seconds: int = 0) -> None:
        self._kind = kind
        self._seconds = seconds

    def get_retry_decision(self, *, exception: BaseException, job: Job) -> RetryDecision | None:
        """Give whether and when to try again."""
        del job
        if not isinstance(exception, self._kind):
            return None
        return RetryDecision(retry_in={"seconds": self._seconds}) if self._seconds else RetryDecision()


# A killed worker is noticed after STALLED_AFTER and its jobs resume within RECOVERY_EVERY: under five seconds in all.
HEARTBEAT_SECONDS: Final = 1.0
STALLED_AFTER_SECONDS: Final = 3.0
RECOVERY_EVERY_SECONDS: Final = 0.5
# What is not finished this long after SIGTERM is left to others; platforms kill after ten seconds.
GRACE_SECONDS: Final = 8.0
# A new message wakes the worker at once, but nothing wakes it when a sender's earlier turn ends and frees the next one:
# with the library's default of 5 s, two quick messages were answered five seconds apart.
POLL_SECONDS: Final = 0.25
RECONNECT_SECONDS: Final = 1.0
log = structlog.get_logger()


class QueueWorker(ABC):
    """Does the jobs of its queues until told to stop; survives the database's absence and recovers what dead workers left.

    Whoever derives from it adds its tasks to the new engine that is opened each time the database is back.
    """

    queues: Sequence[str]
    most_connections = 2
    poll_seconds = POLL_SECONDS
    listens = True
    """Whether new jobs wake it, besides looking for them now and then."""

    def __init__(self, url: str, slots: int = 1) -> None:
        self._url = url
        self._slots = slots
        self._stopped = Event()
        self._clock = DatabaseClock()
        self._ended = Ended()
        self._task: asyncio.Task[None] | None = None
        self._loop: asyncio.AbstractEventLoop | None = None

    def run(self, *, handle_signals: bool = True) -> None:
        """Work in the foreground until `stop` is called or, when handled here, SIGTERM or SIGINT arrives.

        With signals handled here, a job that hangs does not keep the process: it is left to the other workers, which take
        it over like that of a dead one.
        """
        asyncio.run(self._run(handle_signals=handle_signals))

    def stop(self) -> None:
        """Ask the worker to finish what it holds and end; may be called from any thread."""
        self._stopped.set()
        loop, task = self._loop, self._task
        if loop is not None and task is not None:
            with contextlib.suppress(RuntimeError):  # the loop ended meanwhile
                loop.call_soon_threadsafe(task.cancel)

    def _signalled(self) -> None:
        give_up = Timer(GRACE_SECONDS + 1, os._exit, (0,))
        give_up.daemon = True
        give_up.start()
        self.stop()

    async def _run(self, *, handle_signals: bool) -> None:
        self._loop = asyncio.get_running_loop()
        self._loop.set_default_executor(ThreadPoolExecutor(self._slots + 1, self.queues[-1]))
        if handle_signals:
            for number in (signal.SIGTERM, signal.SIGINT):
                self._loop.add_signal_handler(number, self._signalled)
        while not self._stopped.is_set():
            self._task = asyncio.create_task(self._work())
            if self._stopped.is_set():  # asked from another thread while there was nothing to cancel
                self._task.cancel()
            try:
                await self._task
            except asyncio.CancelledError:
                break
            except (ProcrastinateException, psycopg.OperationalError, OSError) as error:  # opening a pool is not translated
                log.warning("worker lost the database", part=self.queues[-1], error=type(error).__name__)
                await asyncio.sleep(RECONNECT_SECONDS)

    async def _work(self) -> None:
        app = await opened_app(self._url, self.most_connections)
        app.job_manager = self._jobs(app)
        self._add_tasks(app)
        try:
            await app.open_async()
            if not self._stopped.is_set():  # connecting may swallow the cancellation
                await self._take_jobs(app)
        finally:
            # Also when the opening is cancelled: the pool's own tasks take no cancellation, only this ends them.
            await app.close_async()

    def _jobs(self, app: App) -> FencedJobs:
        return FencedJobs(app.connector, self._url, aside=True)

    @abstractmethod
    def _add_tasks(self, app: App) -> None:
        """Add what is done with jobs, each within `_noting`."""

    async def _take_jobs(self, app: App) -> None:
        recovery = Recovery(app, self._clock, self._ended, STALLED_AFTER_SECONDS)
        recovering = asyncio.create_task(recovery.run(RECOVERY_EVERY_SECONDS))
        try:
            await app.run_worker_async(
                queues=list(self.queues),
                concurrency=self._slots,
                fetch_job_polling_interval=self.poll_seconds,
                listen_notify=self.listens,
                install_signal_handlers=False,
                shutdown_graceful_timeout=GRACE_SECONDS,
                update_heartbeat_interval=HEARTBEAT_SECONDS,
                stalled_worker_timeout=STALLED_AFTER_SECONDS,
                delete_jobs="successful",
            )
        finally:
            await end_task(recovering)

    @contextmanager
    def _noting(self, job: Job) -> Iterator[None]:
        """Note the end of a job, however it ends."""
        try:
            yield
        finally:
            self._ended.note(job, monotonic())


TASK: Final = "take_turn"
# The previous release takes from "turns" only. It cannot read what this one stores, so during an upgrade its workers must
# not get it; this release's workers take from both.
QUEUE: Final = "messages"
QUEUES: Final = ("turns", QUEUE)
UPKEEP_EVERY_SECONDS: Final = 60.0
# Beside the turns at once that the settings name, so many for who is in danger: such a turn takes some 30 ms.
EMERGENCY_SLOTS: Final = 1

# Takes the turn of an inbox row. Runs in a thread.
TakeTurn = Callable[[int], str]


class TurnScheduler:
    """Puts turns into the queue; needs no connection of its own."""

    def __init__(self) -> None:
        self._app = App(connector=SyncPsycopgConnector())

    def schedule(self, connection: psycopg.Connection[Any], inbox_id: int, pseudonym: str) -> None:
        """Queue the turn on this psycopg connection, inside its transaction; a sender's turns run one at a time.

        Raises StoreUnavailableError.
        """
        queued = self._app.configure_task(TASK, queue=QUEUE, lock=pseudonym, connection=connection)
        try:
            queued.defer(inbox_id=inbox_id)
        except ConnectorException as error:
            raise StoreUnavailableError(f"the turn could not be queued: {type(error.__cause__).__name__}") from error


class Worker(QueueWorker):
    """Takes turns. `upkeep` is called in a thread now and then, for what must be done regularly whoever does it."""

    queues = QUEUES
    most_connections = 4

    def __init__(self, url: str, take: TakeTurn, turns_at_once: int = 4, upkeep: Callable[[], None] | None = None) -> None:
        super().__init__(url, turns_at_once + EMERGENCY_SLOTS)
        self._take = take
        self._turns_at_once = turns_at_once
        self._upkeep = upkeep

    async def _run(self, *, handle_signals: bool) -> None:
        upkeep = asyncio.create_task(self._upkeep_forever())
        await super()._run(handle_signals=handle_signals)
        await end_task(upkeep)

    def _jobs(self, app: App) -> FencedJobs:
        return FencedJobs(app.connector, self._url, self._turns_at_once, EMERGENCY_SLOTS)

    def _add_tasks(self, app: App) -> None:
        @app.task(name=TASK, queue=QUEUE, pass_context=True, retry=Patience(self._clock.now))
        def take_turn(context: JobContext, /, inbox_id: int, **_of_a_later_release: object) -> str:
            with self._noting(context.job):
                return self._take(inbox_id)

    async def _upkeep_forever(self) -> None:
        while self._upkeep is not None:
            (failure,) = await asyncio.gather(asyncio.to_thread(self._upkeep), return_exceptions=True)
            if isinstance(failure, Exception):
                log.error("upkeep failed", error=type(failure).__name__, exc_info=failure)
            await asyncio.sleep(UPKEEP_EVERY_SECONDS)
