"""Training a model that tells a text's class, with its embedding and without, and saying what it was trained on."""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import click
import numpy as np
from scipy.sparse import csr_matrix, hstack

from clara.container import Container
from clara.retrieval.arrays import write_trained
from clara.retrieval.intent import EMBEDDING_WEIGHT
from clara.settings import load_settings
from clara_lab.training.intents import Floats, embedded, fit, rarity_of, rows_of


@dataclass(frozen=True, slots=True)
class Features:
    """What the two models see of each text: `by_name` has "full" (vector and n-grams) and "grams" (n-grams alone).

    `embedding` and `letters` are how many times greater the two parts are than the classifier sees them.
    """

    rarity: Floats
    mean: Floats
    by_name: Mapping[str, csr_matrix]
    embedding: float = 1.0
    letters: float = 1.0


def digest_of(examples: Sequence[tuple[str, str]]) -> str:
    """Digest what a model learns from, (text, class) each, so that a stale model is noticed."""
    return hashlib.sha256("\n".join(sorted(f"{kind}\t{text}" for text, kind in examples)).encode()).hexdigest()


def features_of(texts: Sequence[str], vectors: Floats, embedding: float = 1.0, letters: float = 1.0) -> Features:
    """Give what the models see of texts with these vectors, one row each.

    Above 1, `embedding` and `letters` loosen the penalty on the weights of their part; below 1 they tighten it.
    """
    rarity, mean = rarity_of(texts), vectors.mean(0)
    counted = rows_of(texts, rarity) * np.float32(letters)
    centred = (vectors - mean) * np.float32(EMBEDDING_WEIGHT * embedding)
    return Features(
        rarity, mean, {"full": hstack([csr_matrix(centred), counted]).tocsr(), "grams": counted}, embedding, letters
    )


def by_letters_of(texts: Sequence[str], buckets: int, *, marked: bool) -> Features:
    """Give what a model sees that has no embedding; for `marked` see `grams`."""
    rarity = rarity_of(texts, buckets, marked=marked)
    return Features(rarity, np.zeros(0, dtype=np.float32), {"grams": rows_of(texts, rarity, marked=marked)})


def train(
    examples: Sequence[tuple[str, str]], features: Features, embedder: str, counts: Floats | None = None
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Train on each kind of features; give the arrays to store and what is to be known about them. For `counts` see `fit`.

    `embedder` is empty where no features hold an embedding.
    """
    arrays: dict[str, Any] = {"rarity": features.rarity, "mean": features.mean}
    classes: list[str] = []
    for name, rows in features.by_name.items():
        click.echo(f"fitting kinds ({name}) on {len(examples)} examples ...", err=True)
        classes, weights, arrays[f"{name}_bias"] = fit(rows, [kind for _, kind in examples], counts)
        cut = weights.shape[0] - len(features.rarity)
        arrays[f"{name}_buckets"] = weights[cut:] * np.float32(features.letters)
        if cut:
            arrays[f"{name}_embedding"] = weights[:cut] * np.float32(features.embedding)
    about = {
        "classes": classes,
        "embedder": embedder,
        "examples": len(examples),
        "trained_on": digest_of(examples),
        "trained_at": datetime.now(UTC).date().isoformat(),
    }
    return arrays, about


def train_embedded(examples: Sequence[tuple[str, str]], *penalties: float) -> tuple[Features, dict[str, Any], dict[str, Any]]:
    """Embed (text, class) with the bundled model, remembering the vectors, and train; `penalties` are those of the features."""
    container = Container(load_settings(), None)
    embedder, texts = container.embedder, [text for text, _ in examples]
    features = features_of(texts, embedded(texts, embedder, container.settings.home / "typical-questions.npz"), *penalties)
    return features, *train(examples, features, embedder.model)


def write_model(target: Path, arrays: Mapping[str, Any], about: Mapping[str, Any]) -> None:
    """Write a model, and say how large it is."""
    write_trained(target, arrays, about)
    click.echo(f"{target.name}: {about['examples']} examples, {target.stat().st_size / 1e6:.2f} MB")
