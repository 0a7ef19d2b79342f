"""What is set beside Clara's own search: a peer is what an engineer would pick instead, over the same documents and vectors."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Protocol

import numpy as np
from numpy.typing import NDArray

from clara_lab.bench.dataset import BenchDocument

Floats = NDArray[np.float32]

# The default of pgvector for `hnsw.ef_search`: an approximate search gives so many rows at most. The frameworks' own examples
# have the same number, so it is also how many each leg of a peer's hybrid search hands to the fusion.
LEG: Final = 40
VECTOR: Final = "vector"
HYBRID: Final = "hybrid"


@dataclass(frozen=True, slots=True)
class PeerSetting:
    """What a peer is opened with: an empty database of its own, how long vectors are, and how it is to search.

    `dictionary` is the text search configuration of PostgreSQL that joins word forms, such as `english`. `way` is VECTOR or
    HYBRID, or the name of one of Clara's strategies; `options` has what else that one needs.
    """

    url: str
    dimensions: int
    dictionary: str
    way: str
    options: Mapping[str, Any] = field(default_factory=dict)


class Peer(Protocol):
    """A search over documents whose vectors are given. It is made with a PeerSetting, and makes its tables then."""

    def load(self, documents: Sequence[BenchDocument], vectors: Floats) -> None:
        """Store and index all documents; `vectors` has a row of length 1 for each, in their order."""
        ...

    def search(self, text: str, vector: Sequence[float], limit: int) -> list[str]:
        """Give the ids of the best documents, best first, at most `limit`; `vector` is that of the text."""
        ...

    def close(self) -> None:
        """Give back every connection."""
        ...


def content_of(document: BenchDocument) -> str:
    """Give the text that a peer stores and searches: what the vector is of, the title and below it the text."""
    return f"{document.title}\n{document.text}" if document.title else document.text


@dataclass(frozen=True, slots=True)
class Timed:
    """What came of a peer: rankings by question, and what they cost.

    `milliseconds` has the median of the rounds for each question; `open_seconds` making tables, `index_seconds` storing and
    indexing the documents. `peak_bytes` is of the whole process, client side only.
    """

    ranked: Mapping[str, tuple[str, ...]]
    milliseconds: Mapping[str, float]
    questions_per_second: float
    open_seconds: float
    index_seconds: float
    peak_bytes: int
    packages: int
    installed_bytes: int
    version: str = ""


@dataclass(frozen=True, slots=True)
class PeerOutcome:
    """One row of the table. Without `timed`, `failure` says why and `remedy` what to do."""

    name: str
    about: str
    timed: Timed | None = None
    failure: str = ""
    remedy: str = ""
