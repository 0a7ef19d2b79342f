"""Training a model that tells a text's class, with its embedding and without, and saying what it was trained on."""

import hashlib
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

import click
import numpy as np
from scipy.sparse import csr_matrix, hstack

from clara.jobs.training import Floats, fit, rarity_of, rows_of
from clara.retrieval.intent import BUCKETS, EMBEDDING_WEIGHT


def digest_of(examples: Sequence[tuple[str, str]]) -> str:
    """Digest what a model learns from, (text, class) each, so that a stale model is noticed."""
    return hashlib.sha256("\n".join(sorted(f"{kind}\t{text}" for text, kind in examples)).encode()).hexdigest()


def train(examples: Sequence[tuple[str, str]], vectors: Floats, embedder: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """Train with and without the embedding; give the arrays to store and what is to be known about them."""
    texts, labels = [text for text, _ in examples], [kind for _, kind in examples]
    rarity, mean = rarity_of(texts), vectors.mean(0)
    counted = rows_of(texts, rarity)
    full = hstack([csr_matrix((vectors - mean) * np.float32(EMBEDDING_WEIGHT)), counted]).tocsr()
    arrays: dict[str, Any] = {"rarity": rarity, "mean": mean}
    classes: list[str] = []
    for name, features in (("full", full), ("grams", counted)):
        click.echo(f"fitting kinds ({name}) on {len(texts)} examples ...", err=True)
        classes, weights, arrays[f"{name}_bias"] = fit(features, labels)
        cut = weights.shape[0] - BUCKETS
        arrays[f"{name}_buckets"] = weights[cut:]
        if cut:
            arrays[f"{name}_embedding"] = weights[:cut]
    about = {
        "classes": classes,
        "embedder": embedder,
        "examples": len(texts),
        "trained_on": digest_of(examples),
        "trained_at": datetime.now(UTC).date().isoformat(),
    }
    return arrays, about
