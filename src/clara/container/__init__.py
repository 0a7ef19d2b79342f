"""The container: the one place that chooses which implementation stands behind which port."""

import json
import secrets
from collections.abc import Callable, Mapping
from datetime import date
from functools import cache
from threading import Lock
from time import monotonic
from types import TracebackType
from typing import TYPE_CHECKING, Final, Self

import structlog

from clara import __version__
from clara.adapters.postgres.connections import check_server, translated
from clara.adapters.postgres.delivery.inbox import PostgresBudget
from clara.adapters.postgres.delivery.turn_store import PostgresDesk
from clara.adapters.postgres.editorial.facts import PostgresFlags
from clara.adapters.postgres.embedded import EmbeddedServer, EmbeddedServerError
from clara.answering.safety.danger import Danger
from clara.answering.snapshot import KnowledgeSnapshot, ServedSnapshots, SnapshotParts
from clara.answering.texts import Texts, read_texts
from clara.answering.tool_factory import build_danger
from clara.answering.voice_notes import Listener
from clara.channels.ports import Channel, ChannelRecordings
from clara.channels.registry import open_channels
from clara.container.corpora import Corpora
from clara.knowledge.knowledge_base import Knowledge, KnowledgeVersion, digest_of_release, laid_over, read_knowledge
from clara.knowledge.passages import CORPUS, PROFILE
from clara.knowledge.retriever_chains import ChainParts
from clara.once import Once
from clara.retrieval.cache.keys import Cache, CacheUnavailableError, Event, Keys, SealedCache
from clara.retrieval.cache.results import ResultMemory, cached
from clara.retrieval.cache.semantic import SemanticMemory
from clara.retrieval.passage import Found, Query, Retrieve, Status
from clara.retrieval.ports import Embedder
from clara.retrieval.served_corpora import Standing
from clara.retrieval.turn_vectors import Deadline, EmbeddingSlots, TurnVectors
from clara.settings import Settings, load_settings, resources

if TYPE_CHECKING:
    from clara.adapters.aes_gcm import AesGcmSealer

__all__ = ["Container", "get_retriever", "open_container", "reset_retriever"]

log = structlog.get_logger()
# An ordinary question takes .1 s. Who waits longer than this for the search is better served by keywords.
TURN_SECONDS: Final = 3.0
# The settings that change what is found: a result remembered under others is void.
SHAPING: Final = (
    "rag_enabled",
    "rag_fallback_chain",
    "rag_policy",
    "rag_reranker",
    "rag_translator",
    "gemini_model",
    "reranker_",
)


# Read once for all containers of a process.
_texts = cache(read_texts)
_danger = cache(build_danger)


