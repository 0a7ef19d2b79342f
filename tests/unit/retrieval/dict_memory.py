"""A memory of vectors in a dictionary, and an embedder that computes, for tests of remembering."""

import hashlib
import math
from collections.abc import Callable, Mapping, Sequence

import numpy as np

from clara.retrieval.embedding_memory import Computed, EmbeddingMemoryUnavailableError, Vector32
from clara.retrieval.ports import Role


class DictMemory:
    """Implements RememberedEmbeddings, notes what it is asked, and can be out for reading or writing."""

    def __init__(self) -> None:
        self.held: dict[tuple[str, str], Computed] = {}
        self.asked: list[list[str]] = []
        self.stored: list[list[str]] = []
        self.deaf = self.full = False

    def get_many(self, model: str, keys: Sequence[str]) -> Mapping[str, Vector32]:
        """Give what is there."""
        if self.deaf:
            raise EmbeddingMemoryUnavailableError("cannot read")
        self.asked.append(list(keys))
        return {key: self.held[model, key].vector for key in keys if (model, key) in self.held}

    def put_many(self, model: str, computed: Mapping[str, Computed]) -> None:
        """Keep it."""
        if self.full:
            raise EmbeddingMemoryUnavailableError("cannot write")
        self.stored.append(list(computed))
        self.held |= {
            (model, key): Computed(made.vector.astype(np.float32), made.milliseconds) for key, made in computed.items()
        }


class DigestEmbedder:
    """Computes a direction from the digest of each text, blank ones none, and notes what it computed."""

    def __init__(self, model: str = "digest", dimensions: int = 8, spend: Callable[[int], None] = lambda _texts: None) -> None:
        self.model = model
        self.dimensions = dimensions
        self.asked: list[list[str]] = []
        self._spend = spend

    def embed(self, texts: Sequence[str], role: Role) -> list[list[float]]:
        """Give a unit vector, or the zero vector for a blank text."""
        self.asked.append(list(texts))
        self._spend(len(texts))
        return [self._direction(" ".join(text.split()), role) for text in texts]

    def _direction(self, text: str, role: Role) -> list[float]:
        if not text:
            return [0.0] * self.dimensions
        digest = hashlib.shake_256(f"{self.model}{role}{text}".encode("utf-8", "replace")).digest(self.dimensions)
        axes = [byte - 127.5 for byte in digest]
        return [axis / math.hypot(*axes) for axis in axes]
