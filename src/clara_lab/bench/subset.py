"""Which part of a data set a run works on: shuffled, cut, or a small one that still holds every answer."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, replace

from clara_lab.bench.assembling import Kept, digest_of
from clara_lab.bench.dataset import BenchData, BenchDataError, BenchDocument, BenchQuestion


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
