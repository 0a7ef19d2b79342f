"""Asking an embedder, and not believing it: a provider that changed its model must not poison an index."""

import math
from collections.abc import Callable, Sequence

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


class MaskingEmbedder:
    """Embeds what people ask without what says who they are; texts of a corpus are public and stay as they are."""

    def __init__(self, embedder: Embedder, mask: Callable[[str], str]) -> None:
        self.model = embedder.model
        self.dimensions = embedder.dimensions
        self._embedder = embedder
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


class LenientEmbedder:
    """Gives zero vectors once the embedder is out: better a passage that is found by its words alone than an old one.

    `on_failure` is told once.
    """

    def __init__(self, embedder: Embedder, on_failure: Callable[[EmbedderUnavailableError], None]) -> None:
        self.model = embedder.model
        self.dimensions = embedder.dimensions
        self._embedder = embedder
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
