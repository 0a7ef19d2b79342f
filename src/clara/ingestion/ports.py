"""What ingestion needs from outside. Whatever keeps something may raise CorpusUnavailableError."""

from collections.abc import Collection, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Final, Protocol

from clara.errors import Refused, Unavailable
from clara.ingestion.programs import ProgramReader
from clara.retrieval.passage import Passage
from clara.retrieval.ports import Embedder
from clara.retrieval.profile import Profile
from clara.retrieval.tokens import TokenCounter


class CorpusUnavailableError(Unavailable):
    """The store of passages could not be asked or written. Nothing was changed."""


class BusyDocumentError(Refused):
    """Somebody else has been ingesting this document for half an hour. Look whether that process is alive; then try again."""


@dataclass(frozen=True, slots=True)
class StoredDigests:
    """What a store holds of a corpus, or of one document: digests by passage id, of the passage and of the text embedded.

    `profile` is the name of the one it was last written with, None for an unknown corpus.
    """

    passages: Mapping[str, str]
    vectors: Mapping[str, str]
    profile: str | None = None


@dataclass(frozen=True, slots=True)
class WrittenPassage:
    """A passage to write, its digest, and its vector with the digest of the text that was embedded.

    `names` are those under which texts and questions may speak of it, normalised.
    """

    passage: Passage
    digest: str
    vector: Sequence[float]
    vector_digest: str
    names: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class CorpusChange:
    """All that one ingestion changes in a corpus, or, with a `document`, in that document alone.

    `links` are all of the corpus afterwards, as (id of a passage, id of a passage that it names); they replace what was there.
    A change of one document touches no links: whom a text names is known of a whole corpus only.
    """

    write: tuple[WrittenPassage, ...]
    drop: frozenset[str]
    links: frozenset[tuple[str, str]] = frozenset()
    document: str | None = None


class PassageStore(Protocol):
    """Keeps the passages of corpora with the vectors of one model. Every method may raise CorpusUnavailableError.

    `profile` says how what is written is searched afterwards, and so whether names and links are worth keeping.
    """

    profile: Profile

    def stored(self, corpus: str, document: str | None = None) -> StoredDigests:
        """Give the digests of everything the store holds of the corpus, or of one document; empty for what it does not know."""

    def vectors(self, corpus: str, ids: Sequence[str]) -> Mapping[str, list[float]]:
        """Give the stored vectors of these passages, where there are any."""

    def apply(self, corpus: str, change: CorpusChange) -> None:
        """Make all changes in one transaction, or none. A change of one document writes and drops no passage of another."""


@dataclass(frozen=True, slots=True)
class StoredCorpus:
    """What the store holds of a corpus."""

    name: str
    profile: str
    passages: int
    documents: int
    collections: tuple[str, ...]
    links: int


class CorpusStore(PassageStore, Protocol):
    """Keeps corpora, and tells what it holds of them."""

    def corpora(self) -> Sequence[StoredCorpus]:
        """List what is there, by name."""

    def drop(self, corpus: str) -> bool:
        """Remove a corpus with everything made for it; False when there is none."""


class FillableCorpora(Protocol):
    """Opens corpora for filling: where their passages are kept, and what embeds them for the model they are searched by."""

    @property
    def token_counter(self) -> TokenCounter:
        """What counts tokens for cutting documents."""

    def program_reader(self) -> ProgramReader:
        """Give what cuts programs. Raises UnreadableProgramsError where that is not installed."""

    def profile(self, name: str) -> Profile:
        """Give how a kind of corpus is searched. Raises ProfileError."""

    def passages(self, profile: Profile | None = None, embedder: Embedder | None = None) -> CorpusStore:
        """Give the store, for the vectors of the bundled embedder or another."""

    def filling(self, corpus: str) -> Embedder:
        """Give what embeds the texts of a corpus for the model it is searched by."""

    def memorising_embedder(self, embedder: Embedder | None = None, *, anew: bool = False) -> Embedder:
        """Let an embedder take what was computed once from the database, unless `anew`."""

    def passage_embedder(self, embedder: Embedder | None = None) -> Embedder:
        """Let an embedder know the vectors of Clara's passages that the release carries."""

    def law_embedder(self, norm: str, embedder: Embedder, *, anew: bool = False) -> Embedder:
        """Let an embedder know the vectors of a norm that the release carries, unless `anew`."""

    def adopt(self, corpus: str, embedder: Embedder) -> None:
        """Search the corpus by this model if it was by one that only another release knows."""


# Passages looked at when it is asked what a space lacks; whether there are more makes no difference to whoever asks.
LOOKED_AT: Final = 10_000


@dataclass(frozen=True, slots=True)
class Space:
    """A vector space, or a corpus that has none yet: then `model` is None. `served`: the corpus is searched by it.

    `missing` is how many passages it should hold and does not, where that was asked for.
    """

    corpus: str
    passages: int
    model: str | None
    dimensions: int
    vectors: int
    served: bool
    missing: int = 0


@dataclass(frozen=True, slots=True)
class Unembedded:
    """A passage that has no vector in a space: its key in the database, and the text to embed."""

    key: int
    text: str


class Spaces(Protocol):
    """Fills vector spaces beside the one that serves, and changes over."""

    def spaces(self) -> Sequence[Space]:
        """List every corpus with its spaces, by name and model."""

    def prepare(self, corpus: str, model: str, dimensions: int) -> None:
        """Make the space of a corpus and a model with its index, unless it is there. Raises NameTakenError."""

    def unembedded(self, corpus: str, model: str, after: int, limit: int) -> Sequence[Unembedded]:
        """Give the next passages, beyond the key `after`, that have no vector in the space."""

    def add(self, corpus: str, model: str, vectors: Mapping[int, Sequence[float]]) -> int:
        """Store vectors by the keys of their passages; give how many were new."""

    def lacking(self, corpus: str, model: str, blank: Collection[int] = ()) -> int:
        """Count the passages that should have a vector in the space and do not; more than LOOKED_AT are not counted."""

    def serve(self, corpus: str, model: str, blank: Collection[int] = ()) -> int:
        """Let the corpus be searched by this space if it lacks nothing; give how many passages it lacks."""

    def building(self, corpus: str) -> AbstractContextManager[bool]:
        """Be the only one who builds vectors for the corpus; False when somebody else is."""
