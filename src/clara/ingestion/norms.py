"""Bringing norms into the index: each as its served snapshot says, in one transaction, whoever does it and however often."""

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import asdict
from typing import Any, Final, Protocol

from clara.errors import NotFound
from clara.ingestion.journey import IngestionReport, IngestionScope, Progress, ingest
from clara.ingestion.ports import BusyDocumentError, FillableCorpora
from clara.knowledge.law.norm import Norm, UnreadableNormError, norm_from_json
from clara.knowledge.law.passages import LAW_CORPUS, passages_of_norm
from clara.retrieval.ports import EmbedderUnavailableError

# How the law is searched: a name of data/profiles.json.
PROFILE: Final = "law"


class UnservedNormError(NotFound):
    """Nothing is served of a norm, so there is nothing to bring into the index. Ingest it first."""


# What may be wrong with bringing one document into the index; the others go on.
INDEX_FAULTS: Final = (UnreadableNormError, UnservedNormError, BusyDocumentError, EmbedderUnavailableError)


class ServedSource(Protocol):
    """What is served of a source: its number, and its content."""

    @property
    def id(self) -> int:
        """The number."""

    @property
    def content(self) -> str:
        """Of a norm, its JSON."""


class ServedNorms(Protocol):
    """Knows which wording of a norm is served."""

    def served(self, source_id: str) -> ServedSource | None:
        """Give what answers rest on."""

    def note_ingestion(self, snapshot_id: int, done: Mapping[str, Any]) -> None:
        """Note what bringing it into the index did."""


class NormIndex:
    """The corpus of the law. `alone` keeps others from a document of a corpus while a block runs. Raises BusyDocumentError."""

    def __init__(
        self, corpora: FillableCorpora, served: ServedNorms, alone: Callable[[str, str], AbstractContextManager[None]]
    ) -> None:
        self._corpora = corpora
        self._served = served
        self._alone = alone

    def holds(self, norm: str) -> bool:
        """Whether the corpus has passages of a norm."""
        store = self._corpora.passages(self._corpora.profile(PROFILE), self._corpora.filling(LAW_CORPUS))
        return bool(store.stored(LAW_CORPUS, norm).passages)

    def settle(
        self, source_id: str, run: str = "", *, anew: bool = False, progress: Progress = lambda _done, _total: None
    ) -> IngestionReport:
        """Make the index hold exactly the served wording of a norm, in one transaction; note what `run` did.

        Repeating it, at the same time or after whatever ended it, changes nothing more. `anew` embeds everything again. Raises
        UnservedNormError, BusyDocumentError, UnreadableNormError, EmbedderUnavailableError, CorpusUnavailableError; then the
        index holds what it held.
        """
        with self._alone(LAW_CORPUS, source_id):
            served = self._served.served(source_id)
            if served is None:
                raise UnservedNormError(f"nothing is served of {source_id}; ingest it first")
            done = self.fill(norm_from_json(served.content), anew=anew, progress=progress)
            if run:
                self._served.note_ingestion(served.id, {"run": run, **asdict(done)})
        return done

    def fill(
        self, norm: Norm, *, anew: bool = False, dry_run: bool = False, progress: Progress = lambda _done, _total: None
    ) -> IngestionReport:
        """Make the index hold exactly the passages of a norm, or say what that would change."""
        embedder = self._corpora.filling(LAW_CORPUS)
        report = ingest(
            IngestionScope(LAW_CORPUS, norm.id, anew),
            passages_of_norm(norm, LAW_CORPUS),
            self._corpora.passages(self._corpora.profile(PROFILE), embedder),
            self._corpora.law_embedder(norm.id, embedder, anew=anew),
            dry_run=dry_run,
            progress=progress,
        )
        if report.written and not dry_run:
            self._corpora.adopt(LAW_CORPUS, embedder)
        return report
