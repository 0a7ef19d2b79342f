"""Tests of a classifier that knows no embedding."""

from pathlib import Path

import numpy as np

from clara.retrieval.arrays import write_trained
from clara.retrieval.classifier import TextClassifier, read_classifier
from clara.retrieval.intent import grams

BUCKETS = 64


def by_letters(folder: Path) -> TextClassifier:
    """Train nothing: "ñ" is Spanish, whatever else is not."""
    buckets = np.zeros((BUCKETS, 2), dtype=np.float32)
    buckets[list(grams("ñ", BUCKETS, marked=True) - grams("n", BUCKETS)), 0] = 9
    arrays = {
        "rarity": np.ones(BUCKETS, dtype=np.float32),
        "mean": np.zeros(0, dtype=np.float32),
        "grams_bias": np.zeros(2, dtype=np.float32),
        "grams_buckets": buckets,
    }
    write_trained(folder / "model.npz", arrays, {"classes": ["es", "pt"], "embedder": "", "marked": True})
    return read_classifier(folder / "model.npz")


def test_by_letters_alone(tmp_path: Path) -> None:
    """It judges by the letters and their marks, has as many buckets as were stored, and leaves a vector aside."""
    model = by_letters(tmp_path)
    assert model.embedder == ""
    assert model.shares("ñ")["es"] > 0.9
    assert model.shares("n")["es"] < model.shares("ñ")["es"]
    assert model.shares("ñ", [1.0, 0.0]) == model.shares("ñ")
