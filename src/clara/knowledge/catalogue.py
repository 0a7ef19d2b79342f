"""Reading data/: procedures, typical questions and places, every fault named at once, nothing used before all is right."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from clara.data_files import DataError, Fault, day, read_document, read_schema
from clara.knowledge.places import Places, read_places
from clara.knowledge.procedure import Procedure, ProcedureKind, Section, fact_from
from clara.knowledge.questions import TypicalQuestion, read_questions
from clara.knowledge.rules import procedure_faults, shared_ids, shared_phrases, unknown_territories, unnamed
from clara.language.packs import read_languages


@dataclass(frozen=True, slots=True)
class Catalogue:
    """All procedures by id, in order; the questions people ask about them; the places they hold in."""

    procedures: Mapping[str, Procedure]
    questions: tuple[TypicalQuestion, ...]
    places: Places


def read_catalogue(folder: Path, *, with_questions: bool = False) -> Catalogue:
    """Read and check what is known under `folder`. Raises DataError naming every fault of every file.

    Typical questions are many and serve editors and training only: they are read when asked for.
    """
    documents, broken, faults = _read_procedures(folder)
    try:
        places = read_places(folder)
    except DataError as error:
        raise DataError([*faults, *error.faults]) from error
    faults.extend(unnamed(documents, read_languages(folder)))
    faults.extend(unknown_territories(documents, frozenset(places.by_code)))
    facts = {
        document["id"]: {fact["id"]: section["id"] for section in document["sections"] for fact in section["facts"]}
        for document in documents.values()
    }
    questions, problems = read_questions(folder, facts, broken) if with_questions else ([], [])
    if faults or problems:
        raise DataError([*faults, *problems])
    return Catalogue({document["id"]: _procedure(document) for document in documents.values()}, tuple(questions), places)


def _read_procedures(folder: Path) -> tuple[dict[str, dict[str, Any]], frozenset[str], list[Fault]]:
    """Give the sound documents by file, the names of the others, and all faults."""
    schema = read_schema(folder / "schema" / "procedure.schema.json")
    documents: dict[str, dict[str, Any]] = {}
    broken: set[str] = set()
    faults: list[Fault] = []
    for path in sorted((folder / "tramites").glob("*.json")):
        document, problems = read_document(path, path.name, schema)
        problems = problems or list(procedure_faults(path.name, document or {}))
        faults.extend(problems)
        if document is None or problems:
            broken.add(path.stem)
        else:
            documents[path.name] = document
    if not documents and not broken:
        raise DataError([Fault(str(folder / "tramites"), "folder", "holds no procedure; restore data/ from the repository")])
    return documents, frozenset(broken), [*faults, *shared_ids(documents), *shared_phrases(documents)]


def _procedure(document: dict[str, Any]) -> Procedure:
    phrases = {
        field: {language: tuple(entries) for language, entries in document.get(field, {}).items()}
        for field in ("vocabulary", "lookalikes")
    }
    return Procedure(
        id=document["id"],
        name=document["name"],
        authority=document["authority"],
        sections=tuple(
            Section(section["id"], section["title"], tuple(fact_from(fact) for fact in section["facts"]))
            for section in document["sections"]
        ),
        closed_on=day(document.get("closed_on")),
        kind=ProcedureKind(document.get("kind", ProcedureKind.PROCEDURE)),
        **phrases,
    )


def examples_of(catalogue: Catalogue) -> list[TypicalQuestion]:
    """Give the typical questions, and the names of each procedure as the shortest of questions, in the same languages."""
    asked = {question.language for question in catalogue.questions}
    named = [
        TypicalQuestion(f"{procedure.id}/name/{language}/{number}", phrase, language, procedure.id, "")
        for procedure in catalogue.procedures.values()
        for language in procedure.name
        if language in asked
        for number, phrase in enumerate((procedure.name[language], *procedure.vocabulary.get(language, ())))
    ]
    return [*catalogue.questions, *named]
