"""Getting a database ready: found or started, brought to the newest schema, filled with the knowledge of data/."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from typing import Literal

import structlog

from clara.adapters.postgres.connections import DatabaseUnavailableError, UnsuitableServerError, has_passages, is_current
from clara.adapters.postgres.embedded import EmbeddedServerError
from clara.container import Container, open_container
from clara.errors import Refused
from clara.ingestion.journey import STEP, IngestionReport, IngestionScope, Progress, ingest, plan_changes, text_digest_of
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


def ensure_corpus(container: Container, say: Say) -> None:
    """Make the embedded server's corpus what data/ says; of a server of the operator's, only see that it is.

    Raises OutdatedCorpusError, DataError, CorpusUnavailableError.
    """
    report = fill(container, say, dry_run=container.server is None)
    if report.dry_run and (report.written or report.dropped) and _outdated(container):
        raise OutdatedCorpusError


def _outdated(container: Container) -> bool:
    """Whether the corpus says something else than data/. That vectors are missing makes no figure wrong."""
    physical, wanted = as_served(container)
    store = container.passages(embedder=container.filling(physical))
    stored = store.stored(physical)
    if stored.profile != store.profile.name:
        return True
    assumed = {passage.id: text_digest_of(passage) for passage in wanted}
    return not plan_changes(replace(stored, vectors={**assumed, **stored.vectors}), wanted).empty


@contextmanager
def running_container(settings: Settings, say: Say, *, prepare: Preparation = "all") -> Iterator[Container]:
    """Give the container on a database that runs, and close everything at the end.

    With RAG_DB_URL unset, the embedded server is started and prepared: its schema, or that and its knowledge. A server of the
    operator's is only looked at: raises OutdatedSchemaError when it is not ready, and goes on when it is away, because it
    may come back. Raises EmbeddedServerError.
    """
    container = open_container(settings)
    try:
        if prepare != "nothing":
            _prepare(container, say, knowledge=prepare == "all")
        yield container
    finally:
        container.close()


def _prepare(container: Container, say: Say, *, knowledge: bool) -> None:
    try:
        current = is_current(container.engine, resources() / "migrations")
        filled = current and has_passages(container.engine, container.publications().served(CORPUS).physical)
    except (DatabaseUnavailableError, CorpusUnavailableError) as error:
        say(f"Going on without the database: {error}")
        return
    if container.server is None and not current:
        raise OutdatedSchemaError
    if container.server is not None and not current:
        say("Preparing the database ...")
        container.migrate()
    if container.server is not None and not filled and knowledge:
        fill(container, say)


@contextmanager
def container_or_outage(settings: Settings, say: Say) -> Iterator[Container]:
    """Give the container even when there is no database: then the search index counts as out, and the rest answers."""
    with ExitStack() as running:
        try:
            container = running.enter_context(running_container(settings, say))
        except (EmbeddedServerError, UnsuitableServerError, DatabaseUnavailableError) as error:
            say(f"The database is out: {error}")
            container = Container(settings, None, outage=str(error))
        yield container


def fill(
    container: Container, say: Say, *, dry_run: bool = False, anew: bool = False, progress: Progress | None = None
) -> IngestionReport:
    """Make the corpus that is served hold exactly what data/ and the published corrections say; `anew`, embed all of it again.

    A served model that is out leaves new texts without vectors: they are found by their words until the next ingestion.
    Raises DataError before anything is written, CorpusUnavailableError.
    """
    physical, passages = as_served(container)
    embedder = patient_embedder(container, physical, say)
    report = ingest(
        IngestionScope(physical, anew=anew),
        passages,
        container.passages(embedder=embedder),
        container.memorising_embedder(embedder, anew=True) if anew else container.passage_embedder(embedder),
        dry_run=dry_run,
        progress=progress or _announcing(say),
    )
    if not dry_run:
        container.adopt(physical, embedder)
    say(str(report))
    return report


def as_served(container: Container) -> tuple[str, Sequence[Passage]]:
    """Give the corpus that is served and what it should hold, read and not remembered. Raises CorpusUnavailableError."""
    held = container.publications().served(CORPUS)
    knowledge, done = laid_over(container.released, container.revisions().of(held.revisions))
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
