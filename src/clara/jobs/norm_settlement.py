"""Bringing norms into the index: each as its served snapshot says, in one transaction, whoever does it and however often."""

from dataclasses import asdict, dataclass
from time import perf_counter
from typing import Any, Final

from clara.adapters.postgres.corpus.passages import alone_with
from clara.adapters.postgres.editorial.snapshots import PostgresSnapshots
from clara.container import Container
from clara.errors import NotFound
from clara.ingestion.journey import Progress, Report, Scope, ingest
from clara.knowledge.law.norm import Norm, norm_from_json
from clara.knowledge.law.passages import LAW_CORPUS, passages_of_norm

# How the law is searched: a name of data/profiles.json.
PROFILE: Final = "law"


@dataclass(frozen=True, slots=True)
class Settled:
    """What bringing a norm into the index did, or would do."""

    written: int
    embedded: int
    dropped: int
    kept: int
    seconds: float

    def as_json(self) -> dict[str, Any]:
        """Give the same as JSON."""
        return asdict(self)


class UnservedNormError(NotFound):
    """Nothing is served of a norm, so there is nothing to bring into the index. Ingest it first."""


def settle(
    services: Container, source_id: str, run: str = "", *, anew: bool = False, progress: Progress = lambda _done, _total: None
) -> Settled:
    """Make the index hold exactly the served wording of a norm, in one transaction; note what `run` did.

    Repeating it, at the same time or after whatever ended it, changes nothing more. `anew` embeds everything again. Raises
    UnservedNormError, BusyDocumentError, UnreadableNormError, EmbedderUnavailableError, StoreUnavailableError; then the index
    holds what it held.
    """
    started = perf_counter()
    engine = services.engine
    snapshots = PostgresSnapshots(engine)
    with alone_with(engine, LAW_CORPUS, source_id):
        served = snapshots.served(source_id)
        if served is None:
            raise UnservedNormError(f"nothing is served of {source_id}; ingest it first")
        report = index(services, norm_from_json(served.content), anew=anew, progress=progress)
        done = Settled(report.written, report.embedded, report.dropped, report.kept, round(perf_counter() - started, 3))
        if run:
            snapshots.note_ingestion(served.id, {"run": run, **done.as_json()})
    return done


def index(
    services: Container,
    norm: Norm,
    *,
    anew: bool = False,
    dry_run: bool = False,
    progress: Progress = lambda _done, _total: None,
) -> Report:
    """Make the index hold exactly the passages of a norm, or say what that would change."""
    embedder = services.filling(LAW_CORPUS)
    store = services.passages(services.profile(PROFILE), embedder)
    report = ingest(
        Scope(LAW_CORPUS, norm.id, anew),
        passages_of_norm(norm, LAW_CORPUS),
        store,
        services.law_embedder(norm.id, embedder, anew=anew),
        dry_run=dry_run,
        progress=progress,
    )
    if report.written and not dry_run:
        services.adopt(LAW_CORPUS, embedder)
    return report
