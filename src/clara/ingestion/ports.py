"""What ingestion needs from outside."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from clara.errors import Unavailable
from clara.retrieval.passage import Passage
from clara.retrieval.profile import Profile


class StoreUnavailableError(Unavailable):
    """The store of passages could not be asked or written. Nothing was changed."""


@dataclass(frozen=True, slots=True)
class StoredDigests:
    """What a store holds of a corpus, or of one document: digests by passage id, of the passage and of the text embedded.

    `profile` is the name of the one it was last written with, None for an unknown corpus.
    """

    passages: Mapping[str, str]
    vectors: Mapping[str, str]
    profile: str | None = None


@dataclass(frozen=True, slots=True)
class Written:
    """A passage to write, its digest, and its vector with the digest of the text that was embedded.

    `names` are those under which texts and questions may speak of it, normalised.
    """

    passage: Passage
    digest: str
    vector: Sequence[float]
    vector_digest: str
    names: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Change:
    """All that one ingestion changes in a corpus, or, with a `document`, in that document alone.

    `links` are all of the corpus afterwards, as (id of a passage, id of a passage that it names); they replace what was there.
    A change of one document touches no links: whom a text names is known of a whole corpus only.
    """

    write: tuple[Written, ...]
    drop: frozenset[str]
    links: frozenset[tuple[str, str]] = frozenset()
    document: str | None = None


class PassageStore(Protocol):
    """Keeps the passages of corpora with the vectors of one model. Every method may raise StoreUnavailableError.

    `profile` says how what is written is searched afterwards, and so whether names and links are worth keeping.
    """

    profile: Profile

    def stored(self, corpus: str, document: str | None = None) -> StoredDigests:
        """Give the digests of everything the store holds of the corpus, or of one document; empty for what it does not know."""
        ...

    def vectors(self, corpus: str, ids: Sequence[str]) -> Mapping[str, list[float]]:
        """Give the stored vectors of these passages, where there are any."""
        ...

    def apply(self, corpus: str, change: Change) -> None:
        """Make all changes in one transaction, or none. A change of one document writes and drops no passage of another."""
        ...
