"""The retrieval engine on its database: stores, indexes, memories and caches. What is switched off is not built."""

import hashlib
from collections.abc import Sequence
from typing import TYPE_CHECKING

import structlog

from clara.bootstrap.lazily import Lazily
from clara.retrieval.collections import Gathered, Relaxation, phased, phases_of
from clara.retrieval.deduplicating import folding
from clara.retrieval.hybrid import Gather, hybrid
from clara.retrieval.measured import RetrievalMetrics
from clara.retrieval.memory import EmbeddingMemoryUnavailableError, MemorisingEmbedder
from clara.retrieval.passage import Hit, Query, Retrieve
from clara.retrieval.profile import Profile, ProfileError, read_profiles
from clara.retrieval.remembered import RememberingEmbedder, read_vectors
from clara.retrieval.strategies import choosing, strategy_named
from clara.retrieval.validating import validated
from clara.settings import Settings, resources

if TYPE_CHECKING:
    from sqlalchemy import Engine as Database

    from clara.adapters.local.embedder import LocalEmbedder
    from clara.adapters.local.tokens import LocalTokenCounter
    from clara.adapters.postgres.passages import PostgresPassages
    from clara.adapters.postgres.search import PostgresIndex

log = structlog.get_logger()

# How often thresholds are lowered when nothing passed: three steps of .98 go from the cosine that 95 of 100 right answers reach
# to below what all of them do (1,100 questions to code, prose and across languages).
RELAXED_STEPS = 3
HYBRID = "hybrid"


class Engine:
    """What searches and fills corpora. Each part is built on first use, once."""

    def __init__(self, settings: Settings, database_url: str | None) -> None:
        self.settings = settings
        self.database_url = database_url
        self.metrics = RetrievalMetrics()
        self.engine: Lazily[Database] = Lazily(self._open_database)
        self.embedder: Lazily[LocalEmbedder] = Lazily(_local_embedder)
        self.token_counter: Lazily[LocalTokenCounter] = Lazily(_token_counter)
        self.profiles = Lazily(lambda: read_profiles(resources() / "data" / "profiles.json"))

    def _open_database(self) -> "Database":
        from clara.adapters.postgres.engine import UnsuitableServerError, open_engine

        if self.database_url is None:
            raise UnsuitableServerError("no database: set RAG_DB_URL, or let Clara start its own")
        return open_engine(self.database_url)

    def profile(self, name: str) -> Profile:
        """Give the profile of that name. Raises ProfileError."""
        profiles = self.profiles.get()
        if name not in profiles:
            raise ProfileError(f"there is no profile {name!r}; choose one of {', '.join(profiles)}")
        return profiles[name]

    def passages(self, profile: Profile | None = None) -> "PostgresPassages":
        """Build the store that ingestion writes to."""
        from clara.adapters.postgres.passages import PostgresPassages

        embedder = self.embedder.get()
        return PostgresPassages(self.engine.get(), embedder.model, embedder.dimensions, profile)

    def memorising_embedder(self, *, remember_queries: bool = False) -> MemorisingEmbedder:
        """Build what embeds the texts of corpora: what was computed once is taken from the database."""
        from clara.adapters.postgres.embedding_memory import PostgresEmbeddingMemory

        memory = PostgresEmbeddingMemory(self.engine.get())
        return MemorisingEmbedder(self.embedder.get(), memory, _log_memory, remember_queries=remember_queries)

    def passage_embedder(self) -> RememberingEmbedder:
        """Build what embeds Clara's passages: it knows the vectors that the release carries."""
        embedder = self.embedder.get()
        known = read_vectors(resources() / "data" / "vectors.npz", embedder.model)
        return RememberingEmbedder(self.memorising_embedder() if self.database_url else embedder, known)

    def index(self, profile: Profile | None = None, *, vectors: bool = False) -> "PostgresIndex":
        """Build the search index for the embedder's vectors."""
        from clara.adapters.postgres.search import PostgresIndex

        embedder = self.embedder.get()
        return PostgresIndex(self.engine.get(), embedder.model, embedder.dimensions, profile, vectors=vectors)

    def gather(self, profile: Profile) -> Gather:
        """Build the search of a corpus as its profile says: strategy, duplicates, and collections at once or in phases.

        Raises UnknownStrategyError.
        """
        strategy = strategy_named(profile.strategy)
        index = self.index(profile, vectors=strategy.needs_vectors or profile.deduplicate)

        def search(query: Query) -> Sequence[Hit]:
            return index.search(query, query.vector or ())

        # The statement orders by the fused score already, and cuts where the hybrid strategy would.
        chosen = search if profile.strategy == HYBRID else choosing(search, strategy)
        if profile.deduplicate:
            chosen = folding(chosen)
        if not profile.collections:
            return lambda query: Gathered(tuple(chosen(query)))
        phases = phases_of(list(profile.collections), profile.collections)
        lowest = min(profile.collections.values()) * profile.relaxing**RELAXED_STEPS
        return phased(chosen, phases, Relaxation(profile.relaxing, lowest))

    def corpus_retriever(self, corpus: str) -> Retrieve:
        """Build the retriever of a loaded corpus, searched as its profile says. Raises UnknownCorpusError, ProfileError."""
        profile = self.profile(self.passages().profile_of(corpus))
        return validated(hybrid(self.embedder.get(), self.gather(profile), None))


def digest_of_release() -> str:
    """Name everything in data/ that shapes a result besides the corpus: remembered results of another release are void."""
    digest = hashlib.sha256()
    data = resources() / "data"
    parts = ("calibration.json", "intent.npz", "profiles.json", "places.json", "vocabulary/*.json", "tramites/*.json")
    for file in sorted(file for part in parts for file in data.glob(part)):
        digest.update(file.read_bytes())
    return digest.hexdigest()


def _local_embedder() -> "LocalEmbedder":
    from clara.adapters.local.embedder import LocalEmbedder

    return LocalEmbedder()


def _token_counter() -> "LocalTokenCounter":
    from clara.adapters.local.tokens import LocalTokenCounter

    return LocalTokenCounter()


def _log_memory(error: EmbeddingMemoryUnavailableError) -> None:
    log.warning("embedding memory is out", error=str(error))
