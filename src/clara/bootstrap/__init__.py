"""The one place that builds things: which implementation stands behind which port is decided here and nowhere else."""

from collections.abc import Callable
from typing import TYPE_CHECKING

import structlog

from clara.bootstrap.engine import Engine
from clara.bootstrap.knowledge import Knowledge, read_calibration, read_knowledge
from clara.bootstrap.lazily import Lazily
from clara.bootstrap.wrapping import Wrappers
from clara.conversation.commands import Commands
from clara.conversation.journey import Tools
from clara.conversation.language import LanguageDetector
from clara.conversation.texts import LANGUAGES, read_texts
from clara.conversation.writing import ExtractiveWriter
from clara.knowledge.directory import TIER as DIRECTORY
from clara.knowledge.directory import directory
from clara.knowledge.keyword import TIER as KEYWORD
from clara.knowledge.keyword import keyword
from clara.knowledge.passages import CORPUS, PROFILE
from clara.knowledge.placing import current, located, madrid_today
from clara.retrieval.hybrid import TIER as HYBRID
from clara.retrieval.hybrid import Gather, hybrid
from clara.retrieval.measured import measured
from clara.retrieval.passage import Found, Query, Retrieve
from clara.retrieval.ports import IndexUnavailableError
from clara.retrieval.tiers import Tier, tiers
from clara.retrieval.validating import validated
from clara.settings import Settings, load_settings, resources

if TYPE_CHECKING:
    from clara.adapters.postgres.desk import PostgresDesk
    from clara.adapters.postgres.embedded import EmbeddedServer
    from clara.adapters.postgres.usage import PostgresBudget
    from clara.adapters.sealing.aes_gcm import AesGcmSealer

__all__ = [
    "Knowledge",
    "Lazily",
    "Services",
    "get_retriever",
    "open_services",
    "read_calibration",
    "read_knowledge",
    "reset_retriever",
]
log = structlog.get_logger()


class Services(Engine):
    """What one process is made of. Each part is built on first use, once, and closed at the end."""

    def __init__(
        self,
        settings: Settings,
        database_url: str | None,
        *,
        outage: str = "no database is configured",
        server: "EmbeddedServer | None" = None,
    ) -> None:
        super().__init__(settings, database_url)
        self.server = server
        self._outage = outage
        self.knowledge = Lazily(read_knowledge)
        self.texts = Lazily(lambda: read_texts(resources() / "data"))
        self.sealer: Lazily[AesGcmSealer] = Lazily(self._build_sealer)
        self.wrappers = Wrappers(self)
        self.retriever: Lazily[Retrieve] = Lazily(self._build_retriever)
        self.safe_retriever: Lazily[Retrieve] = Lazily(self._build_safe_retriever)
        self.tools: Lazily[Tools] = Lazily(lambda: self._build_tools(self.retriever.get()))
        self.unaided_tools: Lazily[Tools] = Lazily(lambda: self._build_tools(self._build_unaided_retriever()))
        self.safe_tools: Lazily[Tools] = Lazily(lambda: self._build_tools(self.safe_retriever.get()))

    def close(self) -> None:
        """Give back every connection, and leave the embedded server if it is ours."""
        self.wrappers.close()
        for engine in self.engine.reset():
            engine.dispose()
        if self.server is not None:
            self.server.stop()

    def desk(self) -> "PostgresDesk":
        """Build what keeps the turns of messages."""
        from clara.adapters.postgres.desk import PostgresDesk

        return PostgresDesk(self.engine.get(), self.sealer.get())

    def budget(self) -> "PostgresBudget":
        """Build what counts the answers that use a paid model."""
        from clara.adapters.postgres.usage import PostgresBudget

        settings = self.settings
        return PostgresBudget(
            self.engine.get(), settings.clara_sender_model_answers_per_day, settings.clara_model_answers_per_day
        )

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

    def _build_sealer(self) -> "AesGcmSealer":
        from clara.adapters.sealing.aes_gcm import AesGcmSealer

        return AesGcmSealer(self.settings.address_key)

    def _build_retriever(self) -> Retrieve:
        """Assemble the chain that the flags ask for; a part that is off is not built."""
        chain = [self._keyword_tier(), self._directory_tier()]
        if self.settings.rag_enabled:
            chain.insert(0, self._hybrid_tier() if self.database_url else self._out(self._outage))
        if not self.settings.rag_fallback_chain:
            chain = chain[:1]
        return self._finished(self.wrappers.caching(self.wrappers.policy(tiers(chain, _log_outage))))

    def tier(self, name: str) -> Retrieve:
        """Give one tier of the chain alone, for measuring it."""
        tiers_by_name = {HYBRID: self._hybrid_tier, KEYWORD: self._keyword_tier, DIRECTORY: self._directory_tier}
        return self._finished(tiers_by_name[name]().retrieve)

    def _build_unaided_retriever(self) -> Retrieve:
        """Assemble the chain without any paid model, for whoever has used up the day's share of them.

        It remembers nothing: its results must not pass for those of the whole chain.
        """
        hybrid_tier = Tier(HYBRID, self._judged(self.gather(self.profile(PROFILE))))
        return self._finished(tiers([hybrid_tier, self._keyword_tier(), self._directory_tier()], _log_outage))

    def _build_safe_retriever(self) -> Retrieve:
        """Assemble the chain without database and model, for a message that keeps breaking the other one.

        The search that is left out counts as an outage: what it would have found is unknown.
        """
        left_out = self._out("left out, because this message failed before")
        return self._finished(tiers([left_out, self._keyword_tier(), self._directory_tier()], _log_outage))

    def _finished(self, retrieve: Retrieve) -> Retrieve:
        """Keep a chain to what holds today and where the person lives, and measure it."""
        kept = located(current(retrieve, madrid_today), self.knowledge.get().catalogue.places)
        return validated(measured(kept, self.metrics) if self.settings.rag_metrics_enabled else kept)

    def _hybrid_tier(self) -> Tier:
        return Tier(HYBRID, self.wrappers.reranking(self._judged(self.gather(self.profile(PROFILE)))))

    def _judged(self, gather: Gather) -> Retrieve:
        return hybrid(self.embedder.get(), gather, read_calibration(HYBRID), self.knowledge.get().understand)

    def variant(self, gather: Gather, wrap: Callable[[Retrieve], Retrieve]) -> Retrieve:
        """Give the hybrid tier over another search and wrapped otherwise, for measuring it."""
        return self._finished(wrap(self._judged(gather)))

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
