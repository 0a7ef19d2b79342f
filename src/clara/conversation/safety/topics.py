"""Telling what an unanswered question is about: everyday things, health, another country, or Spanish matters not held here.

A linear model over the question's embedding and its character n-grams, trained on the typical questions by
clara.jobs.training_topics. It only names a refusal: it never takes an answer away.
"""

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from clara.retrieval.arrays import read_arrays
from clara.retrieval.intent import EMBEDDING_WEIGHT, Linear, grams, weighed
from clara.retrieval.ports import Vector
from clara.retrieval.turn_vectors import TurnVectors

Matrix = NDArray[np.float32]
# The class of questions that the catalogue holds, and of those about Spanish public matters which it does not hold.
HELD: Final = "held"
PUBLIC: Final = "public"

# The shares (0..1) of each kind for a text, of which the turn may have the vector.
Recognise = Callable[[str, TurnVectors], Mapping[str, float]]


class TopicModel:
    """The trained model, read from its file."""

    def __init__(self, arrays: Mapping[str, Any], about: Mapping[str, Any]) -> None:
        self.about = about
        self._rarity: Matrix = arrays["rarity"]
        self._mean: Matrix = arrays["mean"]
        classes = tuple(about["classes"])
        self._full = Linear(classes, arrays["full_bias"], arrays["full_buckets"], arrays["full_embedding"])
        self._grams = Linear(classes, arrays["grams_bias"], arrays["grams_buckets"])

    @property
    def embedder(self) -> str:
        """The embedding model whose vectors it was trained on."""
        return str(self.about["embedder"])

    def shares(self, text: str, vector: Vector | None) -> dict[str, float]:
        """Give the probability of each kind; without a vector by the letters alone."""
        counted = weighed(grams(text), self._rarity)
        if vector is None:
            return self._grams.probabilities(counted, None)
        centred = (np.asarray(vector, dtype=np.float32) - self._mean) * np.float32(EMBEDDING_WEIGHT)
        return self._full.probabilities(counted, centred)


def read_topics(file: Path) -> TopicModel:
    """Read the trained model. Raises OSError or ValueError when the file is missing or damaged."""
    arrays = read_arrays(file)
    try:
        return TopicModel(arrays, json.loads(str(arrays.pop("about"))))
    except (KeyError, TypeError) as error:
        raise ValueError(f"{file.name} is no model of topics: {error!r}") from error


def write_topics(file: Path, arrays: Mapping[str, Any], about: Mapping[str, Any]) -> None:
    """Write a trained model: half precision, compressed; `about` says what it was trained on."""
    stored = {
        name: np.asarray(values, dtype=np.float16 if "buckets" in name else np.float32) for name, values in arrays.items()
    }
    stored["about"] = np.array(json.dumps(about, ensure_ascii=False, sort_keys=True))
    np.savez_compressed(file, allow_pickle=False, **stored)
