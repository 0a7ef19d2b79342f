"""What a run of the bench works on: documents, questions with their answers, and which documents answer them."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

# The answer type whose answers are one of a few words, such as yes and no, and are judged by accuracy.
LABEL: Final = "label"


class BenchDataError(Exception):
    """A data set cannot be used. The message names each place, what is wrong there, and the remedy, one a line."""


@dataclass(frozen=True, slots=True)
class BenchDocument:
    """A document that may be found. `parent` is the id of the document that it is a piece of, empty when there is none."""

    id: str
    title: str
    text: str
    parent: str = ""


@dataclass(frozen=True, slots=True)
class BenchQuestion:
    """A question, its right answer (empty: unknown), and the ids of all documents that are needed to answer it.

    `answer_type` "label" marks an answer that is one of a few words; `question_type` and `level` group the reports.
    """

    id: str
    text: str
    answer: str = ""
    answer_type: str = ""
    question_type: str = ""
    level: str = ""
    gold: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class BenchData:
    """Documents and questions, in the order in which they are used, after shuffling and cutting.

    `digest` is of everything in it, so that two runs are known to be over the same data. `origin` has what is known of where
    it comes from and how it was cut, for the report; `relative_only` marks a cut that makes absolute figures too good.
    """

    name: str
    documents: tuple[BenchDocument, ...]
    questions: tuple[BenchQuestion, ...]
    digest: str
    origin: Mapping[str, str | int | bool] = field(default_factory=dict)
    relative_only: bool = False
