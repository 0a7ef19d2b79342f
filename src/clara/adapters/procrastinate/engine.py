"""The job engine: scheduling turns inside the caller's transaction, and the worker that takes them."""

import asyncio
import contextlib
import signal
from collections.abc import Callable
from threading import Event
from time import monotonic
from typing import Any

import procrastinate
import psycopg
import structlog
from procrastinate import App, JobContext, PsycopgConnector, RetryStrategy, SyncPsycopgConnector
from procrastinate.exceptions import ProcrastinateException

TASK = "take_turn"
QUEUE = "turns"
# A killed worker is noticed after STALLED_AFTER and its jobs resume within RECOVERY_EVERY: under five seconds in all.
HEARTBEAT_SECONDS = 1.0
STALLED_AFTER_SECONDS = 3.0
RECOVERY_EVERY_SECONDS = 1.0
GRACE_SECONDS = 8.0
# A new message wakes the worker at once, but nothing wakes it when a sender's earlier turn ends and frees the next one:
# with the library's default of 5 s, two quick messages were answered five seconds apart.
POLL_SECONDS = 0.25
RECONNECT_SECONDS = 1.0
# Turns wait mostly for the network; the embedder takes one core of two.
CONCURRENCY = 2
RETRY = RetryStrategy(max_attempts=12, exponential_wait=2)

log = structlog.get_logger()

# Takes the turn of an inbox row; the number says how many tries went before. Runs in a thread.
TakeTurn = Callable[[int, int], str]


class TurnScheduler:
    """Puts turns into the queue; needs no connection of its own."""

    def __init__(self) -> None:
        self._task = _task(App(connector=SyncPsycopgConnector()), _never)

    def schedule(self, connection: psycopg.Connection[Any], inbox_id: int, pseudonym: str) -> None:
        """Queue the turn on this psycopg connection, inside its transaction; a sender's turns run one at a time."""
        self._task.configure(lock=pseudonym, connection=connection).defer(inbox_id=inbox_id)


class Worker:
    """Takes turns until told to stop; survives the database's absence and recovers what dead workers left behind."""

    def __init__(self, url: str, take: TakeTurn) -> None:
        self._url = url
        self._take = take
        self._stopped = Event()
        self._ended: dict[int, float] = {}
        self._task: asyncio.Task[None] | None = None
        self._loop: asyncio.AbstractEventLoop | None = None

    def run(self, *, handle_signals: bool = True) -> None:
        """Work in the foreground until `stop` is called or, when handled here, SIGTERM or SIGINT arrives."""
        asyncio.run(self._run(handle_signals=handle_signals))

    def stop(self) -> None:
        """Ask the worker to finish what it holds and end; may be called from any thread."""
        self._stopped.set()
        loop, task = self._loop, self._task
        if loop is not None and task is not None:
            with contextlib.suppress(RuntimeError):  # the loop ended meanwhile
                loop.call_soon_threadsafe(task.cancel)

    async def _run(self, *, handle_signals: bool) -> None:
        self._loop = asyncio.get_running_loop()
        if handle_signals:
            for number in (signal.SIGTERM, signal.SIGINT):
                self._loop.add_signal_handler(number, self.stop)
        while not self._stopped.is_set():
            self._task = asyncio.create_task(self._work())
            try:
                await self._task
            except asyncio.CancelledError:
                break
            except (ProcrastinateException, OSError) as error:
                log.warning("worker lost the database", error=type(error).__name__)
                await asyncio.sleep(RECONNECT_SECONDS)

    async def _work(self) -> None:
        app = App(connector=PsycopgConnector(conninfo=self._url, min_size=1, max_size=4, timeout=5.0))
        _task(app, self._noted)
        async with app.open_async():
            recovery = asyncio.create_task(self._recover_forever(app))
            try:
                await app.run_worker_async(
                    queues=[QUEUE],
                    concurrency=CONCURRENCY,
                    fetch_job_polling_interval=POLL_SECONDS,
                    install_signal_handlers=False,
                    shutdown_graceful_timeout=GRACE_SECONDS,
                    update_heartbeat_interval=HEARTBEAT_SECONDS,
                    stalled_worker_timeout=STALLED_AFTER_SECONDS,
                    delete_jobs="successful",
                )
            finally:
                recovery.cancel()
                await asyncio.gather(recovery, return_exceptions=True)

    def _noted(self, context: JobContext, inbox_id: int) -> str:
        try:
            return self._take(inbox_id, context.job.attempts)
        finally:
            self._ended[context.job.id or 0] = monotonic()

    async def _recover_forever(self, app: App) -> None:
        while True:
            try:
                await self._recover(app)
            except ProcrastinateException as error:
                log.warning("recovery could not ask the database", error=type(error).__name__)
            await asyncio.sleep(RECOVERY_EVERY_SECONDS)

    async def _recover(self, app: App) -> None:
        """Give back to the queue what nobody is doing any more.

        That is what a worker was doing that stopped beating; and what this one has done while the database was away, so
        that its end could not be recorded: such a job would stay "doing" and hold up its sender for ever.
        """
        for job in await app.job_manager.get_stalled_jobs(queue=QUEUE, seconds_since_heartbeat=STALLED_AFTER_SECONDS):
            log.warning("turn recovered from a dead worker", job=job.id)
            await app.job_manager.retry_job(job)
        doing = {job.id or 0: job for job in await app.job_manager.list_jobs_async(queue=QUEUE, status="doing")}
        old = {number for number, end in self._ended.items() if monotonic() - end > STALLED_AFTER_SECONDS}
        for number in old & doing.keys():
            log.warning("turn recovered whose end was not recorded", job=number)
            await app.job_manager.retry_job(doing[number])
        for number in old:
            del self._ended[number]


def _task(app: App, take: Callable[[JobContext, int], str]) -> procrastinate.tasks.Task[Any, Any, Any]:
    @app.task(name=TASK, queue=QUEUE, pass_context=True, retry=RETRY)
    def take_turn(context: JobContext, inbox_id: int) -> str:
        return take(context, inbox_id)

    return take_turn


def _never(_context: JobContext, _inbox_id: int) -> str:
    """Stand for the turn where it is only scheduled."""
    return ""
