"""From rows, whichever format they were read from, to data that a run can be trusted with: one place checks all of them."""

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final, TypeVar

from clara_lab.bench.dataset import LABEL, BenchData, BenchDataError, BenchDocument, BenchQuestion

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


class DataFaults:
    """Counts faults without keeping more of them than are told."""

    def __init__(self) -> None:
        self._places: dict[tuple[str, str], list[str]] = {}
        self._numbers: dict[tuple[str, str], int] = {}

    def add(self, fault: DataFault) -> None:
        """Count one."""
        words = (fault.problem, fault.remedy)
        self._numbers[words] = self._numbers.get(words, 0) + 1
        places = self._places.setdefault(words, [])
        if len(places) < NAMED_PLACES:
            places.append(fault.place)

    def refuse(self, name: str) -> None:
        """Raise BenchDataError with all of them, one a line; without any, do nothing."""
        if self._numbers:
            lines = [self._line(words) for words in self._numbers]
            raise BenchDataError(f"data set {name} cannot be used:\n" + "\n".join(f"- {line}" for line in lines))

    def _line(self, words: tuple[str, str]) -> str:
        problem, remedy = words
        more = self._numbers[words] - len(self._places[words])
        return f"{problem}: {', '.join(self._places[words])}{f' and {more} more' if more else ''}; {remedy}"


class _Assembly:
    """Takes rows in any order; what refers to other rows is checked at the end."""

    def __init__(self) -> None:
        self.faults = DataFaults()
        self.documents: dict[str, BenchDocument] = {}
        self.questions: dict[str, BenchQuestion] = {}
        self.gold: dict[str, set[str]] = {}
        self.provenance = Provenance()

    def take(self, row: DataRow) -> None:
        match row:
            case BenchDocument():
                self._keep(row, self.documents, "document")
            case BenchQuestion():
                self._keep(row, self.questions, "question")
                if not row.text.strip():
                    self.faults.add(DataFault(row.id, "questions without text", "leave them out of the source"))
            case Judgement():
                held = self.gold.setdefault(row.question, set())
                if row.relevance > 0:
                    held.add(row.document)
            case Provenance():
                origin = {**self.provenance.origin, **row.origin}
                self.provenance = Provenance(origin, self.provenance.relative_only or row.relative_only)
            case DataFault():
                self.faults.add(row)

    def _keep(self, row: Kept, held: dict[str, Kept], kind: str) -> None:
        if not row.id.strip():
            self.faults.add(DataFault(f"the {len(held) + 1}th", f"a {kind} without an id", f"give each {kind} one"))
        elif row.id in held:
            self.faults.add(DataFault(row.id, f"{kind} ids given twice", f"give each {kind} an id of its own"))
        else:
            held[row.id] = row

    def finished(self) -> tuple[tuple[BenchDocument, ...], tuple[BenchQuestion, ...]]:
        for name, kept in (("documents", self.documents), ("questions", self.questions)):
            if not kept:
                self.faults.add(DataFault("in all of it", f"no {name}", "is this the right place, and are its files whole?"))
        for question in self.gold.keys() - self.questions.keys():
            self.faults.add(DataFault(question, "judgements of absent questions", "add the questions or drop the judgements"))
        return tuple(self.documents.values()), tuple(self._finished(question) for question in self.questions.values())

    def _finished(self, question: BenchQuestion) -> BenchQuestion:
        gold = question.gold | self.gold.get(question.id, set())
        for document in sorted(gold - self.documents.keys()):
            place = f"{document} (of question {question.id})"
            self.faults.add(DataFault(place, "judgements of absent documents", "add the documents or drop the judgements"))
        return replace(question, gold=frozenset(gold), answer_type=_answer_type(question))


def _answer_type(question: BenchQuestion) -> str:
    """Give the type that the source says; where it says none, yes and no are labels."""
    said = question.answer_type.strip()
    return said or (LABEL if question.answer.strip().strip(".!").casefold() in YES_OR_NO else "")


def assemble(name: str, rows: Iterable[DataRow]) -> BenchData:
    """Make data of rows in any order, however they were read. Raises BenchDataError with all faults, one kind a line.

    Answers and texts of documents may be empty, questions may have no document that answers them: `origin` counts them.
    """
    assembly = _Assembly()
    for row in rows:
        assembly.take(row)
    documents, questions = assembly.finished()
    assembly.faults.refuse(name)
    counted = {
        "questions_without_answer": sum(not question.answer.strip() for question in questions),
        "questions_without_gold": sum(not question.gold for question in questions),
        "documents_without_text": sum(not document.text.strip() for document in documents),
    }
    provenance = assembly.provenance
    origin = {**provenance.origin, **counted}
    return BenchData(name, documents, questions, digest_of(documents, questions), origin, provenance.relative_only)


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
