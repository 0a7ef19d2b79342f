"""Around an embedder: not believing a provider that changed its model, and vectors that a release carries."""

import hashlib
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from clara.retrieval.arrays import read_arrays
from clara.retrieval.passage import Query
from clara.retrieval.ports import Embedder, EmbedderUnavailableError, Role, Vector

# Half precision keeps the length of a unit vector to .0005; a provider's shortened vectors are off by a third.
UNIT_WITHIN = 0.01


def is_blank(text: str) -> bool:
    """Whether a text has nothing to embed: no character that can be seen. Its vector is the zero vector of every model."""
    return not any(character.isprintable() and not character.isspace() for character in text)


def embedded(embedder: Embedder, texts: Sequence[str], role: Role) -> list[list[float]]:
    """Embed texts, each as a unit vector of the promised size or as zeros. Raises EmbedderUnavailableError.

    A wrong number of vectors, a wrong size, another length than 1, or a value that is no number is such an error.
    """
    vectors = embedder.embed(texts, role)
    if len(vectors) != len(texts):
        raise EmbedderUnavailableError(f"{embedder.model} gave {len(vectors)} vectors for {len(texts)} texts; check the model")
    for vector in vectors:
        if len(vector) != embedder.dimensions:
            size = f"{len(vector)} dimensions instead of {embedder.dimensions}"
            raise EmbedderUnavailableError(f"{embedder.model} gave {size}; check the model, or build the index for it anew")
        length = math.sqrt(math.fsum(axis * axis for axis in vector))
        if length != 0 and not abs(length - 1) <= UNIT_WITHIN:
            raise EmbedderUnavailableError(f"{embedder.model} gave a vector of length {length:.3g} instead of 1; normalise it")
    return vectors


def vector_of(query: Query, embedder: Embedder) -> Vector:
    """Give the vector of a question by this model: the one it carries, else embedded, once a turn.

    Raises EmbedderUnavailableError.
    """
    if query.vector and query.model in {"", embedder.model}:
        return query.vector
    return query.vectors.of(embedder, query.text) if query.vectors else embedded(embedder, [query.text], "query")[0]


def focused(query: Query, embedder: Embedder) -> Query:
    """Give the query with the vectors of its focus by this model. Raises EmbedderUnavailableError."""
    if not query.focus:
        return query
    asked = (replace(query, text=text, vector=None) for text in query.focus)
    return replace(query, focused=tuple(tuple(vector_of(one, embedder)) for one in asked))


class WrappedEmbedder:
    """What stands around an embedder has its model and its dimensions."""

    def __init__(self, embedder: Embedder) -> None:
        self.model = embedder.model
        self.dimensions = embedder.dimensions
        self._embedder = embedder


class MaskingEmbedder(WrappedEmbedder):
    """Embeds what people ask without what says who they are; texts of a corpus are public and stay as they are."""

    def __init__(self, embedder: Embedder, mask: Callable[[str], str]) -> None:
        super().__init__(embedder)
        self._mask = mask

    def embed(self, texts: Sequence[str], role: Role) -> list[list[float]]:
        """Embed each text, in order. Raises EmbedderUnavailableError."""
        return self._embedder.embed([self._mask(text) for text in texts] if role == "query" else texts, role)


class AbsentEmbedder:
    """Stands for a model that cannot be had here, for a reason."""

    def __init__(self, model: str, dimensions: int, reason: str) -> None:
        self.model = model
        self.dimensions = dimensions
        self._reason = reason

    def embed(self, texts: Sequence[str], role: Role) -> list[list[float]]:
        """Raise EmbedderUnavailableError."""
        del texts, role
        raise EmbedderUnavailableError(self._reason)


class LenientEmbedder(WrappedEmbedder):
    """Gives zero vectors once the embedder is out: better a passage that is found by its words alone than an old one.

    `on_failure` is told once.
    """

    def __init__(self, embedder: Embedder, on_failure: Callable[[EmbedderUnavailableError], None]) -> None:
        super().__init__(embedder)
        self._on_failure = on_failure
        self._out = False

    def embed(self, texts: Sequence[str], role: Role) -> list[list[float]]:
        """Embed each text, in order, or none of them."""
        if not self._out:
            try:
                return self._embedder.embed(texts, role)
            except EmbedderUnavailableError as error:
                self._out = True
                self._on_failure(error)
        return [[0.0] * self.dimensions for _ in texts]


def digest_of(text: str, role: Role) -> str:
    """Name what was embedded."""
    return hashlib.sha256(f"{role}\n{text}".encode("utf-8", "replace")).hexdigest()


class RememberingEmbedder(WrappedEmbedder):
    """Gives known vectors at once and asks the embedder for the others only."""

    def __init__(self, embedder: Embedder, known: Mapping[str, NDArray[Any]]) -> None:
        super().__init__(embedder)
        self._known = known

    def embed(self, texts: Sequence[str], role: Role) -> list[list[float]]:
        """Embed each text, in order. Raises EmbedderUnavailableError."""
        digests = [digest_of(text, role) for text in texts]
        fresh = [text for text, digest in zip(texts, digests, strict=True) if digest not in self._known]
        made = iter(self._embedder.embed(fresh, role) if fresh else [])
        return [_unit(self._known[digest]) if digest in self._known else next(made) for digest in digests]


def _unit(vector: NDArray[Any]) -> list[float]:
    exact = vector.astype(np.float64)
    length = float(np.linalg.norm(exact)) or 1.0  # a text with nothing to embed has the zero vector, and keeps it
    return (exact / length).tolist()  # type: ignore[no-any-return]  # NumPy's stubs say Any


def read_vectors(file: Path, model: str) -> dict[str, NDArray[Any]]:
    """Read the vectors of a model by digest; none when the file is missing, damaged or of another model."""
    try:
        stored = read_arrays(file)
        known = dict(zip(stored["digests"].tolist(), stored["vectors"], strict=True))
        return known if str(stored["model"]) == model else {}
    except (OSError, ValueError, KeyError, TypeError):
        return {}


def write_vectors(file: Path, model: str, vectors: Mapping[str, Sequence[float]]) -> None:
    """Write vectors in half precision, which changes a cosine by less than .0005."""
    ordered = sorted(vectors)
    np.savez_compressed(
        file,
        model=np.array(model),
        digests=np.array(ordered),
        vectors=np.array([vectors[digest] for digest in ordered], dtype=np.float16),
    )
