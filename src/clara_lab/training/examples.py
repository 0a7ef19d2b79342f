"""Examples by many hands, from which small decisions are learned, and judging them by models that did not see their author."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import click
import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import GroupKFold

from clara.answering.texts import read_texts
from clara.data_files import TEXT, Fields, one_of, read_lines
from clara.knowledge.catalogue import read_catalogue
from clara.knowledge.questions import TypicalQuestion
from clara.language.packs import read_languages
from clara.retrieval.classifier import NONE
from clara.settings import resources
from clara_lab.training.classifier import Features
from clara_lab.training.intents import fit

FIELDS: Final[Fields] = {
    "kinds": TEXT,
    "manner": TEXT,
    "scenario": TEXT,
    "text": TEXT,
}
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
    return [_example(row, file.stem) for file in sorted(folder.glob("*.jsonl")) for row in read_lines(file, fields)]


def _example(row: Mapping[str, Any], author: str) -> LabelledExample:
    return LabelledExample(row["text"], tuple(row["kinds"].split()), row["language"], row["manner"], row["scenario"], author)


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
