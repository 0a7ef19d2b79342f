"""Training the model that tells what an unanswered question is about, on the typical questions of data/.

    python -m clara_lab.training.topics

Writes data/scope/topics.npz. Needs scikit-learn (in requirements-dev.lock); quick after `python -m clara_lab.training.intents`,
which leaves the embeddings.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path

from clara.answering.safety.scope import HELD, PUBLIC
from clara.data_files import read_data
from clara.knowledge.catalogue import read_catalogue
from clara.knowledge.questions import OUTSIDE, TypicalQuestion
from clara.settings import resources
from clara_lab.training.classifier import train_embedded, write_model

# Of the questions that are held, every fourth: about as many as there are others, so that neither outweighs the other.
EVERY = 4


def read_kinds(folder: Path) -> tuple[dict[str, str], list[tuple[str, str]]]:
    """Read scope/kinds.json: the kind of each topic that has one, and more (text, kind). Raises DataError."""
    document = read_data(folder, "scope/kinds.json", "scope_kinds")
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


def main() -> None:
    """Train on data/ and write data/scope/topics.npz."""
    data = resources() / "data"
    _, arrays, about = train_embedded(labelled(read_catalogue(data, with_questions=True).questions, *read_kinds(data)))
    write_model(data / "scope" / "topics.npz", arrays, about)


if __name__ == "__main__":
    main()
