"""The corpora of a database: what searches and fills them."""

from contextlib import ExitStack
from typing import TYPE_CHECKING

import structlog
from sqlalchemy import Engine

from clara.adapters.models.embedders import Embedders
from clara.adapters.postgres.connections import UnsuitableServerError, open_engine
from clara.adapters.postgres.corpus.embedding_memory import PostgresEmbeddingMemory
from clara.adapters.postgres.corpus.index import PostgresIndex
from clara.adapters.postgres.corpus.passages import PostgresPassages
from clara.adapters.postgres.corpus.spaces import CorpusVersions, PostgresSpaces
from clara.adapters.postgres.editorial.facts import PostgresRevisions
from clara.adapters.postgres.editorial.publications import PostgresEvidence, PostgresPublications
from clara.container.served_models import ServedModels
from clara.ingestion.programs import ProgramReader, UnreadableProgramsError
from clara.once import Once
from clara.retrieval.embedders import RememberingEmbedder, read_vectors
from clara.retrieval.embedding_memory import EmbeddingMemoryUnavailableError, MemorisingEmbedder, RenewedEmbeddings
from clara.retrieval.hybrid import hybrid, plainly
from clara.retrieval.metrics import RetrievalMetrics
from clara.retrieval.passage import Gather, Retrieve
from clara.retrieval.ports import Embedder
from clara.retrieval.profile import Profile, ProfileError, read_profiles
from clara.retrieval.served_corpora import ServedCorpora
from clara.retrieval.validation import validated
from clara.settings import Settings, resources

if TYPE_CHECKING:
    from clara.adapters.models.local import LocalEmbedder, LocalTokenCounter
    from clara.retrieval.options.policies import Policy

log = structlog.get_logger()


