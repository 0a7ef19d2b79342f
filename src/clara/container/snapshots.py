"""The snapshot of what is served, renewed where something else is served than before."""

from collections.abc import Callable
from threading import Lock
from time import perf_counter

import structlog

from clara.answering.snapshot import KnowledgeSnapshot
from clara.data_files import DataError
from clara.ingestion.ports import CorpusUnavailableError
from clara.retrieval.served_corpora import Standing

log = structlog.get_logger()


class ServedSnapshots:
    """Gives the snapshot of what is served, which one exchange with the database (`standing`) finds out.

    Whoever comes first after a switch builds the new one, and those who come meanwhile wait for it: nobody who asks after a
    switch is answered from before. While the database is away, what was known last is spoken; at first data/ alone (`build`
    of None).
    """

    def __init__(self, standing: Callable[[], Standing | None], build: Callable[[Standing | None], KnowledgeSnapshot]) -> None:
        self._standing = standing
        self._build = build
        self._lock = Lock()
        self._held: KnowledgeSnapshot | None = None

    def current(self) -> KnowledgeSnapshot:
        """Give the snapshot of what is served now; whoever got it keeps it to the end of what they do."""
        standing = self._standing()
        held = self._held
        if held is not None and (standing is None or _serves(held, standing)):
            return held
        with self._lock:
            if self._held is None or (standing is not None and not _serves(self._held, standing)):
                self._held = self._renewed(self._held, standing)
            return self._held

    def _renewed(self, held: KnowledgeSnapshot | None, standing: Standing | None) -> KnowledgeSnapshot:
        """Build the snapshot of what stands there; the one that is held, or data/ alone, where that cannot be read."""
        started = perf_counter()
        try:
            made = self._build(standing)
            if held is not None:
                _ = made.tools  # built before the first turn asks
        except (CorpusUnavailableError, DataError) as error:
            log.warning("knowledge not renewed", reason=str(error))
            return held or self._build(None)
        if held is not None:
            spent = round((perf_counter() - started) * 1000, 1)
            log.info("knowledge renewed", version=made.version.publication, total_ms=spent)
        return made


def _serves(held: KnowledgeSnapshot, standing: Standing) -> bool:
    return (held.version.physical, held.version.publication) == (standing.physical, standing.publication)
