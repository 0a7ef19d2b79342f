"""The queue of documents to bring into the index: any number of workers, on any machine, take one each."""

import asyncio
from collections.abc import Callable, Sequence
from time import monotonic
from typing import Final

import psycopg
from procrastinate import App, BaseRetryStrategy, JobContext, RetryDecision, SyncPsycopgConnector
from procrastinate.exceptions import ConnectorException
from procrastinate.jobs import Job
from procrastinate.tasks import Task

from clara.adapters.procrastinate.engine import (
    GRACE_SECONDS,
    HEARTBEAT_SECONDS,
    POLL_SECONDS,
    RECOVERY_EVERY_SECONDS,
    STALLED_AFTER_SECONDS,
    Worker,
    end_task,
    opened_app,
)
from clara.adapters.procrastinate.fenced_jobs import FencedJobs
from clara.adapters.procrastinate.recovery import DatabaseClock, Ended, Recovery
from clara.adapters.procrastinate.schedule import REGISTER
from clara.ingestion.ports import CorpusUnavailableError

TASK: Final = "ingest_document"
QUEUE: Final = "ingestion"
# A document that ends its worker, by taking all memory for one, must not do so for ever.
MOST_TRIES: Final = 4
AGAIN_SECONDS: Final = 5
MOST_CONNECTIONS: Final = 2

# Brings a document into the index for a run, anew or not, and notes what came of it. Runs in a thread.
Settle = Callable[[str, str, bool], None]
# Notes that a document was given up: its number, the run.
GiveUp = Callable[[str, str], None]


class IngestionQueue:
    """Puts documents into the queue, and tells what became of them."""

    def __init__(self, url: str) -> None:
        self._url = url

    def add(self, run: str, sources: Sequence[str], *, anew: bool) -> None:
        """Queue documents for a run, all or none; each is taken by one worker at a time. Raises CorpusUnavailableError."""
        task = _task(App(connector=SyncPsycopgConnector()), lambda _context, _source, _run, _anew: None)
        try:
            with psycopg.connect(self._url, connect_timeout=3) as connection:
                for source in sources:
                    queued = task.configure(lock=f"{QUEUE}:{source}", connection=connection)
                    queued.defer(source=source, run=run, anew=anew)
        except (psycopg.OperationalError, ConnectorException) as error:
            raise CorpusUnavailableError(f"documents could not be queued: {type(error).__name__}") from error

    def undone(self, run: str) -> set[str]:
        """Give the documents of a run that wait for a worker, or that one has. Raises CorpusUnavailableError."""
        asked = (
            "select args ->> 'source' from procrastinate_jobs "
            "where queue_name = %s and status in ('todo', 'doing') and args ->> 'run' = %s"
        )
        try:
            with psycopg.connect(self._url, connect_timeout=3) as connection:
                return {str(row[0]) for row in connection.execute(asked, [QUEUE, run])}
        except psycopg.OperationalError as error:
            raise CorpusUnavailableError(f"the queue could not be read: {type(error).__name__}") from error


class IngestionWorker(Worker):
    """Takes documents from the queue, one at a time, until told to stop; survives the database's absence."""

    def __init__(self, url: str, settle: Settle, give_up: GiveUp) -> None:
        super().__init__(url, _no_turn, turns_at_once=1)
        self._settle = settle
        self._give_up = give_up

    async def _work(self) -> None:
        app = await opened_app(self._url, MOST_CONNECTIONS)
        app.job_manager = _Ingestion(app.connector, self._url)
        ended = Ended()
        _task(app, lambda context, source, run, anew: self._done(context, ended, source, run, anew=anew))
        recovery = Recovery(app, DatabaseClock(), ended, STALLED_AFTER_SECONDS)
        try:
            await app.open_async()
            recovering = asyncio.create_task(recovery.run(RECOVERY_EVERY_SECONDS))
            try:
                if not self._stopped.is_set():  # connecting may swallow the cancellation
                    await self._take_documents(app)
            finally:
                await end_task(recovering)
        finally:
            await app.close_async()

    async def _take_documents(self, app: App) -> None:
        await app.run_worker_async(
            queues=[QUEUE],
            concurrency=1,
            fetch_job_polling_interval=POLL_SECONDS,
            install_signal_handlers=False,
            shutdown_graceful_timeout=GRACE_SECONDS,
            update_heartbeat_interval=HEARTBEAT_SECONDS,
            stalled_worker_timeout=STALLED_AFTER_SECONDS,
            delete_jobs="successful",
        )

    def _done(self, context: JobContext, ended: Ended, source: str, run: str, *, anew: bool) -> None:
        try:
            if context.job.attempts >= MOST_TRIES:
                self._give_up(source, run)
            else:
                self._settle(source, run, anew)
        finally:
            ended.note(context.job, monotonic())


class _Ingestion(FencedJobs):
    """Documents, taken under numbers that no worker of messages has: /health counts those."""

    async def register_worker(self) -> int:
        """Register this worker."""
        return int((await self.connector.execute_query_one_async(REGISTER))["worker_id"])


class _WhileAway(BaseRetryStrategy):
    """Tries again what the database's absence ended; whatever else is wrong with a document was noted."""

    def get_retry_decision(self, *, exception: BaseException, job: Job) -> RetryDecision | None:
        """Give whether and when to try again."""
        del job
        return RetryDecision(retry_in={"seconds": AGAIN_SECONDS}) if isinstance(exception, CorpusUnavailableError) else None


Do = Callable[[JobContext, str, str, bool], None]


def _task(app: App, do: Do) -> Task[..., None, ...]:
    @app.task(name=TASK, queue=QUEUE, pass_context=True, retry=_WhileAway())
    def ingest_document(context: JobContext, /, source: str, run: str, anew: bool, **_of_a_later_release: object) -> None:
        do(context, source, run, anew)

    return ingest_document


def _no_turn(_inbox_id: int) -> str:
    """Stand for the turn, which this worker never takes."""
    return ""
