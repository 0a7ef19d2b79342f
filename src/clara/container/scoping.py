"""Building what tells the scope: phrases and a model from data/, and the embedder, asked only where nothing was found."""

from collections.abc import Callable
from pathlib import Path
from zipfile import BadZipFile

from clara.answering.safety.abuse import read_abuse
from clara.answering.safety.danger import Danger, read_danger
from clara.answering.safety.scope import Scope
from clara.data_files import DataError, Fault
from clara.retrieval.classifier import EmbeddingClassifier, TextClassifier, read_classifier
from clara.retrieval.ports import Embedder
from clara.retrieval.vocabulary import read_vocabulary
from clara.settings import resources


def build_scope(embedder: Callable[[], Embedder]) -> Scope:
    """Read data/scope and join it to the embedder. Raises DataError, VocabularyError."""
    data = resources() / "data"
    vocabulary = read_vocabulary(data / "vocabulary" / "tramites.json")
    topics = classifier(data, "scope/topics.npz", "topics")
    return Scope(read_abuse(data), EmbeddingClassifier(topics, embedder).shares, vocabulary.content)


def build_danger(data: Path) -> Danger:
    """Read what is said of danger, with its model. Raises DataError."""
    name = "danger/model.npz"
    try:
        return read_danger(data, classifier(data, name, "danger"))
    except (KeyError, TypeError) as error:
        remedy = f"no model of danger ({error!r}); restore it from the repository, or run `python -m clara_lab.training.danger`"
        raise DataError([Fault(name, "file", remedy)]) from error


def classifier(folder: Path, name: str, matter: str) -> TextClassifier:
    """Read the trained model `name` of the data folder, made by `python -m clara_lab.training.{matter}`. Raises DataError."""
    try:
        return read_classifier(folder / name)
    except (OSError, ValueError, KeyError, BadZipFile) as error:
        remedy = f"no usable model ({error}); restore it from the repository, or run `python -m clara_lab.training.{matter}`"
        raise DataError([Fault(name, "file", remedy)]) from error
