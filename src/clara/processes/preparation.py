"""Getting a database ready: found or started, brought to the newest schema, filled with the knowledge of data/."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Literal

import structlog

from clara.adapters.postgres.connections import DatabaseUnavailableError, UnsuitableServerError, has_passages, is_current
from clara.adapters.postgres.embedded import EmbeddedServerError
from clara.container import Container, open_container
from clara.errors import Refused
from clara.ingestion.journey import STEP, IngestionReport, IngestionScope, Progress, ingest
from clara.ingestion.plan import plan_changes, text_digest_of
from clara.ingestion.ports import CorpusUnavailableError
from clara.knowledge.knowledge_base import laid_over
from clara.knowledge.passages import CORPUS
from clara.retrieval.embedders import LenientEmbedder
from clara.retrieval.passage import Passage
from clara.retrieval.ports import Embedder
from clara.settings import Settings, resources

log = structlog.get_logger()
Say = Callable[[str], None]
Preparation = Literal["nothing", "schema", "all"]
# Embedding this many passages takes some ten seconds on two cores; a multiple of the steps of an ingestion.
ANNOUNCED = 128


class OutdatedSchemaError(Refused):
    """The database behind RAG_DB_URL has no tables yet, or old ones. Run `clara migrate`, then `clara ingest`."""


class OutdatedCorpusError(Refused):
    """The corpus behind RAG_DB_URL is not what data/ says, so figures would be those of another release. Run `clara ingest`."""


def ensure_corpus(services: Container, say: Say) -> None:
    """Make the embedded server's corpus what data/ says; of a server of the operator's, only see that it is.

    Raises OutdatedCorpusError, DataError, CorpusUnavailableError.
    """
    report = fill(services, say, dry_run=services.server is None)
    if report.dry_run and (report.written or report.dropped) and _outdated(services):
        raise OutdatedCorpusError


def _outdated(services: Container) -> bool:
    """Whether the corpus says something else than data/. That vectors are missing makes no figure wrong."""
    physical, wanted = as_served(services)
    store = services.passages(embedder=services.filling(physical))
    stored = store.stored(physical)
    if stored.profile != store.profile.name:
        return True
    assumed = {passage.id: text_digest_of(passage) for passage in wanted}
    return not plan_changes(replace(stored, vectors={**assumed, **stored.vectors}), wanted).empty


@contextmanager
def running_services(settings: Settings, say: Say, *, prepare: Preparation = "all") -> Iterator[Container]:
    """Give the services on a database that runs, and close everything at the end.

    With RAG_DB_URL unset, the embedded server is started and prepared: its schema, or that and its knowledge. A server of the
    operator's is only looked at: raises OutdatedSchemaError when it is not ready, and goes on when it is away, because it
    may come back. Raises EmbeddedServerError.
    """
    services = open_container(settings)
    try:
        if prepare != "nothing":
            _prepare(services, say, knowledge=prepare == "all")
        yield services
    finally:
        services.close()


def _prepare(services: Container, say: Say, *, knowledge: bool) -> None:
    try:
        current = is_current(services.engine, resources() / "migrations")
        filled = current and has_passages(services.engine, services.publications().served(CORPUS).physical)
    except (DatabaseUnavailableError, CorpusUnavailableError) as error:
        say(f"Going on without the database: {error}")
        return
    if services.server is None and not current:
        raise OutdatedSchemaError
    if services.server is not None and not current:
        say("Preparing the database ...")
        services.migrate()
    if services.server is not None and not filled and knowledge:
        fill(services, say)


@contextmanager
def services_or_outage(settings: Settings, say: Say) -> Iterator[Container]:
    """Give the services even when there is no database: then the search index counts as out, and the rest answers."""
    try:
        manager = running_services(settings, say)
        services = manager.__enter__()
    except (EmbeddedServerError, UnsuitableServerError, DatabaseUnavailableError) as error:
        say(f"The database is out: {error}")
        yield Container(settings, None, outage=str(error))
        return
    try:
        yield services
    finally:
        manager.__exit__(None, None, None)


def fill(
    services: Container, say: Say, *, dry_run: bool = False, anew: bool = False, progress: Progress | None = None
) -> IngestionReport:
    """Make the corpus that is served hold exactly what data/ and the published corrections say; `anew`, embed all of it again.

    A served model that is out leaves new texts without vectors: they are found by their words until the next ingestion.
    Raises DataError before anything is written, CorpusUnavailableError.
    """
    physical, passages = as_served(services)
    embedder = patient_embedder(services, physical, say)
    report = ingest(
        IngestionScope(physical, anew=anew),
        passages,
        services.passages(embedder=embedder),
        services.memorising_embedder(embedder, anew=True) if anew else services.passage_embedder(embedder),
        dry_run=dry_run,
        progress=progress or _announcing(say),
    )
    if not dry_run:
        services.adopt(physical, embedder)
    say(str(report))
    return report


def as_served(services: Container) -> tuple[str, Sequence[Passage]]:
    """Give the corpus that is served and what it should hold, read and not remembered. Raises CorpusUnavailableError."""
    held = services.publications().served(CORPUS)
    knowledge, done = laid_over(services.released, services.revisions().of(held.revisions))
    for lost in done.lost:
        log.warning("correction left out", reason=str(lost))
    return held.physical, knowledge.passages


def patient_embedder(container: Container, corpus: str, say: Say) -> Embedder:
    """Give what embeds the texts of Clara's corpus: what a served model that is out cannot embed is left without a vector."""
    embedder = container.filling(corpus)
    if embedder.model == container.embedder.model:
        return embedder
    return LenientEmbedder(
        embedder, lambda error: say(f"Texts that are new have no vectors yet: {error}. Later, run `clara ingest` again.")
    )


def _announcing(say: Say) -> Progress:
    """Report long work in a few lines, where a line that rewrites itself would not do."""

    def report(done: int, total: int) -> None:
        if total >= ANNOUNCED and (done == total or done % ANNOUNCED < STEP):
            say(f"embedding {done} of {total} passages ...")

    return report
