"""A memory of computed vectors: what was embedded once is not embedded again, and a load that was killed resumes."""

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from time import perf_counter
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from clara.errors import Unavailable
from clara.language.fold import spaced
from clara.retrieval.embedders import WrappedEmbedder
from clara.retrieval.metrics import Counters, summary
from clara.retrieval.ports import Embedder, Role

# Texts looked up, computed and stored together: large enough that the two statements disappear beside the embedding, small
# enough that a load that is killed loses seconds.
BATCH = 64
# float32 keeps the length of a unit vector to 1e-6; a vector that is further off than this was not stored by us.
UNIT_WITHIN = 1e-3

Vector32 = NDArray[np.float32]


class EmbeddingMemoryUnavailableError(Unavailable):
    """The memory of vectors could not be asked or written. Embedding goes on without it."""


@dataclass(frozen=True, slots=True)
class Computed:
    """A vector and the milliseconds that computing it took."""

    vector: Vector32
    milliseconds: float


@dataclass(frozen=True, slots=True)
class Used:
    """How often a remembered vector was given. `digest` is the beginning of its key: never a text."""

    digest: str
    model: str
    uses: int


@dataclass(frozen=True, slots=True)
class MemoryStatistics:
    """What a memory holds and what it was good for, over all models. `saved_ms` counts hits only."""

    entries: int
    bytes_on_disk: int
    hits: int
    misses: int
    saved_ms: float
    oldest: datetime | None
    most_used: tuple[Used, ...]

    @property
    def hit_rate(self) -> float:
        """Give the share (0..1) of the vectors asked for that were there, 0 before anything was asked."""
        asked = self.hits + self.misses
        return self.hits / asked if asked else 0.0

    def as_json(self) -> dict[str, Any]:
        """Give the same as JSON."""
        figures = {"hit_rate": round(self.hit_rate, 4), "saved_ms": round(self.saved_ms, 1)}
        return {**asdict(self), **figures, "oldest": self.oldest.isoformat() if self.oldest else None}


class RememberedEmbeddings(Protocol):
    """Keeps vectors by key, exactly as float32. Every method may raise EmbeddingMemoryUnavailableError."""

    def get_many(self, model: str, keys: Sequence[str]) -> Mapping[str, Vector32]:
        """Give the vectors that are there, and count hits and misses. Keys are distinct."""

    def put_many(self, model: str, computed: Mapping[str, Computed]) -> None:
        """Store all or none, for good when this returns; what was there under a key is replaced."""


class RenewedEmbeddings:
    """A memory that gives nothing and keeps everything, so that what is embedded replaces what it held."""

    def __init__(self, memory: RememberedEmbeddings) -> None:
        self._memory = memory

    def get_many(self, model: str, keys: Sequence[str]) -> Mapping[str, Vector32]:
        """Give nothing."""
        del model, keys
        return {}

    def put_many(self, model: str, computed: Mapping[str, Computed]) -> None:
        """Store all or none. Raises EmbeddingMemoryUnavailableError."""
        self._memory.put_many(model, computed)


def key_of(embedder: Embedder, text: str, role: Role) -> str:
    """Name what was embedded: model, role, size, text. Texts that differ only in blanks or compatible characters are one."""
    normalised = spaced(text)
    return hashlib.sha256(json.dumps([embedder.model, role, embedder.dimensions, normalised]).encode()).hexdigest()


