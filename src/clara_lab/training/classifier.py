"""Training a model that tells a text's class, with its embedding and without, and saying what it was trained on."""

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

import click
import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix, hstack
from sklearn.model_selection import GroupKFold

from clara.answering.texts import read_texts
from clara.container import Container
from clara.data_files import TEXT, Fields, one_of, read_lines, record
from clara.knowledge.catalogue import read_catalogue
from clara.knowledge.questions import TypicalQuestion
from clara.language.packs import read_languages
from clara.retrieval.arrays import write_trained
from clara.retrieval.classifier import NONE
from clara.retrieval.intent import EMBEDDING_WEIGHT
from clara.settings import load_settings, resources
from clara_lab.training.intents import CARRIED, Floats, embedded, fit, rarity_of, rows_of


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
    """Train on (text, class), with the vectors that the release carries; `penalties` are those of the features."""
    container = Container(load_settings(), None)
    embedder, texts = container.embedder, [text for text, _ in examples]
    features = features_of(texts, embedded(texts, embedder, resources() / "data" / CARRIED), *penalties)
    return features, *train(examples, features, embedder.model)


def write_model(target: Path, arrays: Mapping[str, Any], about: Mapping[str, Any]) -> None:
    """Write a model, and say how large it is."""
    write_trained(target, arrays, about)
    click.echo(f"{target.name}: {about['examples']} examples, {target.stat().st_size / 1e6:.2f} MB")


FIELDS: Final[Fields] = dict.fromkeys(("kinds", "manner", "scenario", "text"), TEXT)
# Of the typical questions, every 20th is an example of what is none: some 2,000 beside three times as many hard ones. With
# twice as many, plain speech by itself was taken for calm: .90 of strangers' dangers were heard instead of .95.
EVERY: Final = 20
# Examples of an author are judged by models that saw none of hers; this many models are fitted for that.
FOLDS: Final = 6


@dataclass(frozen=True, slots=True)
class LabelledExample:
    """A message, the classes it belongs to (none: no class), the first one first, and who wrote it in which manner.

    What is ordinary has no manner.
    """

    text: str
    kinds: tuple[str, ...]
    language: str
    manner: str
    scenario: str
    author: str

    @property
    def first(self) -> str:
        """The class that a model learns."""
        return self.kinds[0] if self.kinds else NONE


def read_examples(folder: Path) -> list[LabelledExample]:
    """Read <author>.jsonl of a folder, authors in order. Raises BatchError."""
    fields = {**FIELDS, "language": one_of(read_languages(resources() / "data"))}
    return [
        record(LabelledExample, {**row, "author": file.stem}, kinds=lambda said: tuple(said.split()))
        for file in sorted(folder.glob("*.jsonl"))
        for row in read_lines(file, fields)
    ]


def ordinary(folder: Path, left_out: Callable[[TypicalQuestion], bool] = lambda _question: False) -> list[LabelledExample]:
    """Give a share of the typical questions of the data folder as examples of none, by authors of their own.

    So are the commands of the same languages.
    """
    held = [one for one in read_catalogue(folder, with_questions=True).questions if not left_out(one)]
    said = {one.text: (one.language, one.id) for one in held[::EVERY]}
    asked = {language for language, _ in said.values()}
    for language, spoken in read_texts(folder).by_language.items():
        if language not in asked:
            continue
        said.update({text: (language, name) for name, texts in spoken.commands.items() for text in texts})
    shown = enumerate(said.items())
    return [
        LabelledExample(text, (), language, "", name, f"typical {number % FOLDS}") for number, (text, (language, name)) in shown
    ]


def labelled(examples: Sequence[LabelledExample]) -> list[tuple[str, str]]:
    """Give (text, class) of each example, in a fixed order."""
    return [(one.text, one.first) for one in examples]


def judged_by_others(
    examples: Sequence[LabelledExample], features: Features, groups: Sequence[str] = (), folds: int = FOLDS
) -> dict[str, NDArray[np.float64]]:
    """Give, with the vector and by letters, each example's probabilities by a model that saw nothing of its group: its author.

    One row an example, one column a class in the order of their names.
    """
    labels = np.array([one.first for one in examples])
    classes = sorted(set(labels))
    found = {name: np.zeros((len(examples), len(classes))) for name in features.by_name}
    parts = GroupKFold(folds).split(labels, groups=groups or [one.author for one in examples])
    for number, (seen, unseen) in enumerate(parts, 1):
        for name, matrix in features.by_name.items():
            click.echo(f"fold {number} of {folds} ({name}) ...", err=True)
            known, weights, bias = fit(matrix[seen], labels[seen])
            scores = matrix[unseen] @ weights + bias
            powers = np.exp(scores - scores.max(1, keepdims=True))
            found[name][np.ix_(unseen, [classes.index(one) for one in known])] = powers / powers.sum(1, keepdims=True)
    return found


def least(examples: Sequence[LabelledExample], shares: NDArray[np.float64], mistaken: tuple[float, float]) -> float:
    """Give the least probability that no more than these shares of hard examples of none, and of ordinary ones, reach."""
    hard = [share for one, share in zip(examples, shares, strict=True) if not one.kinds and one.manner]
    plain = [share for one, share in zip(examples, shares, strict=True) if not one.kinds and not one.manner]
    return round(float(max(np.quantile(part, 1 - few) for part, few in zip((hard, plain), mistaken, strict=True))), 4)
