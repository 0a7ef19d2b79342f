"""The queue of documents to bring into the index: any number of workers, on any machine, take one each."""

from collections.abc import Callable, Sequence
from typing import Final

import psycopg
from procrastinate import App, JobContext, SyncPsycopgConnector
from procrastinate.exceptions import ConnectorException

from clara.adapters.procrastinate.engine import AfterOutage, QueueWorker
from clara.adapters.procrastinate.fenced_jobs import STATEMENTS
from clara.ingestion.ports import CorpusUnavailableError

TASK: Final = "ingest_document"
QUEUE: Final = "ingestion"
# A document that ends its worker, by taking all memory for one, must not do so for ever.
MOST_TRIES: Final = 4
AGAIN_SECONDS: Final = 5

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
        app = App(connector=SyncPsycopgConnector())
        try:
            with psycopg.connect(self._url, connect_timeout=3) as connection:
                for source in sources:
                    queued = app.configure_task(TASK, queue=QUEUE, lock=f"{QUEUE}:{source}", connection=connection)
                    queued.defer(source=source, run=run, anew=anew)
        except (psycopg.OperationalError, ConnectorException) as error:
            raise CorpusUnavailableError(f"documents could not be queued: {type(error).__name__}") from error

    def undone(self, run: str) -> set[str]:
        """Give the documents of a run that wait for a worker, or that one has. Raises CorpusUnavailableError."""
        try:
            with psycopg.connect(self._url, connect_timeout=3) as connection:
                return {str(row[0]) for row in connection.execute(STATEMENTS["undone"], {"queue": QUEUE, "run": run})}
        except psycopg.OperationalError as error:
            raise CorpusUnavailableError(f"the queue could not be read: {type(error).__name__}") from error


class IngestionWorker(QueueWorker):
    """Takes documents from the queue, one at a time, until told to stop; survives the database's absence.

    What that ended is tried again; whatever else is wrong with a document was noted.
    """

    queues = (QUEUE,)

    def __init__(self, url: str, settle: Settle, give_up: GiveUp) -> None:
        super().__init__(url)
        self._settle = settle
        self._give_up = give_up

    def _add_tasks(self, app: App) -> None:
        @app.task(name=TASK, queue=QUEUE, pass_context=True, retry=AfterOutage(CorpusUnavailableError, AGAIN_SECONDS))
        def ingest_document(context: JobContext, /, source: str, run: str, anew: bool, **_of_a_later_release: object) -> None:
            with self._noting(context.job):
                if context.job.attempts >= MOST_TRIES:
                    self._give_up(source, run)
                else:
                    self._settle(source, run, anew)