class MemorisingEmbedder(WrappedEmbedder):
    """Gives remembered vectors and asks the embedder for the others only, once for each text; remembers what it computed.

    Vectors are float32 values whether remembered or fresh. What people ask is not remembered: the role "query" passes through
    unless `remember_queries`, which is for questions of an evaluation.
    """

    def __init__(
        self,
        embedder: Embedder,
        memory: RememberedEmbeddings,
        on_failure: Callable[[EmbeddingMemoryUnavailableError], None],
        *,
        remember_queries: bool = False,
        clock: Callable[[], float] = perf_counter,
    ) -> None:
        super().__init__(embedder)
        self._memory = memory
        self._on_failure = on_failure
        self._remember_queries = remember_queries
        self._clock = clock

    def embed(self, texts: Sequence[str], role: Role) -> list[list[float]]:
        """Embed each text, in order; an outage of the memory is reported and stops nothing. Raises EmbedderUnavailableError."""
        if role == "query" and not self._remember_queries:
            return self._embedder.embed(texts, role)
        keys = [key_of(self._embedder, text, role) for text in texts]
        first = dict(zip(reversed(keys), reversed(texts), strict=True))
        unique = list(dict.fromkeys(keys))
        vectors: dict[str, list[float]] = {}
        reachable = True
        for start in range(0, len(unique), BATCH):
            batch = {key: first[key] for key in unique[start : start + BATCH]}
            known = self._known(list(batch)) if reachable else None
            fresh = self._computed({key: text for key, text in batch.items() if key not in (known or {})}, role)
            reachable = known is not None and self._kept(fresh)
            vectors |= {key: vector.tolist() for key, vector in (known or {}).items()}
            vectors |= {key: made.vector.tolist() for key, made in fresh.items()}
        return [list(vectors[key]) for key in keys]

    def _known(self, keys: Sequence[str]) -> dict[str, Vector32] | None:
        """Give the sound vectors of the memory; None when it is out."""
        try:
            held = self._memory.get_many(self.model, keys)
        except EmbeddingMemoryUnavailableError as error:
            self._on_failure(error)
            return None
        return {key: vector for key, vector in held.items() if vector.shape == (self.dimensions,) and _is_unit(vector)}

    def _computed(self, texts: Mapping[str, str], role: Role) -> dict[str, Computed]:
        if not texts:
            return {}
        started = self._clock()
        made = self._embedder.embed(list(texts.values()), role)
        each = (self._clock() - started) * 1000 / len(texts)
        return {key: Computed(np.array(vector, np.float32), each) for key, vector in zip(texts, made, strict=True)}

    def _kept(self, fresh: Mapping[str, Computed]) -> bool:
        """Store what was computed, and say whether the memory is there. A text with nothing to embed costs nothing again."""
        worth = {key: made for key, made in fresh.items() if _is_unit(made.vector)}
        try:
            if worth:
                self._memory.put_many(self.model, worth)
        except EmbeddingMemoryUnavailableError as error:
            self._on_failure(error)
            return False
        return True


def _is_unit(vector: Vector32) -> bool:
    return bool(abs(float(np.linalg.norm(vector)) - 1.0) <= UNIT_WITHIN)


MEGABYTE = 1_000_000
MINUTE_MS = 60_000


def statistics(memory: MemoryStatistics, counters: Counters) -> dict[str, Any]:
    """Give the figures of the embedding memory and of the answers that a cache knew, as JSON."""
    retrieval = summary(counters)
    return {
        "embedding_memory": memory.as_json(),
        "answers": {name: retrieval[name] for name in ("retrievals", "cache", "rates")},
    }


def statistics_page(figures: Mapping[str, Any]) -> str:
    """Show `statistics` to a person."""
    memory, answers = figures["embedding_memory"], figures["answers"]
    rows = [
        ("entries", f"{memory['entries']:,}"),
        ("size on disk", f"{memory['bytes_on_disk'] / MEGABYTE:,.1f} MB"),
        ("hits", f"{memory['hits']:,} of {memory['hits'] + memory['misses']:,} ({memory['hit_rate']:.1%})"),
        ("time saved", f"{memory['saved_ms'] / MINUTE_MS:,.1f} minutes of embedding"),
        ("oldest entry", memory["oldest"] or "none"),
        *((f"  {used['digest']}", f"{used['uses']:,} uses, {used['model']}") for used in memory["most_used"]),
    ]
    layers = [(layer, f"{count:,}") for layer, count in answers["cache"].items()]
    layers += [("hit rate", f"{answers['rates']['cache_hit']:.1%} of {answers['retrievals']:,} retrievals")]
    return "\n".join(["Embedding memory", *_aligned(rows), "", "Answers by layer of the cache", *_aligned(layers)])


def _aligned(rows: list[tuple[str, str]]) -> list[str]:
    width = max(len(name) for name, _ in rows)
    return [f"  {name:<{width}}  {value}" for name, value in rows]
