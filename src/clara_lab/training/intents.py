"""Training the model that tells what a question is about, on the typical questions and the vocabulary of data/.

    python -m clara_lab.training.intents

Writes data/intent.npz, and data/question_vectors.npz with the vectors of the questions: only those that are new are embedded.
Needs scikit-learn (in requirements-dev.lock).
"""

import hashlib
import sys
from collections import Counter
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from statistics import fmean
from typing import Any

import click
import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix, hstack
from sklearn.linear_model import LogisticRegression

from clara.container import Container
from clara.knowledge.catalogue import examples_of, read_catalogue
from clara.knowledge.questions import OUTSIDE, TypicalQuestion, digest_of
from clara.retrieval.arrays import write_trained
from clara.retrieval.intent import BUCKETS, EMBEDDING_WEIGHT, grams, weighed
from clara.retrieval.ports import Embedder
from clara.settings import load_settings, resources

Floats = NDArray[np.float32]
# Inverse strength of the penalty: 1 beat .3 and 3 on the development questions (and by far 10 and 50).
STRENGTH = 1.0
# The same for the passages of a document, which have 23 examples each. Right passage first among those of the right document,
# one question of each held out: .863 with 1, .872 with 3, .878 with 10; with character n-grams beside the embedding .79-.86.
PASSAGE_STRENGTH = 3.0
# What a question that tells facts apart counts in deciding on the section, beside those that were written for it: with 0,
# sections right were .863 on development questions, with 0.2 .884. The document is decided without: refusals became worse.
INSIDE_SHARE = 0.2
# How often a question counts in deciding on the document, which loosens the penalty: with 1 and 4, of 815 development questions
# .921 and .943 find theirs. Those of a document with few questions count more, by this power of the mean number over theirs;
# what is outside does not (with a quarter of its weight, .956 instead of .966 are told rightly to be inside or outside).
COUNTED = 4.0
EVENNESS = 0.5
STEP = 64
CARRIED = "question_vectors.npz"
# The largest number of a byte with a sign: rounding to it moves a vector by less than .0002 in cosine.
MOST = 127


def embedded(texts: Sequence[str], embedder: Embedder, carried: Path) -> Floats:
    """Give the vectors of questions. The release carries those of its own, a byte a number; others are embedded and added."""
    names = [hashlib.sha256(text.encode()).hexdigest()[:16] for text in texts]
    known: dict[str, tuple[NDArray[np.int8], np.float32]] = {}
    if carried.is_file():
        with np.load(carried, allow_pickle=False) as stored:
            known = dict(zip(stored["names"].tolist(), zip(stored["vectors"], stored["scales"], strict=True), strict=True))
    fresh = [(name, text) for name, text in dict(zip(names, texts, strict=True)).items() if name not in known]
    fresh.sort(key=lambda entry: len(entry[1]))
    with click.progressbar(length=len(fresh), label="embedding", file=sys.stderr) as bar:
        for start in range(0, len(fresh), STEP):
            batch = fresh[start : start + STEP]
            vectors = np.array(embedder.embed([text for _, text in batch], "query"), dtype=np.float32)
            scales = np.abs(vectors).max(1) / np.float32(MOST)
            rounded = np.rint(vectors / scales[:, None]).astype(np.int8)
            known.update(zip((name for name, _ in batch), zip(rounded, scales, strict=True), strict=True))
            bar.update(len(batch))
    if fresh:
        kept = sorted(known)
        rows, scales_of = zip(*(known[name] for name in kept), strict=True)
        np.savez_compressed(carried, names=np.array(kept), vectors=np.array(rows), scales=np.array(scales_of))
    return np.array([known[name][0] * known[name][1] for name in names], dtype=np.float32)


def rarity_of(texts: Sequence[str], buckets: int = BUCKETS, *, marked: bool = False) -> Floats:
    """Give the logarithm of how rare each bucket is among the texts; for `marked` see `grams`."""
    spread = np.zeros(buckets, dtype=np.float32)
    for text in texts:
        spread[list(grams(text, buckets, marked=marked))] += 1
    return np.log(len(texts) / np.maximum(spread, 1)).astype(np.float32)


def rows_of(texts: Sequence[str], rarity: Floats, *, marked: bool = False) -> csr_matrix:
    """Give the n-gram features, one row a text and one column a bucket of `rarity`."""
    counted = [weighed(grams(text, len(rarity), marked=marked), rarity) for text in texts]
    ends = np.cumsum([0, *(len(buckets) for buckets, _ in counted)])
    values, buckets = np.concatenate([row for _, row in counted]), np.concatenate([row for row, _ in counted])
    return csr_matrix((values, buckets, ends), shape=(len(texts), len(rarity)))


