"""Vectors that were computed before: a release carries those of its own passages, so that a first start takes seconds."""

import hashlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from clara.retrieval.arrays import read_arrays
from clara.retrieval.ports import Embedder, Role


def digest_of(text: str, role: Role) -> str:
    """Name what was embedded."""
    return hashlib.sha256(f"{role}\n{text}".encode("utf-8", "replace")).hexdigest()


class RememberingEmbedder:
    """Gives known vectors at once and asks the embedder for the others only."""

    def __init__(self, embedder: Embedder, known: Mapping[str, NDArray[Any]]) -> None:
        self.model = embedder.model
        self.dimensions = embedder.dimensions
        self._embedder = embedder
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
