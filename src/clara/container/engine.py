"""The retrieval engine on its database: stores, indexes, memories and caches. What is switched off is not built."""

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import replace
from threading import Lock
from typing import TYPE_CHECKING

import structlog

from clara.container.embedders import Embedders
from clara.container.knowledge import subject_of
from clara.container.lazily import Lazily
from clara.ingestion.programs import ProgramReader, UnreadableProgramsError
from clara.retrieval.corpus_alias import Standing
from clara.retrieval.embedders import RememberingEmbedder, read_vectors
from clara.retrieval.embedding_memory import EmbeddingMemoryUnavailableError, MemorisingEmbedder, RenewedEmbeddings
from clara.retrieval.hybrid import hybrid, plainly
from clara.retrieval.metrics import RetrievalMetrics
from clara.retrieval.passage import Found, Gather, Query, Retrieve
from clara.retrieval.ports import Embedder
from clara.retrieval.profile import Profile, ProfileError, read_profiles
from clara.retrieval.validation import validated
from clara.settings import Settings, resources

if TYPE_CHECKING:
    from sqlalchemy import Engine as Database

    from clara.adapters.models.guards import Guard
    from clara.adapters.models.local import LocalEmbedder, LocalTokenCounter
    from clara.adapters.postgres.corpus.index import PostgresIndex
    from clara.adapters.postgres.corpus.passages import PostgresPassages
    from clara.adapters.postgres.corpus.spaces import PostgresSpaces
    from clara.adapters.postgres.corpus.versions import CorpusVersions
    from clara.adapters.postgres.editorial.evidence import PostgresEvidence
    from clara.adapters.postgres.editorial.facts import PostgresFlags, PostgresRevisions
    from clara.adapters.postgres.editorial.publications import PostgresPublications
    from clara.retrieval.options.policies import Policy

log = structlog.get_logger()


