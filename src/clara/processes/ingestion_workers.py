"""Processes that bring documents into the index together, and the worker that each of them is."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from time import sleep
from typing import Any, Final

import structlog

from clara.adapters.postgres.connections import plain_url
from clara.adapters.postgres.editorial.findings import PostgresSnapshots
from clara.adapters.procrastinate.ingestion_queue import IngestionQueue, IngestionWorker
from clara.ingestion.journey import IngestionReport
from clara.ingestion.norms import INDEX_FAULTS, NormIndex
from clara.processes.children import Child
from clara.settings import child_environment

LOOK_SECONDS: Final = 0.2
COMMAND: Final = "ingest-worker"
GIVEN_UP: Final = "ended its worker again and again; look at its size and at the memory of the machine"
log = structlog.get_logger()


class WorkerCrew:
    """Worker processes of a run. Workers on other machines that serve the same queue take their part without being asked."""

    def __init__(self, url: str, snapshots: PostgresSnapshots, run: str, size: int) -> None:
        # One thread each: the embedder's threads spin, and as many processes as cores use them better.
        environment = child_environment(OMP_NUM_THREADS="1", RAG_DB_URL=url)
        self._children = [Child(COMMAND, environment) for _ in range(size)]
        self._queue = IngestionQueue(plain_url(url))
        self._snapshots = snapshots
        self._run = run

    def work(self, sources: Sequence[str], *, anew: bool) -> Iterator[tuple[str, IngestionReport | str]]:
        """Queue documents and give each as it is done, with what was done or what was wrong.

        Raises ChildrenFailedError, CorpusUnavailableError; what is left stays queued for whoever serves the queue next.
        """
        self._queue.add(self._run, sources, anew=anew)
        left = set(sources)
        try:
            while left:
                for child in self._children:
                    child.keep_running()
                # Asked in this order, a document that ends in between is seen as done by the next look at the latest.
                undone = self._queue.undone(self._run)
                noted = self._snapshots.ingestions(self._run)
                for source in sorted(left & noted.keys()):
                    left.remove(source)
                    yield source, _told(noted[source])
                for source in sorted(left - undone - noted.keys()):
                    left.remove(source)
                    yield source, "was given up; the messages of the workers above say why"
                if left:
                    sleep(LOOK_SECONDS)
        finally:
            for child in self._children:
                child.stop()


def _told(note: dict[str, Any]) -> IngestionReport | str:
    if "error" in note:
        return str(note["error"])
    return IngestionReport(**{name: note[name] for name in IngestionReport.__dataclass_fields__})


def build_ingestion_worker(url: str, norms: NormIndex, snapshots: PostgresSnapshots) -> IngestionWorker:
    """Build the worker of this process."""

    def bring(source: str, run: str, anew: bool) -> None:
        try:
            done = norms.settle(source, run, anew=anew)
        except INDEX_FAULTS as error:
            log.warning("document not ingested", source=source, error=type(error).__name__, reason=str(error))
            _note(snapshots, source, run, str(error))
        else:
            log.info("document ingested", source=source, **asdict(done))

    def give_up(source: str, run: str) -> None:
        log.error("document given up", source=source)
        _note(snapshots, source, run, GIVEN_UP)

    return IngestionWorker(plain_url(url), bring, give_up)


def _note(snapshots: PostgresSnapshots, source: str, run: str, error: str) -> None:
    served = snapshots.served(source)
    if served is not None:
        snapshots.note_ingestion(served.id, {"run": run, "error": error})