class Container(Corpora):
    """What one process is made of, each part built on first use, once, and closed at the end.

    `outage` is why there is no database where `database_url` is None; `server` is the embedded one, stopped at the end.
    """

    def __init__(
        self,
        settings: Settings,
        database_url: str | None,
        *,
        outage: str = "no database is configured",
        server: EmbeddedServer | None = None,
    ) -> None:
        super().__init__(settings, database_url)
        self.server = server
        self.outage = outage
        self.clock: Callable[[], float] = monotonic  # what a turn's time is measured by, in seconds
        self.turn_seconds = TURN_SECONDS
        self.snapshots = ServedSnapshots(self._standing, lambda standing: self.snapshot_of(self._version(standing)))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    def close(self) -> None:
        """Give back every connection, and leave the embedded server if it is ours."""
        self.disconnect()
        if self.server is not None:
            self.server.stop()

    def migrate(self) -> str:
        """Check the server, bring the schema and the job engine's tables to the newest version; say what was done."""
        from clara.adapters.postgres.migrations import upgrade
        from clara.adapters.procrastinate.schema import upgrade_job_engine

        check_server(self.engine)
        with translated(), self.engine.begin() as connection:
            before, after = upgrade(connection, resources() / "migrations")
            applied = upgrade_job_engine(connection)
        moved = f"schema {before or 'empty'} -> {after}" if before != after else f"schema {after}, nothing to do"
        return f"{moved}; job engine: {', '.join(applied) or 'nothing to do'}"

    # What is known, and what speaks of it.

    @Once
    def released(self) -> Knowledge:
        """What the release knows, without any correction. Raises DataError."""
        return read_knowledge(self.data)

    @Once
    def texts(self) -> Texts:
        """The fixed texts."""
        return _texts(self.data)

    @Once
    def danger(self) -> Danger:
        """What hears that somebody is in danger."""
        return _danger(self.data)

    @Once
    def flags(self) -> PostgresFlags:
        """What knows the facts in doubt."""
        flags = PostgresFlags(str(self.database_url))
        self.closing.callback(flags.close)
        return flags

    def flagged(self) -> Mapping[str, str]:
        """Give the facts in doubt, with the day since which they are; while the database is away those known last."""
        return self.flags.current() if self.database_url else {}

    def snapshot(self, today: date | None = None) -> KnowledgeSnapshot:
        """Give the snapshot of what is served, as if it were `today`; whoever got it keeps it to the end of what they do."""
        current = self.snapshots.current()
        return current.on(today) if today else current

    def snapshot_of(self, version: KnowledgeVersion) -> KnowledgeSnapshot:
        """Give the snapshot of a version: one that is tried before it is served, or one of the past."""
        return KnowledgeSnapshot(version, self._parts)

    def _standing(self) -> Standing | None:
        return self.versions.standing(CORPUS) if self.database_url else None

    def _version(self, standing: Standing | None) -> KnowledgeVersion:
        """Read the version that stands there. Raises CorpusUnavailableError, DataError."""
        if standing is None or standing.publication is None:
            corpora = {CORPUS: standing.physical} if standing else {}
            return KnowledgeVersion(self.released, corpora, flagged=self.flagged)
        held = self.revisions().of(self.publications().revisions(standing.publication))
        knowledge, done = laid_over(self.released, held)
        for lost in done.lost:
            log.warning("correction left out", reason=str(lost))
        return KnowledgeVersion(knowledge, {CORPUS: standing.physical}, standing.publication, flagged=self.flagged)

    @Once
    def _parts(self) -> SnapshotParts:
        settings = self.settings
        chains = ChainParts(
            self.data,
            self.served,
            lambda embedder: self.gather(self.profile(PROFILE), embedder),
            searched=settings.rag_enabled and self.database_url is not None,
            outage=self.outage if settings.rag_enabled else None,
            fallback=settings.rag_fallback_chain,
            rerank=self.reranking,
            wrap=lambda retrieve, embedder: self.caching(self.translating(self.policy(retrieve, embedder)), embedder),
            metrics=self.metrics if settings.rag_metrics_enabled else None,
        )
        return SnapshotParts(
            chains,
            lambda: self.embedder,
            self.texts,
            self.danger,
            settings.clara_human_contact,
            lambda: self.models.text_model if settings.rag_grounded_prompting else None,
            self.listener,
        )

    @Once
    def retriever(self) -> Retrieve:
        """The whole chain over what is served at the moment of each question. What can be built wrong is built now."""
        _ = self.snapshot().retriever

        def retrieve(query: Query) -> Found:
            return self.snapshot().retriever(query)

        return retrieve

    # What is put around retrievers when a setting asks for it. Off means not wrapped.

    def reranking(self, retrieve: Retrieve) -> Retrieve:
        """Let the configured reranker order what was found."""
        if (reranker := self.models.reranker) is None:
            return retrieve
        from clara.retrieval.options.rerankers import reranked

        return reranked(retrieve, reranker, candidates=self.settings.rag_reranker_candidates)

    def policy(self, retrieve: Retrieve, embedder: Embedder | None = None) -> Retrieve:
        """Let the configured policy decide whether to search, and whether to search again.

        What counts as near was measured with the bundled embedder only; with another one there is no policy.
        """
        bundled = self.embedder
        if self.settings.rag_policy == "none" or (embedder or bundled).model != bundled.model:
            return retrieve
        from clara.retrieval.options.policies import CONFIDENT, by_policy, subject_of

        return by_policy(self.settings.rag_policy, retrieve, subject_of(self.profile(PROFILE), self.data), CONFIDENT)

    def translating(self, retrieve: Retrieve) -> Retrieve:
        """Ask again in Spanish, then in English, where nothing was found; what was found is left as it is."""
        if (translator := self.models.translator) is None:
            return retrieve
        from clara.retrieval.options.corrective import by_writer, corrected

        alternatives = {"translation": by_writer(translator)}
        return corrected(retrieve, alternatives, stop=lambda _query, found: found.status is not Status.NOT_FOUND)

    def caching(self, retrieve: Retrieve, embedder: Embedder | None = None) -> Retrieve:
        """Remember results, where a database says which version of a corpus they belong to."""
        if not self.settings.rag_cache_enabled or self.database_url is None:
            return retrieve
        embedder = embedder or self.embedder
        # Whoever gets here asks a corpus itself: the name was resolved before.
        return cached(retrieve, self._result_memory(embedder.dimensions), embedder, self.versions.version_of)

    def _result_memory(self, dimensions: int) -> ResultMemory:
        """Build the memory. Its keys are made with the pseudonyms' secret, or, in one process alone, with one of its own."""
        settings, count = self.settings, self.metrics.record_cache
        given = settings.clara_pseudonym_key
        keys = Keys(given.get_secret_value().encode() if given else secrets.token_bytes(32))
        sealed = SealedCache(self._cache(), keys, lambda _key: count(Event.DAMAGED))
        shaping = {name: value for name, value in settings.model_dump(mode="json").items() if name.startswith(SHAPING)}
        configuration = json.dumps([__version__, digest_of_release(self.data), shaping])
        memory = SemanticMemory(dimensions)

        def told(error: CacheUnavailableError) -> None:
            log.warning("cache is out", error=str(error))

        return ResultMemory(sealed, keys, memory, configuration, told, count, found_seconds=settings.rag_cache_ttl)

    def _cache(self) -> Cache:
        if self.settings.rag_cache_backend == "redis":
            return self._redis
        from clara.adapters.memory_cache import MemoryCache

        return MemoryCache()

    @Once
    def _redis(self) -> Cache:
        from clara.adapters.redis_cache import RedisCache

        cache = RedisCache(self.settings.secret("rag_redis_url"), "clara:")
        self.closing.callback(cache.close)
        return cache

    # What a turn needs besides.

    @Once
    def slots(self) -> EmbeddingSlots:
        """The threads that embed questions."""
        slots = EmbeddingSlots(self.local.model, self.local.tokens)
        self.closing.callback(slots.close)
        return slots

    def turn_vectors(self) -> TurnVectors:
        """Give what embeds for one turn, which begins now, and within its time."""
        return TurnVectors(self.slots.embed, Deadline(self.clock() + self.turn_seconds, self.clock))

    @Once
    def sealer(self) -> "AesGcmSealer":
        """What seals addresses."""
        from clara.adapters.aes_gcm import AesGcmSealer

        return AesGcmSealer(self.settings.address_key)

    def desk(self) -> PostgresDesk:
        """Build what keeps the turns of messages."""
        return PostgresDesk(self.engine, self.sealer)

    def budget(self) -> PostgresBudget:
        """Build what counts the answers that use a paid model."""
        settings = self.settings
        return PostgresBudget(self.engine, settings.clara_sender_model_answers_per_day, settings.clara_model_answers_per_day)

    @Once
    def channels(self) -> dict[str, Channel]:
        """The channels of this process, by the names that stand in their messages."""
        return open_channels(self.settings)

    @Once
    def recordings(self) -> ChannelRecordings:
        """What fetches voice notes."""
        recordings = ChannelRecordings(self.channels)
        self.closing.callback(recordings.close)
        return recordings

    def listener(self) -> Listener | None:
        """Build what listens to voice notes; none where nobody writes them down, or none can come."""
        if (transcriber := self.models.transcriber) is None or not self.recordings:
            return None
        return Listener(self.recordings, transcriber)


def open_container(settings: Settings) -> Container:
    """Give the container on the operator's database, or on the embedded server, started. Raises EmbeddedServerError."""
    if settings.rag_db_url is not None:
        return Container(settings, settings.rag_db_url.get_secret_value())

    server = EmbeddedServer(settings.home)
    return Container(settings, server.start(), server=server)


_lock: Final = Lock()
_opened: Final[list[Container]] = []


def get_retriever() -> Retrieve:
    """Give this process's retriever, built from the environment on first use under a lock."""
    with _lock:
        if not _opened:
            settings = load_settings()
            try:
                _opened.append(open_container(settings))
            except EmbeddedServerError as error:
                _opened.append(Container(settings, None, outage=str(error)))
        return _opened[0].retriever


def reset_retriever() -> None:
    """Forget the retriever and close its connections; the next `get_retriever` builds another."""
    with _lock:
        while _opened:
            _opened.pop().close()
