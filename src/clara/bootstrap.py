"""The one place that builds things: which implementation stands behind which port is decided here and nowhere else."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from threading import Lock
from typing import TYPE_CHECKING, Generic, TypeVar
from zipfile import BadZipFile

import structlog

from clara.conversation.commands import Commands
from clara.conversation.journey import Tools
from clara.conversation.language import LanguageDetector
from clara.conversation.texts import LANGUAGES, read_texts
from clara.conversation.writing import ExtractiveWriter
from clara.knowledge.catalogue import Catalogue, read_catalogue
from clara.knowledge.directory import TIER as DIRECTORY
from clara.knowledge.directory import directory
from clara.knowledge.faults import DataError, Fault
from clara.knowledge.guiding import understanding
from clara.knowledge.keyword import TIER as KEYWORD
from clara.knowledge.keyword import NamedProcedures, keyword
from clara.knowledge.passages import CORPUS, passages_of
from clara.knowledge.placing import current, located, madrid_today
from clara.retrieval.calibration import Calibration
from clara.retrieval.hybrid import TIER as HYBRID
from clara.retrieval.hybrid import Understand, hybrid
from clara.retrieval.intent import IntentModel, read_intent
from clara.retrieval.measured import RetrievalMetrics, measured
from clara.retrieval.passage import Found, Passage, Query, Retrieve
from clara.retrieval.ports import IndexUnavailableError
from clara.retrieval.remembered import RememberingEmbedder, read_vectors
from clara.retrieval.tiers import Tier, tiers
from clara.settings import Settings, load_settings, resources

if TYPE_CHECKING:
    from sqlalchemy import Engine

    from clara.adapters.local.embedder import LocalEmbedder
    from clara.adapters.postgres.embedded import EmbeddedServer
    from clara.adapters.postgres.passages import PostgresPassages
    from clara.adapters.postgres.search import PostgresIndex

Built = TypeVar("Built")
log = structlog.get_logger()


class Lazily(Generic[Built]):
    """Builds a thing once, on first use, however many threads ask at the same time."""

    def __init__(self, build: Callable[[], Built]) -> None:
        self._build = build
        self._lock = Lock()
        self._made: list[Built] = []

    def get(self) -> Built:
        """Give the one thing."""
        with self._lock:
            if not self._made:
                self._made.append(self._build())
            return self._made[0]

    def reset(self) -> list[Built]:
        """Forget the thing, so that the next use builds another; give what was forgotten, to be closed."""
        with self._lock:
            made, self._made = self._made, []
            return made


@dataclass(frozen=True, slots=True)
class Knowledge:
    """Everything read from data/, checked."""

    catalogue: Catalogue
    passages: tuple[Passage, ...]
    named: NamedProcedures
    intent: IntentModel

    @property
    def understand(self) -> Understand:
        """Give what tells which procedures and sections a question is about."""
        return understanding(self.intent.intent, self.named)

    @property
    def names(self) -> dict[str, dict[str, str]]:
        """Give the procedures' names by id and language."""
        return {procedure.id: dict(procedure.name) for procedure in self.catalogue.procedures.values()}


def read_knowledge(*, with_questions: bool = False) -> Knowledge:
    """Read and check data/; typical questions only when asked for. Raises DataError."""
    data = resources() / "data"
    catalogue = read_catalogue(data, with_questions=with_questions)
    passages = [passage for procedure in catalogue.procedures.values() for passage in passages_of(procedure, madrid_today())]
    try:
        intent = read_intent(data / "intent.npz")
    except (OSError, ValueError, KeyError, BadZipFile) as error:
        remedy = f"no usable model ({error}); restore it from the repository, or run `python -m clara.jobs.training`"
        raise DataError([Fault("intent.npz", "file", remedy)]) from error
    return Knowledge(catalogue, tuple(passages), NamedProcedures(catalogue), intent)


