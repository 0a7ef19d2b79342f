"""Training the model that tells what a question is about, on the typical questions and the vocabulary of data/.

    python -m clara.jobs.training

Writes data/intent.npz. Needs scikit-learn (in requirements-dev.lock) and some minutes, most of them for the embeddings.
"""

import sys
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import click
import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix, hstack
from sklearn.linear_model import LogisticRegression

from clara.bootstrap import Services
from clara.knowledge.catalogue import read_catalogue
from clara.knowledge.questions import OUTSIDE, TypicalQuestion
from clara.knowledge.training import digest_of, examples_of
from clara.retrieval.intent import BUCKETS, EMBEDDING_WEIGHT, grams, weighed, write_intent
from clara.retrieval.ports import Embedder
from clara.settings import load_settings, resources

Floats = NDArray[np.float32]
# Inverse strength of the penalty: 1 beat .3 and 3 on the development questions (and by far 10 and 50).
STRENGTH = 1.0
STEP = 64


def embedded(texts: Sequence[str], embedder: Embedder, memory: Path) -> Floats:
    """Embed texts as questions, remembering the vectors in a file, so that a second training is quick."""
    known: dict[str, Floats] = {}
    if memory.is_file():
        with np.load(memory, allow_pickle=False) as stored:
            known = dict(zip(stored["texts"].tolist(), stored["vectors"], strict=True))
    fresh = sorted(set(texts) - known.keys(), key=len)
    with click.progressbar(length=len(fresh), label="embedding", file=sys.stderr) as bar:
        for start in range(0, len(fresh), STEP):
            batch = fresh[start : start + STEP]
            known.update(zip(batch, np.array(embedder.embed(batch, "query"), dtype=np.float32), strict=True))
            bar.update(len(batch))
    if fresh:
        memory.parent.mkdir(parents=True, exist_ok=True)
        np.savez(memory, texts=np.array(list(known)), vectors=np.array(list(known.values())))
    return np.array([known[text] for text in texts], dtype=np.float32)


def rarity_of(texts: Sequence[str]) -> Floats:
    """Give the logarithm of how rare each bucket is among the texts."""
    spread = np.zeros(BUCKETS, dtype=np.float32)
    for text in texts:
        spread[list(grams(text))] += 1
    return np.log(len(texts) / np.maximum(spread, 1)).astype(np.float32)


def rows_of(texts: Sequence[str], rarity: Floats) -> csr_matrix:
    """Give the n-gram features, one row a text."""
    counted = [weighed(grams(text), rarity) for text in texts]
    ends = np.cumsum([0, *(len(buckets) for buckets, _ in counted)])
    values, buckets = np.concatenate([row for _, row in counted]), np.concatenate([row for row, _ in counted])
    return csr_matrix((values, buckets, ends), shape=(len(texts), BUCKETS))


def fit(features: csr_matrix, labels: Sequence[str]) -> tuple[list[str], Floats, Floats]:
    """Fit a multinomial logistic model; give its classes, its weights (one column a class) and biases."""
    model = LogisticRegression(C=STRENGTH, max_iter=200).fit(features, labels)
    return model.classes_.tolist(), model.coef_.T.astype(np.float32), model.intercept_.astype(np.float32)


def within_documents(
    examples: Sequence[TypicalQuestion], places: Sequence[int], centred: Floats
) -> tuple[list[tuple[str, str]], Floats, Floats]:
    """Fit the sections of each document on its own, by the embedding alone; give (document, section), weights and biases."""
    pairs: list[tuple[str, str]] = []
    columns: list[Floats] = []
    biases: list[Floats] = []
    for document in sorted({examples[place].procedure for place in places}):
        own = [place for place in places if examples[place].procedure == document]
        features = csr_matrix(centred[own] * np.float32(EMBEDDING_WEIGHT))
        classes, weights, bias = fit(features, [examples[place].section for place in own])
        pairs += [(document, section) for section in classes]
        columns.append(weights)
        biases.append(bias)
    return pairs, np.concatenate(columns, axis=1), np.concatenate(biases)


def train(examples: Sequence[TypicalQuestion], vectors: Floats, embedder: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """Train the decisions; give the arrays to store and what is to be known about them."""
    texts = [example.text for example in examples]
    rarity, mean = rarity_of(texts), vectors.mean(0)
    counted = rows_of(texts, rarity)
    full = hstack([csr_matrix((vectors - mean) * np.float32(EMBEDDING_WEIGHT)), counted]).tocsr()
    arrays: dict[str, Any] = {"rarity": rarity, "mean": mean}
    classes: dict[str, list[str]] = {}
    sectioned = [place for place, example in enumerate(examples) if example.section and example.procedure != OUTSIDE]
    decisions = {
        "documents": (list(range(len(examples))), [example.procedure for example in examples]),
        "sections": (sectioned, [examples[place].section for place in sectioned]),
    }
    for name, (places, labels) in decisions.items():
        for kind, features in (("full", full), ("grams", counted)):
            click.echo(f"fitting {name} ({kind}) on {len(places)} examples ...", err=True)
            classes[name], weights, arrays[f"{name}_{kind}_bias"] = fit(features[places], labels)
            cut = weights.shape[0] - BUCKETS
            arrays[f"{name}_{kind}_buckets"] = weights[cut:]
            if cut:
                arrays[f"{name}_{kind}_embedding"] = weights[:cut]
    pairs, arrays["within_embedding"], arrays["within_bias"] = within_documents(examples, sectioned, vectors - mean)
    about = {
        "classes": {**classes, "within": pairs},
        "embedder": embedder,
        "examples": len(examples),
        "trained_on": digest_of(examples),
        "trained_at": datetime.now(UTC).date().isoformat(),
    }
    return arrays, about


def main() -> None:
    """Train on data/ and write data/intent.npz."""
    services = Services(load_settings(), None)
    examples = examples_of(read_catalogue(resources() / "data", with_questions=True))
    embedder = services.embedder.get()
    vectors = embedded([example.text for example in examples], embedder, services.settings.home / "typical-questions.npz")
    arrays, about = train(examples, vectors, embedder.model)
    target = resources() / "data" / "intent.npz"
    write_intent(target, arrays, about)
    click.echo(f"{target.name}: {len(examples)} examples, {target.stat().st_size / 1e6:.1f} MB")


if __name__ == "__main__":
    main()
