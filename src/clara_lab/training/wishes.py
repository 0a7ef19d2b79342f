"""Training the model that tells a wish to be forgotten, on the messages of data/rights/examples and typical questions.

    python -m clara_lab.training.wishes

Writes data/rights/model.npz. Needs scikit-learn (in requirements-dev.lock) and a minute; embeddings are remembered.
"""

from dataclasses import replace
from pathlib import Path
from typing import Final

import click

from clara.answering.privacy.wishes import Wish
from clara.settings import resources
from clara_lab.training import classifier

# Of messages that want something else forgotten, and of ordinary questions, the shares that may be asked about.
MISTAKEN: Final = (0.045, 0.002)
# Of the examples of danger, every sixth is one of no wish: stories, insults, orders, talk.
EVERY_OTHER: Final = 6


def examples_of(folder: Path) -> list[classifier.LabelledExample]:
    """Give everything the model learns from: wishes and their like, what people in danger and their like say, and questions."""
    others = [replace(one, kinds=()) for one in classifier.read_examples(folder / "danger" / "examples")[::EVERY_OTHER]]
    return [*classifier.read_examples(folder / "rights" / "examples"), *others, *classifier.ordinary(folder)]


def main() -> None:
    """Train on data/ and write data/rights/model.npz."""
    data = resources() / "data"
    examples = examples_of(data)
    features, arrays, about = classifier.train_embedded(classifier.labelled(examples))
    wanted = about["classes"].index(Wish.ERASE.value)
    shares = {name: found[:, wanted] for name, found in classifier.judged_by_others(examples, features).items()}
    about["asks_from"] = {name: classifier.least(examples, found, MISTAKEN) for name, found in shares.items()}
    for name, found in shares.items():
        told = [share >= about["asks_from"][name] for one, share in zip(examples, found, strict=True) if one.kinds]
        click.echo(
            f"{name}: from {about['asks_from'][name]}; asked about {sum(told)} of {len(told)} by authors it did not know"
        )
    classifier.write_model(data / "rights" / "model.npz", arrays, about)


if __name__ == "__main__":
    main()
