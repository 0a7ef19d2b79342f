"""Telling which of a few classes a text belongs to: a linear model over its embedding, if any, and its character n-grams.

What it tells of, and from which examples it learned, is data: one file for each matter, trained with
clara_lab.training.classifier.
"""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from clara.retrieval.arrays import read_trained
from clara.retrieval.intent import EMBEDDING_WEIGHT, Linear, grams, weighed
from clara.retrieval.ports import Embedder, EmbedderUnavailableError, Vector
from clara.retrieval.turn_vectors import TurnVectors

Matrix = NDArray[np.float32]
# The class of what belongs to none of the others.
NONE: Final = "none"
# The vector of a turn's text, none where there is none. It may be made for the turn.
VectorOf = Callable[[str, TurnVectors], Vector | None]


def by_letters(_text: str, _vectors: TurnVectors) -> Vector | None:
    """Have no vector."""
    return None


class TextClassifier:
    """The trained model, read from its file."""

    def __init__(self, arrays: Mapping[str, Any], about: Mapping[str, Any]) -> None:
        self.about = about
        self._rarity: Matrix = arrays["rarity"]
        self._mean: Matrix = arrays["mean"]
        classes = tuple(about["classes"])
        self._full = (
            Linear(classes, arrays["full_bias"], arrays["full_buckets"], arrays["full_embedding"])
            if about["embedder"]
            else None
        )
        self._grams = Linear(classes, arrays["grams_bias"], arrays["grams_buckets"])
        self._marked = bool(about.get("marked"))

    @property
    def embedder(self) -> str:
        """The embedding model whose vectors it was trained on, empty where it knows none."""
        return str(self.about["embedder"])

    def shares(self, text: str, vector: Vector | None = None) -> dict[str, float]:
        """Give the probability of each class; without a vector by the letters alone."""
        counted = weighed(grams(text, len(self._rarity), marked=self._marked), self._rarity)
        if vector is None or self._full is None:
            return self._grams.probabilities(counted, None)
        centred = (np.asarray(vector, dtype=np.float32) - self._mean) * np.float32(EMBEDDING_WEIGHT)
        return self._full.probabilities(counted, centred)


def vectors_for(model: TextClassifier, embedder: Callable[[], Embedder]) -> VectorOf:
    """Give what makes the turn's vector of a text: none where there is no embedder or the model knows another one's vectors."""

    def vector(text: str, vectors: TurnVectors) -> Vector | None:
        try:
            engine = embedder()
            return vectors.of(engine, text) if engine.model == model.embedder else None
        except EmbedderUnavailableError:
            return None

    return vector


def read_classifier(file: Path) -> TextClassifier:
    """Read the trained model. Raises OSError or ValueError when the file is missing or damaged."""
    return read_trained(file, TextClassifier)
