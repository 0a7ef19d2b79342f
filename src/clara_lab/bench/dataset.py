"""What a run works on: documents, questions, which documents answer them; checked in one place, and cut."""

import hashlib
import json
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final, TypeVar

from clara.errors import Invalid

# The answer type whose answers are one of a few words, such as yes and no, and are judged by accuracy.
LABEL: Final = "label"


class BenchDataError(Invalid):
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


# Answers that are judged as labels where the source does not say of which type they are.
YES_OR_NO: Final = frozenset({"yes", "no"})
# So many places of the same fault are named; of the others the number.
NAMED_PLACES: Final = 5


@dataclass(frozen=True, slots=True)
class Judgement:
    """That a document answers a question (relevance above 0), or was looked at and does not. Grades are not kept."""

    question: str
    document: str
    relevance: float = 1.0


@dataclass(frozen=True, slots=True)
class Provenance:
    """What the source says of itself; `relative_only`: its corpus was built around its own answers, so figures are too good."""

    origin: Mapping[str, str | int | bool] = field(default_factory=dict)
    relative_only: bool = False


@dataclass(frozen=True, slots=True)
class DataFault:
    """What is wrong, where, and what to do. Faults with the same words are told as one, with their places."""

    place: str
    problem: str
    remedy: str


Kept = TypeVar("Kept", BenchDocument, BenchQuestion)

DataRow = BenchDocument | BenchQuestion | Judgement | Provenance | DataFault


def _refuse(name: str, faults: Iterable[DataFault]) -> None:
    """Raise BenchDataError with all faults, one kind a line; without any, do nothing."""
    places: dict[tuple[str, str], list[str]] = {}
    for fault in faults:
        places.setdefault((fault.problem, fault.remedy), []).append(fault.place)
    lines = []
    for (problem, remedy), found in places.items():
        more = f" and {len(found) - NAMED_PLACES} more" if len(found) > NAMED_PLACES else ""
        lines.append(f"- {problem}: {', '.join(found[:NAMED_PLACES])}{more}; {remedy}")
    if lines:
        raise BenchDataError("\n".join([f"data set {name} cannot be used:", *lines]))


def assemble(name: str, rows: Iterable[DataRow]) -> BenchData:
    """Make data of rows in any order, however they were read. Raises BenchDataError with all faults, one kind a line.

    Answers and texts of documents may be empty, questions may have no document that answers them: `origin` counts them.
    """
    held: dict[type, list[Any]] = defaultdict(list)
    for row in rows:
        held[type(row)].append(row)
    faults: list[DataFault] = held[DataFault]
    documents, questions = _by_id(held[BenchDocument], "document", faults), _by_id(held[BenchQuestion], "question", faults)
    gold = {question.id: set(question.gold) for question in questions.values()}
    for judgement in held[Judgement]:
        gold.setdefault(judgement.question, set()).update([judgement.document] if judgement.relevance > 0 else ())
    faults += _gold_faults(gold, documents, questions)
    _refuse(name, faults)
    asked = tuple(replace(one, gold=frozenset(gold[one.id]), answer_type=_answer_type(one)) for one in questions.values())
    told: list[Provenance] = held[Provenance]
    origin = {
        **{key: value for one in told for key, value in one.origin.items()},
        "questions_without_answer": sum(not question.answer.strip() for question in asked),
        "questions_without_gold": sum(not question.gold for question in asked),
        "documents_without_text": sum(not document.text.strip() for document in documents.values()),
    }
    found = tuple(documents.values())
    return BenchData(name, found, asked, digest_of(found, asked), origin, any(one.relative_only for one in told))


def _by_id(rows: Sequence[Kept], kind: str, faults: list[DataFault]) -> dict[str, Kept]:
    held: dict[str, Kept] = {}
    for row in rows:
        if not row.id.strip():
            faults.append(DataFault(f"the {len(held) + 1}th", f"a {kind} without an id", f"give each {kind} one"))
        elif row.id in held:
            faults.append(DataFault(row.id, f"{kind} ids given twice", f"give each {kind} an id of its own"))
        else:
            held[row.id] = row
    if not held:
        faults.append(DataFault("in all of it", f"no {kind}s", "is this the right place, and are its files whole?"))
    return held


def _gold_faults(
    gold: Mapping[str, set[str]], documents: Mapping[str, BenchDocument], questions: Mapping[str, BenchQuestion]
) -> Iterator[DataFault]:
    for question in questions.values():
        if not question.text.strip():
            yield DataFault(question.id, "questions without text", "leave them out of the source")
    for name, wanted in gold.items():
        if name not in questions:
            yield DataFault(name, "judgements of absent questions", "add them or drop the judgements")
            continue
        for document in sorted(wanted - documents.keys()):
            place = f"{document} (of question {name})"
            yield DataFault(place, "judgements of absent documents", "add the documents or drop the judgements")


def _answer_type(question: BenchQuestion) -> str:
    """Give the type that the source says; where it says none, yes and no are labels."""
    said = question.answer_type.strip()
    return said or (LABEL if question.answer.strip().strip(".!").casefold() in YES_OR_NO else "")


def digest_of(documents: Sequence[BenchDocument], questions: Sequence[BenchQuestion]) -> str:
    """Give the SHA-256 of all contents in the order of their ids, so that shuffling changes nothing."""
    digest = hashlib.sha256()
    for document in sorted(documents, key=lambda document: document.id):
        digest.update(_line(document.id, document.title, document.text, document.parent))
    for question in sorted(questions, key=lambda question: question.id):
        fields = (question.id, question.text, question.answer, question.answer_type, question.question_type, question.level)
        digest.update(_line(*fields, *sorted(question.gold)))
    return digest.hexdigest()


def _line(*fields: str) -> bytes:
    return json.dumps(fields).encode() + b"\n"