class Services:
    """What one process is made of. Each part is built on first use, once, and closed at the end."""

    def __init__(
        self,
        settings: Settings,
        database_url: str | None,
        *,
        outage: str = "no database is configured",
        server: "EmbeddedServer | None" = None,
    ) -> None:
        self.settings = settings
        self.database_url = database_url
        self.server = server
        self._outage = outage
        self.metrics = RetrievalMetrics()
        self.knowledge = Lazily(read_knowledge)
        self.texts = Lazily(lambda: read_texts(resources() / "data"))
        self.engine: Lazily[Engine] = Lazily(self._open_engine)
        self.embedder: Lazily[LocalEmbedder] = Lazily(_local_embedder)
        self.retriever: Lazily[Retrieve] = Lazily(self._build_retriever)
        self.safe_retriever: Lazily[Retrieve] = Lazily(self._build_safe_retriever)
        self.tools: Lazily[Tools] = Lazily(lambda: self._build_tools(self.retriever.get()))
        self.safe_tools: Lazily[Tools] = Lazily(lambda: self._build_tools(self.safe_retriever.get()))

    def close(self) -> None:
        """Give back every connection, and leave the embedded server if it is ours."""
        for engine in self.engine.reset():
            engine.dispose()
        if self.server is not None:
            self.server.stop()

    def passages(self) -> "PostgresPassages":
        """Build the store that ingestion writes to."""
        from clara.adapters.postgres.passages import PostgresPassages

        embedder = self.embedder.get()
        return PostgresPassages(self.engine.get(), embedder.model, embedder.dimensions)

    def passage_embedder(self) -> RememberingEmbedder:
        """Build what embeds passages: it knows the vectors that the release carries."""
        embedder = self.embedder.get()
        return RememberingEmbedder(embedder, read_vectors(resources() / "data" / "vectors.npz", embedder.model))

    def migrate(self) -> str:
        """Check the server, bring the schema and the job engine's tables to the newest version; say what was done."""
        from clara.adapters.postgres.engine import check_server, translated
        from clara.adapters.postgres.migrations import upgrade
        from clara.adapters.procrastinate.schema import upgrade_job_engine

        engine = self.engine.get()
        check_server(engine)
        with translated(), engine.begin() as connection:
            before, after = upgrade(connection, resources() / "migrations")
            applied = upgrade_job_engine(connection)
        moved = f"schema {before or 'empty'} -> {after}" if before != after else f"schema {after}, nothing to do"
        return f"{moved}; job engine: {', '.join(applied) or 'nothing to do'}"

    def _open_engine(self) -> "Engine":
        from clara.adapters.postgres.engine import UnsuitableServerError, open_engine

        if self.database_url is None:
            raise UnsuitableServerError("no database: set RAG_DB_URL, or let Clara start its own")
        return open_engine(self.database_url)

    def _build_retriever(self) -> Retrieve:
        """Assemble the chain that the flags ask for; a part that is off is not built."""
        chain = [self._keyword_tier(), self._directory_tier()]
        if self.settings.rag_enabled:
            chain.insert(0, self._hybrid_tier() if self.database_url else self._out(self._outage))
        if not self.settings.rag_fallback_chain:
            chain = chain[:1]
        return self._finished(tiers(chain, _log_outage))

    def tier(self, name: str) -> Retrieve:
        """Give one tier of the chain alone, for measuring it."""
        tiers_by_name = {HYBRID: self._hybrid_tier, KEYWORD: self._keyword_tier, DIRECTORY: self._directory_tier}
        return self._finished(tiers_by_name[name]().retrieve)

    def _build_safe_retriever(self) -> Retrieve:
        """Assemble the chain without database and model, for a message that keeps breaking the other one.

        The search that is left out counts as an outage: what it would have found is unknown.
        """
        left_out = self._out("left out, because this message failed before")
        return self._finished(tiers([left_out, self._keyword_tier(), self._directory_tier()], _log_outage))

    def _finished(self, retrieve: Retrieve) -> Retrieve:
        """Keep a chain to what holds today and where the person lives, and measure it."""
        kept = located(current(retrieve, madrid_today), self.knowledge.get().catalogue.places)
        return measured(kept, self.metrics) if self.settings.rag_metrics_enabled else kept

    def index(self) -> "PostgresIndex":
        """Build the search index for the embedder's vectors."""
        from clara.adapters.postgres.search import PostgresIndex

        embedder = self.embedder.get()
        return PostgresIndex(self.engine.get(), embedder.model, embedder.dimensions)

    def _hybrid_tier(self) -> Tier:
        understand = self.knowledge.get().understand
        return Tier(HYBRID, hybrid(self.embedder.get(), self.index(), read_calibration(HYBRID), understand))

    def _out(self, reason: str) -> Tier:
        def refuse(_query: Query) -> Found:
            raise IndexUnavailableError(reason)

        return Tier(HYBRID, refuse)

    def _keyword_tier(self) -> Tier:
        knowledge = self.knowledge.get()
        return Tier(KEYWORD, keyword(knowledge.passages, knowledge.understand, read_calibration(KEYWORD)))

    def _directory_tier(self) -> Tier:
        return Tier(DIRECTORY, directory(self.knowledge.get().passages))

    def _build_tools(self, retrieve: Retrieve) -> Tools:
        from clara.adapters.local.language import LocalLanguageIdentifier

        texts, names = self.texts.get(), self.knowledge.get().names
        return Tools(
            corpus=CORPUS,
            retrieve=retrieve,
            texts=texts,
            detector=LanguageDetector(
                {language: spoken.words for language, spoken in texts.by_language.items()},
                LocalLanguageIdentifier(LANGUAGES),
            ),
            commands=Commands(texts),
            writer=ExtractiveWriter(texts, names, self.knowledge.get().passages),
            names=names,
            places=self.knowledge.get().catalogue.places,
            human_contact=self.settings.clara_human_contact,
        )


def read_calibration(tier: str) -> Calibration:
    """Read the model that decides whether the evidence of a tier is good enough."""
    stored = json.loads((resources() / "data" / "calibration.json").read_text("utf-8"))["tiers"][tier]
    return Calibration(stored["weights"], stored["intercept"], stored["threshold"])


def _local_embedder() -> "LocalEmbedder":
    from clara.adapters.local.embedder import LocalEmbedder

    return LocalEmbedder()


def _log_outage(tier: str, error: IndexUnavailableError) -> None:
    log.warning("tier is out", tier=tier, error=str(error))


def open_services(settings: Settings) -> Services:
    """Give the services on the operator's database, or on the embedded server, started. Raises EmbeddedServerError."""
    if settings.rag_db_url is not None:
        return Services(settings, settings.rag_db_url.get_secret_value())
    from clara.adapters.postgres.embedded import EmbeddedServer

    server = EmbeddedServer(settings.home)
    return Services(settings, server.start(), server=server)


def _from_environment() -> Services:
    from clara.adapters.postgres.embedded import EmbeddedServerError

    settings = load_settings()
    try:
        return open_services(settings)
    except EmbeddedServerError as error:
        return Services(settings, None, outage=str(error))


services = Lazily(_from_environment)


def get_retriever() -> Retrieve:
    """Give this process's retriever, built from the environment on first use under a lock."""
    return services.get().retriever.get()


def reset_retriever() -> None:
    """Forget the retriever and close its connections; the next `get_retriever` builds another."""
    for made in services.reset():
        made.close()
