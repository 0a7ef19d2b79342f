"""Training the model that tells what an unanswered question is about, on the typical questions of data/.

    python -m clara.jobs.training_topics

Writes data/scope/topics.npz. Needs scikit-learn (in requirements-dev.lock); quick after `python -m clara.jobs.training`,
which leaves the embeddings.
"""

import hashlib
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import click
import numpy as np
from scipy.sparse import csr_matrix, hstack

from clara.bootstrap import Services
from clara.conversation.safety.topics import HELD, PUBLIC, write_topics
from clara.jobs.training import Floats, embedded, fit, rarity_of, rows_of
from clara.knowledge.catalogue import read_catalogue
from clara.knowledge.faults import DataError, read_document, read_schema
from clara.knowledge.questions import OUTSIDE, TypicalQuestion
from clara.retrieval.intent import BUCKETS, EMBEDDING_WEIGHT
from clara.settings import load_settings, resources

# Of the questions that are held, every fourth: about as many as there are others, so that neither outweighs the other.
EVERY = 4


def read_kinds(folder: Path) -> tuple[dict[str, str], list[tuple[str, str]]]:
    """Read scope/kinds.json: the kind of each topic that has one, and more (text, kind). Raises DataError."""
    schema = read_schema(folder / "schema" / "scope_kinds.schema.json")
    document, faults = read_document(folder / "scope" / "kinds.json", "scope/kinds.json", schema)
    if document is None:
        raise DataError(faults)
    kinds = {topic: kind for kind, topics in document["topics"].items() for topic in topics}
    more = [(text, kind) for kind, spoken in document["examples"].items() for texts in spoken.values() for text in texts]
    return kinds, more


def labelled(
    questions: Sequence[TypicalQuestion], kinds: Mapping[str, str], more: Sequence[tuple[str, str]]
) -> list[tuple[str, str]]:
    """Give (text, kind) of each question to learn from, in a fixed order."""
    outside = [
        (question.text, kinds.get(question.id.split("/")[1], PUBLIC)) for question in questions if question.procedure == OUTSIDE
    ]
    held = [(question.text, HELD) for question in questions if question.procedure != OUTSIDE and not question.inside]
    return [*outside, *more, *held[::EVERY]]


def digest_of(examples: Sequence[tuple[str, str]]) -> str:
    """Digest what the model learns from, so that a stale model is noticed."""
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


def main() -> None:
    """Train on data/ and write data/scope/topics.npz."""
    services = Services(load_settings(), None)
    data = resources() / "data"
    examples = labelled(read_catalogue(data, with_questions=True).questions, *read_kinds(data))
    embedder = services.embedder.get()
    vectors = embedded([text for text, _ in examples], embedder, services.settings.home / "typical-questions.npz")
    arrays, about = train(examples, vectors, embedder.model)
    target = data / "scope" / "topics.npz"
    write_topics(target, arrays, about)
    click.echo(f"{target.name}: {len(examples)} examples, {target.stat().st_size / 1e6:.2f} MB")


if __name__ == "__main__":
    main()
