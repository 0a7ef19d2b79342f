"""What a run works on: documents, questions, which documents answer them; checked in one place, and cut."""

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final, TypeVar

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


class _Assembly:
    """Takes rows in any order; what refers to other rows is checked at the end."""

    def __init__(self) -> None:
        self.faults: list[DataFault] = []
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
                    self.faults.append(DataFault(row.id, "questions without text", "leave them out of the source"))
            case Judgement():
                held = self.gold.setdefault(row.question, set())
                if row.relevance > 0:
                    held.add(row.document)
            case Provenance():
                origin = {**self.provenance.origin, **row.origin}
                self.provenance = Provenance(origin, self.provenance.relative_only or row.relative_only)
            case DataFault():
                self.faults.append(row)

    def _keep(self, row: Kept, held: dict[str, Kept], kind: str) -> None:
        if not row.id.strip():
            self.faults.append(DataFault(f"the {len(held) + 1}th", f"a {kind} without an id", f"give each {kind} one"))
        elif row.id in held:
            self.faults.append(DataFault(row.id, f"{kind} ids given twice", f"give each {kind} an id of its own"))
        else:
            held[row.id] = row

    def finished(self) -> tuple[tuple[BenchDocument, ...], tuple[BenchQuestion, ...]]:
        for name, kept in (("documents", self.documents), ("questions", self.questions)):
            if not kept:
                self.faults.append(DataFault("in all of it", f"no {name}", "is this the right place, and are its files whole?"))
        for question in self.gold.keys() - self.questions.keys():
            self.faults.append(DataFault(question, "judgements of absent questions", "add them or drop the judgements"))
        return tuple(self.documents.values()), tuple(self._finished(question) for question in self.questions.values())

    def _finished(self, question: BenchQuestion) -> BenchQuestion:
        gold = question.gold | self.gold.get(question.id, set())
        for document in sorted(gold - self.documents.keys()):
            place = f"{document} (of question {question.id})"
            self.faults.append(DataFault(place, "judgements of absent documents", "add the documents or drop the judgements"))
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
    _refuse(name, assembly.faults)
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


@dataclass(frozen=True, slots=True)
class Subset:
    """How much is used. `shuffle_seed` None keeps the order of the source; 0 questions or documents means all.

    `development` draws `development_questions` questions, keeps all documents that answer them, and fills up with others to
    `development_documents`; the two other limits then mean nothing.
    """

    shuffle_seed: int | None = 42
    max_questions: int = 0
    max_documents: int = 0
    development: bool = False
    development_questions: int = 200
    development_documents: int = 4000


def subset_of(data: BenchData, wanted: Subset) -> BenchData:
    """Give the part of the data that is wanted, with the digest of that part. Raises BenchDataError.

    Cutting the corpus may cut away documents that answer a question. Such a question stays, and so does its list of answering
    documents: recall counts what can no longer be found, as it would with a poor search. `origin` counts these questions.
    A corpus that is not whole is easier to search, so the result is marked `relative_only`.
    """
    documents = _shuffled(data.documents, wanted.shuffle_seed, "document")
    questions = _shuffled(data.questions, wanted.shuffle_seed, "question")
    if wanted.development:
        questions, documents = _development(questions, documents, wanted)
    else:
        questions = questions[: wanted.max_questions or None]
        documents = documents[: wanted.max_documents or None]
    held = {document.id for document in documents}
    origin = {
        **data.origin,
        "shuffle_seed": "none" if wanted.shuffle_seed is None else wanted.shuffle_seed,
        "development": wanted.development,
        "documents_of_source": len(data.documents),
        "questions_of_source": len(data.questions),
        "questions_missing_some_gold": sum(bool(question.gold - held) for question in questions),
        "questions_missing_all_gold": sum(bool(question.gold) and not question.gold & held for question in questions),
    }
    return replace(
        data,
        documents=tuple(documents),
        questions=tuple(questions),
        digest=digest_of(documents, questions),
        origin=origin,
        relative_only=data.relative_only or len(documents) < len(data.documents),
    )


def _shuffled(rows: Sequence[Kept], seed: int | None, kind: str) -> Sequence[Kept]:
    """Order by a digest of seed and id: the same for every order of the source, every release of Python and every size."""
    if seed is None:
        return rows
    return sorted(rows, key=lambda row: (hashlib.sha256(f"{seed}/{kind}/{row.id}".encode()).digest(), row.id))


def _development(
    questions: Sequence[BenchQuestion], documents: Sequence[BenchDocument], wanted: Subset
) -> tuple[Sequence[BenchQuestion], Sequence[BenchDocument]]:
    held = {document.id for document in documents}
    answerable = [question for question in questions if question.gold and question.gold <= held]
    drawn = answerable[: wanted.development_questions]
    gold = frozenset().union(*(question.gold for question in drawn))
    if not drawn:
        raise BenchDataError(
            "DEV_MODE found no question whose answering documents are all there; DEV_QUERIES must be 1 or more"
        )
    if len(gold) > wanted.development_documents:
        raise BenchDataError(
            f"DEV_CORPUS_SIZE={wanted.development_documents} is too small: {len(drawn)} questions are answered by {len(gold)} "
            f"documents; set DEV_CORPUS_SIZE to {len(gold)} or more, or lower DEV_QUERIES"
        )
    others = [document.id for document in documents if document.id not in gold]
    kept = gold | set(others[: wanted.development_documents - len(gold)])
    return drawn, [document for document in documents if document.id in kept]
