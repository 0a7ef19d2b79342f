"""The job engine: scheduling turns inside the caller's transaction, and the worker that takes them, and again."""

import asyncio
import contextlib
import os
import random
import signal
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timedelta
from threading import Event, Timer
from time import monotonic
from typing import Any, Final

import procrastinate
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


TASK: Final = "take_turn"
# The previous release takes from "turns" only. It cannot read what this one stores, so during an upgrade its workers must
# not get it; this release's workers take from both.
QUEUE: Final = "messages"
QUEUES: Final = ("turns", QUEUE)
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
MOST_CONNECTIONS: Final = 4
UPKEEP_EVERY_SECONDS: Final = 60.0
# Beside the turns at once that the settings name, so many for who is in danger: such a turn takes some 30 ms.
EMERGENCY_SLOTS: Final = 1

log = structlog.get_logger()

# Takes the turn of an inbox row. Runs in a thread.
TakeTurn = Callable[[int], str]


class TurnScheduler:
    """Puts turns into the queue; needs no connection of its own."""

    def __init__(self) -> None:
        self._task = _task(App(connector=SyncPsycopgConnector()), _never, DatabaseClock())

    def schedule(self, connection: psycopg.Connection[Any], inbox_id: int, pseudonym: str) -> None:
        """Queue the turn on this psycopg connection, inside its transaction; a sender's turns run one at a time.

        Raises StoreUnavailableError.
        """
        try:
            self._task.configure(lock=pseudonym, connection=connection).defer(inbox_id=inbox_id)
        except ConnectorException as error:
            raise StoreUnavailableError(f"the turn could not be queued: {type(error.__cause__).__name__}") from error


class Worker:
    """Takes turns until told to stop; survives the database's absence and recovers what dead workers left behind.

    `upkeep` is called in a thread now and then, for what must be done regularly whoever does it.
    """

    def __init__(self, url: str, take: TakeTurn, turns_at_once: int = 4, upkeep: Callable[[], None] | None = None) -> None:
        self._url = url
        self._take = take
        self._turns_at_once = turns_at_once
        self._slots = turns_at_once + EMERGENCY_SLOTS
        self._upkeep = upkeep
        self._stopped = Event()
        self._clock = DatabaseClock()
        self._ended = Ended()
        self._task: asyncio.Task[None] | None = None
        self._loop: asyncio.AbstractEventLoop | None = None

    def run(self, *, handle_signals: bool = True) -> None:
        """Work in the foreground until `stop` is called or, when handled here, SIGTERM or SIGINT arrives.

        With signals handled here, a turn that hangs does not keep the process: it is left to the other workers, which take
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
        self._loop.set_default_executor(ThreadPoolExecutor(self._slots + 1, "turn"))
        if handle_signals:
            for number in (signal.SIGTERM, signal.SIGINT):
                self._loop.add_signal_handler(number, self._signalled)
        upkeep = asyncio.create_task(self._upkeep_forever())
        while not self._stopped.is_set():
            self._task = asyncio.create_task(self._work())
            if self._stopped.is_set():  # asked from another thread while there was nothing to cancel
                self._task.cancel()
            try:
                await self._task
            except asyncio.CancelledError:
                break
            except (ProcrastinateException, psycopg.OperationalError, OSError) as error:  # opening a pool is not translated
                log.warning("worker lost the database", error=type(error).__name__)
                await asyncio.sleep(RECONNECT_SECONDS)
        await end_task(upkeep)

    async def _work(self) -> None:
        app = await opened_app(self._url, MOST_CONNECTIONS)
        app.job_manager = FencedJobs(app.connector, self._url, self._turns_at_once, EMERGENCY_SLOTS)
        _task(app, self._noted, self._clock)
        try:
            await app.open_async()
            if not self._stopped.is_set():  # connecting may swallow the cancellation
                await self._take_turns(app)
        finally:
            # Also when the opening is cancelled: the pool's own tasks take no cancellation, only this ends them.
            await app.close_async()

    async def _take_turns(self, app: App) -> None:
        recovery = Recovery(app, self._clock, self._ended, STALLED_AFTER_SECONDS)
        recovering = asyncio.create_task(recovery.run(RECOVERY_EVERY_SECONDS))
        try:
            await app.run_worker_async(
                queues=list(QUEUES),
                concurrency=self._slots,
                fetch_job_polling_interval=POLL_SECONDS,
                install_signal_handlers=False,
                shutdown_graceful_timeout=GRACE_SECONDS,
                update_heartbeat_interval=HEARTBEAT_SECONDS,
                stalled_worker_timeout=STALLED_AFTER_SECONDS,
                delete_jobs="successful",
            )
        finally:
            await end_task(recovering)

    def _noted(self, context: JobContext, inbox_id: int) -> str:
        try:
            return self._take(inbox_id)
        finally:
            self._ended.note(context.job, monotonic())

    async def _upkeep_forever(self) -> None:
        while self._upkeep is not None:
            (failure,) = await asyncio.gather(asyncio.to_thread(self._upkeep), return_exceptions=True)
            if isinstance(failure, Exception):
                log.error("upkeep failed", error=type(failure).__name__, exc_info=failure)
            await asyncio.sleep(UPKEEP_EVERY_SECONDS)


def _task(app: App, take: Callable[[JobContext, int], str], clock: DatabaseClock) -> procrastinate.tasks.Task[Any, Any, Any]:
    @app.task(name=TASK, queue=QUEUE, pass_context=True, retry=Patience(clock.now))
    def take_turn(context: JobContext, /, inbox_id: int, **_of_a_later_release: object) -> str:
        return take(context, inbox_id)

    return take_turn


def _never(_context: JobContext, _inbox_id: int) -> str:
    """Stand for the turn where it is only scheduled."""
    return ""