def fit(features: csr_matrix, labels: Sequence[str], counts: Floats | None = None) -> tuple[list[str], Floats, Floats]:
    """Fit a multinomial logistic model; give its classes, its weights (one column a class) and biases.

    `counts` says how often each example counts, once by default: all of them more often loosens the penalty.
    """
    model = LogisticRegression(C=STRENGTH, max_iter=200).fit(features, labels, sample_weight=counts)
    weights, bias = model.coef_.T.astype(np.float32), model.intercept_.astype(np.float32)
    if weights.shape[1] == 1:  # two classes share one column; each gets half of it
        weights, bias = np.hstack([-weights / 2, weights / 2]), np.hstack([-bias / 2, bias / 2])
    return model.classes_.tolist(), weights, bias


def counted_evenly(labels: Sequence[str]) -> Floats:
    """Give how often each question counts in deciding on the document that its label names."""
    numbers = Counter(labels)
    mean = fmean([number for name, number in numbers.items() if name != OUTSIDE] or [1])
    times = {name: 1.0 if name == OUTSIDE else (mean / number) ** EVENNESS for name, number in numbers.items()}
    return np.array([COUNTED * times[label] for label in labels], dtype=np.float32)


def within_documents(
    examples: Sequence[TypicalQuestion], part: Callable[[TypicalQuestion], str], centred: Floats, counts: Floats
) -> tuple[list[tuple[str, str]], Floats, Floats]:
    """Fit the parts of each document on its own, by the embedding alone; give (document, part), weights and biases.

    `part` names the part of an example, or nothing when it tells of none.
    """
    places = [place for place, example in enumerate(examples) if example.procedure != OUTSIDE and part(example)]
    pairs: list[tuple[str, str]] = []
    columns: list[Floats] = []
    biases: list[Floats] = []
    for document in sorted({examples[place].procedure for place in places}):
        own = [place for place in places if examples[place].procedure == document]
        features = csr_matrix(centred[own] * np.float32(EMBEDDING_WEIGHT))
        classes, weights, bias = fit(features, [part(examples[place]) for place in own], counts[own])
        pairs += [(document, name) for name in classes]
        columns.append(weights)
        biases.append(bias)
    return pairs, np.concatenate(columns, axis=1), np.concatenate(biases)


def train(examples: Sequence[TypicalQuestion], vectors: Floats, embedder: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """Train the decisions; give the arrays to store and what is to be known about them."""
    general = [place for place, example in enumerate(examples) if not example.inside]
    rarity, mean = rarity_of([examples[place].text for place in general]), vectors[general].mean(0)
    counted = rows_of([example.text for example in examples], rarity)
    full = hstack([csr_matrix((vectors - mean) * np.float32(EMBEDDING_WEIGHT)), counted]).tocsr()
    shares = np.array([INSIDE_SHARE if example.inside else 1.0 for example in examples], dtype=np.float32)
    arrays: dict[str, Any] = {"rarity": rarity, "mean": mean}
    classes: dict[str, Any] = {}
    sectioned = [place for place, example in enumerate(examples) if example.section and example.procedure != OUTSIDE]
    named = [examples[place].procedure for place in general]
    decisions = {
        "documents": (general, named, counted_evenly(named)),
        "sections": (sectioned, [examples[place].section for place in sectioned], shares[sectioned]),
    }
    for name, (places, labels, counts) in decisions.items():
        for kind, features in (("full", full), ("grams", counted)):
            click.echo(f"fitting {name} ({kind}) on {len(places)} examples ...", err=True)
            classes[name], weights, arrays[f"{name}_{kind}_bias"] = fit(features[places], labels, counts)
            cut = weights.shape[0] - BUCKETS
            arrays[f"{name}_{kind}_buckets"] = weights[cut:]
            if cut:
                arrays[f"{name}_{kind}_embedding"] = weights[:cut]
    ones = np.ones(len(examples), dtype=np.float32)
    parts = {
        "within": within_documents(examples, lambda example: example.section, vectors - mean, shares),
        "passages": within_documents(examples, lambda example: example.fact, vectors - mean, PASSAGE_STRENGTH * ones),
    }
    for name, (classes[name], arrays[f"{name}_embedding"], arrays[f"{name}_bias"]) in parts.items():
        click.echo(f"{name}: {len(classes[name])} parts", err=True)
    about = {
        "classes": classes,
        "section_of": {example.fact: example.section for example in examples if example.fact},
        "embedder": embedder,
        "examples": len(examples),
        "trained_on": digest_of(examples),
        "trained_at": datetime.now(UTC).date().isoformat(),
    }
    return arrays, about


def main() -> None:
    """Train on data/ and write data/intent.npz."""
    container = Container(load_settings(), None)
    examples = examples_of(read_catalogue(resources() / "data", with_questions=True))
    embedder = container.embedder
    vectors = embedded([example.text for example in examples], embedder, resources() / "data" / CARRIED)
    arrays, about = train(examples, vectors, embedder.model)
    target = resources() / "data" / "intent.npz"
    write_trained(target, arrays, about)
    click.echo(f"{target.name}: {len(examples)} examples, {target.stat().st_size / 1e6:.1f} MB")


if __name__ == "__main__":
    main()