class Engine:
    """What searches and fills corpora. Each part is built on first use, once."""

    def __init__(self, settings: Settings, database_url: str | None) -> None:
        self.settings = settings
        self.database_url = database_url
        self.metrics = RetrievalMetrics()
        self.engine: Lazily[Database] = Lazily(self._open_database)
        self.local: Lazily[LocalEmbedder] = Lazily(_local_embedder)
        self.embedder: Lazily[Embedder] = Lazily(self.local.get)
        self.embedders = Embedders(settings, self._bundled, self.guard_of)
        self.versions: Lazily[CorpusVersions] = Lazily(self._open_versions)
        self.flags: Lazily[PostgresFlags] = Lazily(self._open_flags)
        self._last_standing: dict[str, Standing] = {}
        self._last_served: dict[str, str] = {}
        self.token_counter: Lazily[LocalTokenCounter] = Lazily(_token_counter)
        self.profiles = Lazily(lambda: read_profiles(resources() / "data" / "profiles.json"))

    def _open_database(self) -> "Database":
        from clara.adapters.postgres.connections import UnsuitableServerError, open_engine

        if self.database_url is None:
            raise UnsuitableServerError("no database: set RAG_DB_URL, or let Clara start its own")
        return open_engine(self.database_url)

    def _bundled(self) -> Embedder:
        return self.embedder.get()

    def _open_versions(self) -> "CorpusVersions":
        from clara.adapters.postgres.corpus.versions import CorpusVersions

        return CorpusVersions(str(self.database_url))

    def _open_flags(self) -> "PostgresFlags":
        from clara.adapters.postgres.editorial.facts import PostgresFlags

        return PostgresFlags(str(self.database_url))

    def flagged(self) -> Mapping[str, str]:
        """Give the facts in doubt, with the day since which they are; while the database is away those known last."""
        return self.flags.get().current() if self.database_url else {}

    def guard_of(self, part: str) -> "Guard":
        """Give what stands between a part and a served model; an engine alone has nothing to count with."""
        from clara.adapters.models.guards import guarded

        del part
        return guarded()

    def standing(self, corpus: str) -> Standing:
        """Give what stands behind a name, in one exchange; while the database is away what stood there when last seen."""
        return self._seen(f"behind {corpus}", corpus, lambda: self.versions.get().standing(corpus))

    def itself(self, corpus: str) -> Standing:
        """Give the same of a corpus itself, whatever stands behind its name."""
        return self._seen(f"itself {corpus}", corpus, lambda: self.versions.get().itself(corpus))

    def _seen(self, key: str, corpus: str, look: Callable[[], Standing | None]) -> Standing:
        held = look() if self.database_url else None
        if held is None:
            return self._last_standing.get(key, Standing(corpus))
        self._last_standing[key] = held
        return held

    def served_model(self, corpus: str) -> str:
        """Give the model that a corpus is searched by: while the database is away the last one known, at first the bundled."""
        return self._model_of(corpus, self.standing(corpus))

    def _model_of(self, corpus: str, standing: Standing) -> str:
        held = standing.model
        if held is None or not self.embedders.knows(held):
            return self._last_served.get(corpus, self.embedder.get().model)
        self._last_served[corpus] = held
        return held

    def by_served_model(
        self, build: Callable[[Embedder], Retrieve], standing: Callable[[str], Standing] | None = None
    ) -> Retrieve:
        """Retrieve from whatever stands behind the name at that moment, by its model, from the first step to the last.

        `build` makes the chain of a model, once. It is asked for the corpus that stands there, never for the name: keys of
        what is remembered, vectors and links are all that corpus's. `standing` finds it in another way.
        """
        chains = {self.embedder.get().model: build(self.embedder.get())}
        lock = Lock()
        resolve = standing or self.standing

        def retrieve(query: Query) -> Found:
            held = resolve(query.corpus)
            model = self._model_of(query.corpus, held)
            with lock:
                if model not in chains:
                    chains[model] = build(self.embedders.asking(model))
            return chains[model](replace(query, corpus=held.physical))

        return retrieve

    def profile(self, name: str) -> Profile:
        """Give the profile of that name. Raises ProfileError."""
        profiles = self.profiles.get()
        if name not in profiles:
            raise ProfileError(f"there is no profile {name!r}; choose one of {', '.join(profiles)}")
        return profiles[name]

    def spaces(self) -> "PostgresSpaces":
        """Build what fills vector spaces and changes over between them."""
        from clara.adapters.postgres.corpus.spaces import PostgresSpaces

        return PostgresSpaces(self.engine.get())

    def publications(self) -> "PostgresPublications":
        """Build what keeps the versions of the knowledge."""
        from clara.adapters.postgres.editorial.publications import PostgresPublications

        return PostgresPublications(self.engine.get())

    def revisions(self) -> "PostgresRevisions":
        """Build what keeps people's corrections of facts."""
        from clara.adapters.postgres.editorial.facts import PostgresRevisions

        return PostgresRevisions(self.engine.get())

    def evidence(self) -> "PostgresEvidence":
        """Build what knows everything that was ever served."""
        from clara.adapters.postgres.editorial.evidence import PostgresEvidence

        return PostgresEvidence(self.engine.get())

    def adopt(self, corpus: str, embedder: Embedder) -> None:
        """Search the corpus by this model if it was by one that only another release knows. Raises StoreUnavailableError."""
        held = self.versions.get().model(corpus)
        if held is not None and not self.embedders.knows(held):
            self.spaces().serve(corpus, embedder.model)

    def filling(self, corpus: str) -> Embedder:
        """Give what embeds the texts of a corpus for the model it is searched by."""
        return self.embedders.filling(self.served_model(corpus))

    def program_reader(self) -> ProgramReader:
        """Build what cuts programs. Raises UnreadableProgramsError when the extra `code` is not installed."""
        try:
            from clara.adapters.treesitter.reader import TreeSitterReader
        except ModuleNotFoundError as error:
            msg = f"reading programs needs {error.name}, which is not installed; pip install 'clara-tramites[code]'"
            raise UnreadableProgramsError(msg) from error
        return TreeSitterReader()

    def passages(self, profile: Profile | None = None, embedder: Embedder | None = None) -> "PostgresPassages":
        """Build the store that ingestion writes to, for the vectors of the bundled embedder or another."""
        from clara.adapters.postgres.corpus.passages import PostgresPassages

        embedder = embedder or self.embedder.get()
        return PostgresPassages(self.engine.get(), embedder.model, embedder.dimensions, profile)

    def memorising_embedder(
        self, embedder: Embedder | None = None, *, remember_queries: bool = False, anew: bool = False
    ) -> MemorisingEmbedder:
        """Build what embeds the texts of corpora: what was computed once is taken from the database, unless `anew`."""
        from clara.adapters.postgres.corpus.embedding_memory import PostgresEmbeddingMemory

        held = PostgresEmbeddingMemory(self.engine.get())
        memory = RenewedEmbeddings(held) if anew else held
        return MemorisingEmbedder(embedder or self.embedder.get(), memory, _log_memory, remember_queries=remember_queries)

    def passage_embedder(self, embedder: Embedder | None = None) -> RememberingEmbedder:
        """Build what embeds Clara's passages: it knows the vectors that the release carries."""
        embedder = embedder or self.embedder.get()
        known = read_vectors(resources() / "data" / "vectors.npz", embedder.model)
        return RememberingEmbedder(self.memorising_embedder(embedder) if self.database_url else embedder, known)

    def law_embedder(self, norm: str, embedder: Embedder, *, anew: bool = False) -> Embedder:
        """Build what embeds the passages of a norm: it knows the vectors that the release carries, unless `anew`."""
        memorising = self.memorising_embedder(embedder, anew=anew)
        file = resources() / "data" / "law_vectors" / f"{norm}.npz"
        return memorising if anew else RememberingEmbedder(memorising, read_vectors(file, embedder.model))

    def index(
        self, profile: Profile | None = None, embedder: Embedder | None = None, *, vectors: bool = False
    ) -> "PostgresIndex":
        """Build the search index for the vectors of the bundled embedder or another."""
        from clara.adapters.postgres.corpus.index import PostgresIndex

        embedder = embedder or self.embedder.get()
        return PostgresIndex(self.engine.get(), embedder.model, embedder.dimensions, profile, vectors=vectors)

    def gather(self, profile: Profile, embedder: Embedder | None = None) -> Gather:
        """Build the search of a corpus as its profile says: strategy, duplicates, and collections at once or in phases.

        Raises UnknownStrategyError.
        """
        if profile.plain:
            return plainly(self.index(profile, embedder))
        from clara.retrieval.options.composition import composed, needs_vectors

        index = self.index(profile, embedder, vectors=needs_vectors(profile))
        return composed(profile, lambda query: index.search(query, query.vector or ()))

    def corpus_retriever(self, corpus: str, policy: "Policy" = "none") -> Retrieve:
        """Build the retriever of a loaded corpus, searched as its profile says, with a policy around it.

        What a policy holds for near was measured with the bundled embedder only; with another one there is none. Raises
        UnknownCorpusError, ProfileError.
        """
        profile = self.profile(self.passages().profile_of(self.standing(corpus).physical))
        bundled = self.embedder.get().model

        def build(embedder: Embedder) -> Retrieve:
            plain = hybrid(embedder, self.gather(profile, embedder), None)
            if policy == "none" or embedder.model != bundled:
                return plain
            from clara.retrieval.options.policies import by_policy

            # Nobody calibrated this corpus, so nothing is ever confident: a policy stops by what it grades.
            return by_policy(policy, plain, subject_of(profile), confidence=1.0)

        return validated(self.by_served_model(build))


def digest_of_release() -> str:
    """Name everything in data/ that shapes a result besides the corpus: remembered results of another release are void."""
    digest = hashlib.sha256()
    data = resources() / "data"
    parts = ("calibration.json", "intent.npz", "profiles.json", "places.json", "vocabulary/*.json", "tramites/*.json")
    for file in sorted(file for part in parts for file in data.glob(part)):
        digest.update(file.read_bytes())
    return digest.hexdigest()


def _local_embedder() -> "LocalEmbedder":
    from clara.adapters.models.local import LocalEmbedder

    return LocalEmbedder()


def _token_counter() -> "LocalTokenCounter":
    from clara.adapters.models.local import LocalTokenCounter

    return LocalTokenCounter()


def _log_memory(error: EmbeddingMemoryUnavailableError) -> None:
    log.warning("embedding memory is out", error=str(error))
