"""Building what tells the scope: phrases and a model from data/, and the embedder, asked only where nothing was found."""

from collections.abc import Callable, Mapping
from zipfile import BadZipFile

from clara.conversation.safety.abuse import read_abuse
from clara.conversation.safety.scope import Scope
from clara.conversation.safety.topics import TopicModel, read_topics
from clara.knowledge.faults import DataError, Fault
from clara.retrieval.ports import Embedder, EmbedderUnavailableError
from clara.retrieval.turn_vectors import TurnVectors
from clara.retrieval.vocabulary import read_vocabulary
from clara.settings import resources


def build_scope(embedder: Callable[[], Embedder]) -> Scope:
    """Read data/scope and join it to the embedder. Raises DataError, VocabularyError."""
    data = resources() / "data"
    vocabulary = read_vocabulary(data / "vocabulary" / "tramites.json")
    try:
        topics = read_topics(data / "scope" / "topics.npz")
    except (OSError, ValueError, KeyError, BadZipFile) as error:
        remedy = f"no usable model ({error}); restore it from the repository, or run `python -m clara.jobs.training_topics`"
        raise DataError([Fault("scope/topics.npz", "file", remedy)]) from error
    return Scope(read_abuse(data), lambda text, vectors: _shares(topics, embedder, text, vectors), vocabulary.content)


def _shares(topics: TopicModel, embedder: Callable[[], Embedder], text: str, vectors: TurnVectors) -> Mapping[str, float]:
    """Judge with the vector where the model knows the embedder's vectors and it works; else by the letters alone."""
    try:
        engine = embedder()
        vector = vectors.of(engine, text) if engine.model == topics.embedder else None
    except EmbedderUnavailableError:
        vector = None
    return topics.shares(text, vector)
