"""The one place that builds things: which implementation stands behind which port is decided here and nowhere else."""

from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING

import structlog

from clara.bootstrap.engine import Engine
from clara.bootstrap.knowledge import Knowledge, read_calibration, read_knowledge
from clara.bootstrap.lazily import Lazily
from clara.bootstrap.models import Models
from clara.bootstrap.proof import prover
from clara.bootstrap.tooling import Toolbox
from clara.bootstrap.wrapping import Wrappers
from clara.conversation.hearing import Listener
from clara.conversation.journey import Tools
from clara.conversation.ports import TextModel, Transcriber
from clara.conversation.texts import Texts, read_texts
from clara.knowledge.directory import TIER as DIRECTORY
from clara.knowledge.directory import directory
from clara.knowledge.keyword import TIER as KEYWORD
from clara.knowledge.keyword import keyword
from clara.knowledge.passages import PROFILE
from clara.knowledge.placing import current, located, madrid_today
from clara.retrieval.hybrid import TIER as HYBRID
from clara.retrieval.hybrid import Gather, by_vectors_of, hybrid
from clara.retrieval.measured import measured
from clara.retrieval.passage import Found, Query, Retrieve
from clara.retrieval.ports import Embedder, IndexUnavailableError
from clara.retrieval.tiers import Tier, tiers
from clara.retrieval.validating import validated
from clara.settings import Settings, load_settings, resources

if TYPE_CHECKING:
    from clara.adapters.guarding import Guard
    from clara.adapters.postgres.desk import PostgresDesk
    from clara.adapters.postgres.embedded import EmbeddedServer
    from clara.adapters.postgres.usage import PostgresBudget
    from clara.adapters.sealing.aes_gcm import AesGcmSealer
    from clara.adapters.twilio.media import TwilioMedia

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
        self.texts = Lazily(_texts)
        self.sealer: Lazily[AesGcmSealer] = Lazily(self._build_sealer)
        self.models = Models(self)
        self.wrappers = Wrappers(self, self.models)
        self.text_model: Lazily[TextModel | None] = Lazily(self.models.text_model)
        self.transcriber: Lazily[Transcriber | None] = Lazily(self.models.transcriber)
        self.prover = Lazily(lambda: prover(self))
        self.retriever: Lazily[Retrieve] = Lazily(self._build_retriever)
        self.safe_retriever: Lazily[Retrieve] = Lazily(self._build_safe_retriever)
        self.toolbox = Toolbox(self)
        self.media: Lazily[TwilioMedia] = Lazily(self._build_media)
        self.tools: Lazily[Tools] = Lazily(lambda: self.toolbox.whole(self.retriever.get(), self._listener()))
        self.unaided_tools: Lazily[Tools] = Lazily(lambda: self.toolbox.unaided(self._build_unaided_retriever()))
        self.safe_tools: Lazily[Tools] = Lazily(lambda: self.toolbox.safe(self.safe_retriever.get()))

    def close(self) -> None:
        """Give back every connection, and leave the embedded server if it is ours."""
        self.wrappers.close()
        self.models.close()
        self.embedders.close()
        for versions in self.versions.reset():
            versions.close()
        for media in self.media.reset():
            media.close()
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

    def _build_media(self) -> "TwilioMedia":
        from clara.adapters.twilio.media import TwilioMedia

        settings = self.settings
        return TwilioMedia(str(settings.twilio_account_sid), settings.secret("twilio_auth_token"), settings.twilio_api_url)

    def _listener(self) -> Listener | None:
        """Build what listens to voice notes; none where nobody writes them down, or none can come."""
        if self.settings.clara_channel != "twilio" or (transcriber := self.transcriber.get()) is None:
            return None
        return Listener(self.media.get(), transcriber)

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

    def guard_of(self, part: str) -> "Guard":
        """Give what stands between a part and a served model."""
        return self.models.guard(part)

    def _build_retriever(self) -> Retrieve:
        """Assemble the chain that the flags ask for; a part that is off is not built."""
        if not (self.settings.rag_enabled and self.database_url):
            hybrid_tier = self._out(self._outage) if self.settings.rag_enabled else None
            return self._finished(self._wrapped(self._tiers(hybrid_tier), self.embedder.get()))
        return self._finished(self.by_served_model(self._build_chain))

    def _build_chain(self, embedder: Embedder) -> Retrieve:
        return self._wrapped(self._tiers(self._hybrid_tier(embedder)), embedder)

    def _tiers(self, hybrid_tier: Tier | None) -> Retrieve:
        chain = [*([hybrid_tier] if hybrid_tier else []), self._keyword_tier(), self._directory_tier()]
        return tiers(chain if self.settings.rag_fallback_chain else chain[:1], _log_outage)

    def _wrapped(self, retrieve: Retrieve, embedder: Embedder) -> Retrieve:
        return self.wrappers.caching(self.wrappers.translating(self.wrappers.policy(retrieve, embedder)), embedder)

    def tier(self, name: str) -> Retrieve:
        """Give one tier of the chain alone, for measuring it."""
        if name == HYBRID:
            return self._finished(self.by_served_model(lambda embedder: self._hybrid_tier(embedder).retrieve))
        return self._finished((self._keyword_tier() if name == KEYWORD else self._directory_tier()).retrieve)

    def _build_unaided_retriever(self) -> Retrieve:
        """Assemble the chain without any paid model, for whoever has used up the day's share of them.

        It remembers nothing: its results must not pass for those of the whole chain. A corpus that is searched by a paid
        embedder's vectors is answered from keywords.
        """

        def build(embedder: Embedder) -> Retrieve:
            if embedder.model != self.embedder.get().model:
                return self._tiers(self._out("left out, because the day's share of paid models is used up"))
            unaided = Tier(HYBRID, self._judged(self.gather(self.profile(PROFILE), embedder), embedder))
            return tiers([unaided, self._keyword_tier(), self._directory_tier()], _log_outage)

        return self._finished(self.by_served_model(build))

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

    def _hybrid_tier(self, embedder: Embedder) -> Tier:
        judged = self._judged(self.gather(self.profile(PROFILE), embedder), embedder)
        return Tier(HYBRID, self.wrappers.reranking(judged))

    def _judged(self, gather: Gather, embedder: Embedder) -> Retrieve:
        """Search and judge. The judgement hangs on what is understood, not on cosines, so it holds for any embedder."""
        understand = self.knowledge.get().understand
        if embedder.model != self.knowledge.get().intent.embedder:
            understand = by_vectors_of(self.embedder.get(), understand)
        return hybrid(embedder, gather, read_calibration(HYBRID), understand)

    def variant(self, gather: Gather, wrap: Callable[[Retrieve], Retrieve]) -> Retrieve:
        """Give the hybrid tier over another search and wrapped otherwise, for measuring it."""
        return self._finished(wrap(self._judged(gather, self.embedder.get())))

    def _out(self, reason: str) -> Tier:
        def refuse(_query: Query) -> Found:
            raise IndexUnavailableError(reason)

        return Tier(HYBRID, refuse)

    def _keyword_tier(self) -> Tier:
        knowledge = self.knowledge.get()
        return Tier(KEYWORD, keyword(knowledge.passages, knowledge.understand, read_calibration(KEYWORD)))

    def _directory_tier(self) -> Tier:
        return Tier(DIRECTORY, directory(self.knowledge.get().passages))


@cache
def _texts() -> Texts:
    return read_texts(resources() / "data")


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
