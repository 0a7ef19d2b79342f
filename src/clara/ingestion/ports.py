"""What ingestion needs from outside."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from clara.retrieval.passage import Passage


class StoreUnavailableError(Exception):
    """The store of passages could not be asked or written. Nothing was changed."""


@dataclass(frozen=True, slots=True)
class StoredDigests:
    """What a store holds of a corpus: digests by passage id, of the passage and of the text its vector was made from."""

    passages: Mapping[str, str]
    vectors: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Written:
    """A passage to write, its digest, and its vector with the digest of the text that was embedded."""

    passage: Passage
    digest: str
    vector: Sequence[float]
    vector_digest: str


@dataclass(frozen=True, slots=True)
class Change:
    """All that one ingestion changes in a corpus."""

    write: tuple[Written, ...]
    drop: frozenset[str]


class PassageStore(Protocol):
    """Keeps the passages of corpora with the vectors of one model. Every method may raise StoreUnavailableError."""

    def stored(self, corpus: str) -> StoredDigests:
        """Give the digests of everything the store holds of the corpus; empty for a corpus it does not know."""
        ...

    def vectors(self, corpus: str, ids: Sequence[str]) -> Mapping[str, list[float]]:
        """Give the stored vectors of these passages, where there are any."""
        ...

    def apply(self, corpus: str, change: Change) -> None:
        """Make all changes in one transaction, or none."""
        ...