class Corpora:
    """The parts that search and fill corpora. What is open is given back by `disconnect`, the youngest first."""

    def __init__(self, settings: Settings, database_url: str | None) -> None:
        self.settings = settings
        self.database_url = database_url
        self.data = resources() / "data"
        self.metrics = RetrievalMetrics()
        self.closing = ExitStack()
        counted = database_url is not None
        self.models = ServedModels(settings, lambda: self.engine, self.metrics, self.closing, counted=counted)

    def disconnect(self) -> None:
        """Give back every connection; what is asked for afterwards opens another."""
        self.closing.close()

    @Once
    def engine(self) -> Engine:
        """The pool of connections to the database. Raises UnsuitableServerError where there is none."""
        if self.database_url is None:
            raise UnsuitableServerError("no database: set RAG_DB_URL, or let Clara start its own")
        engine = open_engine(self.database_url)
        self.closing.callback(engine.dispose)
        return engine

    @Once
    def local(self) -> "LocalEmbedder":
        """The bundled model itself, which counts tokens too."""
        from clara.adapters.models.local import LocalEmbedder

        return LocalEmbedder()

    @Once
    def embedder(self) -> Embedder:
        """What embeds for the bundled model."""
        return self.local

    @Once
    def embedders(self) -> Embedders:
        """The embedding models by the names of their vector spaces."""
        return Embedders(self.models.parts, lambda: self.embedder)

    @Once
    def token_counter(self) -> "LocalTokenCounter":
        """What counts tokens for cutting documents."""
        from clara.adapters.models.local import LocalTokenCounter

        return LocalTokenCounter()

    @Once
    def versions(self) -> CorpusVersions:
        """What tells which corpus stands behind a name, and its version."""
        versions = CorpusVersions(str(self.database_url))
        self.closing.callback(versions.close)
        return versions

    @Once
    def served(self) -> ServedCorpora:
        """Which corpora are served, as last seen while the database is away."""
        return ServedCorpora(self.versions if self.database_url else None, self.embedders)

    @Once
    def profiles(self) -> dict[str, Profile]:
        """How each kind of corpus is searched. Raises ProfileError."""
        return read_profiles(self.data / "profiles.json")

    def served_model(self, corpus: str) -> str:
        """Give the model that a corpus is searched by: while the database is away the last one known, at first the bundled."""
        return self.served.model(corpus, self.served.standing(corpus), self.embedder.model)

    def profile(self, name: str) -> Profile:
        """Give the profile of that name. Raises ProfileError."""
        profiles = self.profiles
        if name not in profiles:
            raise ProfileError(f"there is no profile {name!r}; choose one of {', '.join(profiles)}")
        return profiles[name]

    def spaces(self) -> PostgresSpaces:
        """Build what fills vector spaces and changes over between them."""
        return PostgresSpaces(self.engine)

    def publications(self) -> PostgresPublications:
        """Build what keeps the versions of the knowledge."""
        return PostgresPublications(self.engine)

    def revisions(self) -> PostgresRevisions:
        """Build what keeps people's corrections of facts."""
        return PostgresRevisions(self.engine)

    def evidence(self) -> PostgresEvidence:
        """Build what knows everything that was ever served."""
        return PostgresEvidence(self.engine)

    def adopt(self, corpus: str, embedder: Embedder) -> None:
        """Search the corpus by this model if it was by one that only another release knows. Raises CorpusUnavailableError."""
        held = self.versions.model(corpus)
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

    def passages(self, profile: Profile | None = None, embedder: Embedder | None = None) -> PostgresPassages:
        """Build the store that ingestion writes to, for the vectors of the bundled embedder or another."""
        embedder = embedder or self.embedder
        return PostgresPassages(self.engine, embedder.model, embedder.dimensions, profile)

    def memorising_embedder(
        self, embedder: Embedder | None = None, *, remember_queries: bool = False, anew: bool = False
    ) -> MemorisingEmbedder:
        """Build what embeds the texts of corpora: what was computed once is taken from the database, unless `anew`."""
        held = PostgresEmbeddingMemory(self.engine)
        memory = RenewedEmbeddings(held) if anew else held
        return MemorisingEmbedder(embedder or self.embedder, memory, _log_memory, remember_queries=remember_queries)

    def passage_embedder(self, embedder: Embedder | None = None) -> RememberingEmbedder:
        """Build what embeds Clara's passages: it knows the vectors that the release carries."""
        embedder = embedder or self.embedder
        known = read_vectors(self.data / "vectors.npz", embedder.model)
        return RememberingEmbedder(self.memorising_embedder(embedder) if self.database_url else embedder, known)

    def law_embedder(self, norm: str, embedder: Embedder, *, anew: bool = False) -> Embedder:
        """Build what embeds the passages of a norm: it knows the vectors that the release carries, unless `anew`."""
        memorising = self.memorising_embedder(embedder, anew=anew)
        file = self.data / "law_vectors" / f"{norm}.npz"
        return memorising if anew else RememberingEmbedder(memorising, read_vectors(file, embedder.model))

    def index(
        self, profile: Profile | None = None, embedder: Embedder | None = None, *, vectors: bool = False
    ) -> PostgresIndex:
        """Build the search index for the vectors of the bundled embedder or another."""
        embedder = embedder or self.embedder
        return PostgresIndex(self.engine, embedder.model, embedder.dimensions, profile, vectors=vectors)

    def gather(self, profile: Profile, embedder: Embedder | None = None) -> Gather:
        """Build the search of a corpus as its profile says: strategy, duplicates, and collections at once or in phases.

        Raises UnknownStrategyError.
        """
        if profile.plain:
            return plainly(self.index(profile, embedder))
        from clara.retrieval.options.composition import composed, needs_vectors

        index = self.index(profile, embedder, vectors=needs_vectors(profile))
        return composed(profile, lambda query: index.search(query, query.vector or ()))

    def corpus_retriever(self, corpus: str, policy: "Policy" = "none", bounds: str = "measured") -> Retrieve:
        """Build the retriever of a loaded corpus, searched as its profile says, with a policy around it.

        What a policy holds for near was measured with the bundled embedder only; with another one there is none. Raises
        UnknownCorpusError, ProfileError.
        """
        profile = self.profile(self.passages().profile_of(self.served.standing(corpus).physical))
        bundled = self.embedder

        def build(embedder: Embedder) -> Retrieve:
            plain = hybrid(embedder, self.gather(profile, embedder), None)
            if policy == "none" or embedder.model != bundled.model:
                return plain
            from clara.retrieval.options.policies import BOUNDS, by_policy, subject_of

            # Nobody calibrated this corpus, so nothing is ever confident: a policy stops by what it grades.
            return by_policy(policy, plain, subject_of(profile, self.data), confidence=1.0, bounds=BOUNDS[bounds])

        return validated(self.served.by_model(build, bundled))


def _log_memory(error: EmbeddingMemoryUnavailableError) -> None:
    log.warning("embedding memory is out", error=str(error))
