"""What is put around retrievers when a setting asks for it: reranking, policies, caching. Off means not wrapped."""

import json
import secrets
from collections.abc import Callable
from typing import TYPE_CHECKING

import structlog

from clara import __version__
from clara.container.engine import Engine, digest_of_release
from clara.container.knowledge import subject_of
from clara.container.lazily import Lazily
from clara.container.models import Models
from clara.knowledge.passages import PROFILE
from clara.retrieval.cache.keys import Keys, SealedCache
from clara.retrieval.cache.ports import Cache, CacheUnavailableError, Event
from clara.retrieval.cache.results import ResultMemory, cached
from clara.retrieval.cache.semantic import SemanticMemory
from clara.retrieval.passage import Retrieve, Status
from clara.retrieval.ports import Embedder
from clara.settings import Settings

if TYPE_CHECKING:
    from clara.adapters.models.endpoint_reranker import EndpointReranker
    from clara.adapters.models.gemini.reranker import GeminiReranker
    from clara.adapters.redis_cache import RedisCache
    from clara.retrieval.options.query_rewriting import QueryWriter
    from clara.retrieval.options.rerankers import Reranker

log = structlog.get_logger()

# The confidence at which no other round is asked for: answers above it were right in 99 of 100 development questions.
CONFIDENT = 0.9


# The settings that change what is found: a result remembered under others is void.
SHAPING = ("rag_enabled", "rag_fallback_chain", "rag_policy", "rag_reranker", "rag_translator", "gemini_model", "reranker_")


class Wrappers:
    """Puts around a retriever what the settings ask for."""

    def __init__(self, engine: Engine, models: Models) -> None:
        self._engine = engine
        self._models = models
        self._settings: Settings = engine.settings
        self._closing: list[Callable[[], None]] = []
        # Chains are built anew for each version of the knowledge; what they ask over the network is not.
        self._reranker: Lazily[Reranker | None] = Lazily(self._build_reranker)
        self._translator: Lazily[QueryWriter | None] = Lazily(models.translator)
        self._redis: Lazily[RedisCache] = Lazily(self._build_redis)

    def close(self) -> None:
        """Give back the connections to Redis and to models."""
        while self._closing:
            self._closing.pop()()

    def reranking(self, retrieve: Retrieve) -> Retrieve:
        """Let the configured reranker order what was found."""
        reranker = self._reranker.get()
        if reranker is None:
            return retrieve
        from clara.retrieval.options.rerankers import reranked

        return reranked(retrieve, reranker, candidates=self._settings.rag_reranker_candidates)

    def _build_reranker(self) -> "Reranker | None":
        settings = self._settings
        if settings.rag_reranker == "none":
            return None
        from clara.retrieval.options.rerankers import HeuristicReranker, HeuristicWeights, TextReranker

        match settings.rag_reranker:
            case "heuristic":
                return HeuristicReranker(HeuristicWeights(curated=frozenset({"curado", "curated"})))
            case "gemini":
                return TextReranker(self._gemini())
            case "endpoint":
                return TextReranker(self._endpoint())

    def _gemini(self) -> "GeminiReranker":
        from clara.adapters.models.gemini.reranker import GeminiReranker

        transport = self._models.transport("reranker", self._settings.rag_reranker_seconds)
        return GeminiReranker(transport, self._settings.gemini_model)

    def _endpoint(self) -> "EndpointReranker":
        from clara.adapters.models.endpoint_reranker import Endpoint, EndpointReranker

        settings = self._settings
        reranker = EndpointReranker(
            Endpoint(
                str(settings.reranker_base_url),
                settings.reranker_model_name,
                settings.rag_reranker_seconds,
                settings.secret("reranker_api_key"),
            )
        )
        self._closing.append(reranker.close)
        return reranker

    def policy(self, retrieve: Retrieve, embedder: Embedder | None = None) -> Retrieve:
        """Let the configured policy decide whether to search, and whether to search again.

        What counts as near was measured with the bundled embedder only; with another one there is no policy.
        """
        bundled = self._engine.embedder.get()
        if self._settings.rag_policy == "none" or (embedder or bundled).model != bundled.model:
            return retrieve
        from clara.retrieval.options.policies import by_policy

        return by_policy(self._settings.rag_policy, retrieve, subject_of(self._engine.profile(PROFILE)), CONFIDENT)

    def translating(self, retrieve: Retrieve) -> Retrieve:
        """Ask again in Spanish, then in English, where nothing was found; what was found is left as it is."""
        translator = self._translator.get()
        if translator is None:
            return retrieve
        from clara.retrieval.options.corrective import corrected
        from clara.retrieval.options.query_rewriting import by_writer

        alternatives = {"translation": by_writer(translator)}
        return corrected(retrieve, alternatives, stop=lambda _query, found: found.status is not Status.NOT_FOUND)

    def caching(self, retrieve: Retrieve, embedder: Embedder | None = None) -> Retrieve:
        """Remember results, where a database says which version of a corpus they belong to."""
        if not self._settings.rag_cache_enabled or self._engine.database_url is None:
            return retrieve
        embedder = embedder or self._engine.embedder.get()
        versions = self._engine.versions.get()
        # Whoever gets here asks a corpus itself: the name was resolved before.
        return cached(retrieve, self._result_memory(embedder.dimensions), embedder, versions.version_of)

    def _result_memory(self, dimensions: int) -> ResultMemory:
        """Build the memory. Its keys are made with the pseudonyms' secret, or, in one process alone, with one of its own."""
        settings = self._settings
        count = self._engine.metrics.record_cache
        given = settings.clara_pseudonym_key
        keys = Keys(given.get_secret_value().encode() if given else secrets.token_bytes(32))
        sealed = SealedCache(self._backend(), keys, lambda _key: count(Event.DAMAGED))
        shaping = {name: value for name, value in settings.model_dump(mode="json").items() if name.startswith(SHAPING)}
        return ResultMemory(
            sealed,
            keys,
            SemanticMemory(dimensions),
            json.dumps([__version__, digest_of_release(), shaping]),
            _log_cache,
            count,
            found_seconds=settings.rag_cache_ttl,
        )

    def _backend(self) -> Cache:
        from clara.adapters.memory_cache import MemoryCache

        if self._settings.rag_cache_backend == "memory":
            return MemoryCache()
        return self._redis.get()

    def _build_redis(self) -> "RedisCache":
        from clara.adapters.redis_cache import RedisCache

        cache = RedisCache(self._settings.secret("rag_redis_url"), "clara:")
        self._closing.append(cache.close)
        return cache


def _log_cache(error: CacheUnavailableError) -> None:
    log.warning("cache is out", error=str(error))
