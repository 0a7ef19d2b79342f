"""Asking an embedder, and not believing it: a provider that changed its model must not poison an index."""

import math
from collections.abc import Sequence

from clara.retrieval.ports import Embedder, EmbedderUnavailableError, Role

# Half precision keeps the length of a unit vector to .0005; a provider's shortened vectors are off by a third.
UNIT_WITHIN = 0.01


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
