"""Training the model that hears danger, on the messages of data/danger/examples and a share of the typical questions.

    python -m clara_lab.training.danger [--validate]

With --validate prints also what is heard of scenarios and of languages that the model did not know. Writes
data/danger/model.npz with the thresholds of its levels. Needs scikit-learn (in requirements-dev.lock) and some minutes, most of
them for the embeddings, which are remembered.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from random import Random
from string import ascii_lowercase
from typing import Any, Final

import click
import numpy as np
from numpy.typing import NDArray

from clara.answering.safety.danger import read_said
from clara.knowledge.questions import TypicalQuestion
from clara.language.tokens import words
from clara.retrieval.classifier import NONE
from clara.settings import resources
from clara_lab.training import classifier

# Of the examples of wishes to be forgotten, every fourth is one of no danger.
EVERY_WISH: Final = 4
# So many texts of letters at random. Of 3,000 others 64 were likely danger by the letters without them.
RANDOM: Final = 300
SEED: Final = 7
# Questions of this procedure are asked by people in danger.
DANGEROUS: Final = "violencia_genero_urgencias"
# How loose the penalty on the weights of the embedding and of the letters is. Of 390 dangers by three authors the right help
# came first in .933 with these and in .918 with the classifier's own, at the same share of near misses (.061 of 330).
PENALTIES: Final = (0.707, 1.414)
READINGS: Final = {"full": "with_vector", "grams": "by_letters"}
# Of messages that are no danger and of ordinary questions, the shares that may reach each level: the greater threshold counts.
MISTAKEN: Final[Mapping[str, tuple[float, float]]] = {"hint": (0.20, 0.06), "likely": (0.137, 0.05), "sure": (0.025, 0.003)}


def examples_of(folder: Path) -> list[classifier.LabelledExample]:
    """Give everything the model learns from: messages of many hands, wishes to be forgotten, and questions without danger.

    Without the wishes, "erase everything you have on me" was taken for a goodbye; with all of them, plain speech for calm.
    """
    sure, alone, _ = read_said(folder)

    def dangerous(one: TypicalQuestion) -> bool:
        said = words(one.text)
        return one.procedure == DANGEROUS or bool(sure.spans(said)) or said in alone

    wishes = classifier.read_examples(folder / "rights" / "examples")[::EVERY_WISH]
    wishes = [
        replace(one, kinds=(), manner="", author=f"wishes {number % classifier.FOLDS}") for number, one in enumerate(wishes)
    ]
    return [
        *classifier.read_examples(folder / "danger" / "examples"),
        *wishes,
        *classifier.ordinary(folder, dangerous),
        *_typed_at_random(),
    ]


def _typed_at_random() -> Iterator[classifier.LabelledExample]:
    """Give what a cat on the keyboard writes, and a question with a code in it: seldom letters told of an emergency."""
    random = Random(SEED)  # noqa: S311  nothing secret
    for number in range(RANDOM):
        typed = "".join(random.choices(f"{ascii_lowercase}   ", k=random.randint(3, 30))).strip() or "x"
        yield classifier.LabelledExample(typed, (), "en", "", "typed at random", f"random {number % classifier.FOLDS}")


@click.command()
@click.option("--validate", is_flag=True, help="Judge by models that did not see a scenario, or a language, as well.")
def main(*, validate: bool) -> None:
    """Train on data/ and write data/danger/model.npz."""
    data = resources() / "data"
    examples = examples_of(data)
    features, arrays, about = classifier.train_embedded(classifier.labelled(examples), *PENALTIES)

    def judged(*grouping: Any) -> dict[str, NDArray[np.float64]]:  # noqa: ANN401  those of `judged_by_others`
        return {READINGS[name]: found for name, found in classifier.judged_by_others(examples, features, *grouping).items()}

    shares, none = judged(), about["classes"].index(NONE)
    for name, found in shares.items():
        levels = {level: classifier.least(examples, 1 - found[:, none], few) for level, few in MISTAKEN.items()}
        about.setdefault("thresholds", {})[name] = levels
    report("author", examples, shares, about)
    if validate:
        spoken = [one.language for one in examples]
        report("scenario", examples, judged([f"{one.author}/{one.scenario}" for one in examples]), about)
        report("language", examples, judged(spoken, len(set(spoken))), about)
    classifier.write_model(data / "danger" / "model.npz", arrays, about)


def report(
    group: str,
    examples: Sequence[classifier.LabelledExample],
    shares: Mapping[str, NDArray[np.float64]],
    about: Mapping[str, Any],
) -> None:
    """Print, for each reading, what is heard of messages whose author, scenario or language the model did not know."""
    none = about["classes"].index(NONE)
    told = np.array([bool(one.kinds) for one in examples])
    for name, found in shares.items():
        danger, levels = 1 - found[:, none], about["thresholds"][name]
        others = found.copy()
        others[:, none] = 0
        lead = [about["classes"][place] for place in others.argmax(1)]
        right = np.array([kind in one.kinds[:1] for kind, one in zip(lead, examples, strict=True)])
        heard = danger >= levels["likely"]
        click.echo(
            f"without its {group}, {name}: {levels}; heard {heard[told].mean():.3f}, right first "
            f"{(heard & right)[told].mean():.3f}, sure {(danger >= levels['sure'])[told].mean():.3f} of {told.sum()}; "
            f"of others {heard[~told].mean():.3f} likely, {(danger >= levels['sure'])[~told].mean():.3f} sure"
        )


if __name__ == "__main__":
    main()
