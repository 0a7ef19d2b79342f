"""Tests of reading typical questions, and of naming what is wrong with them."""

import json
from pathlib import Path
from typing import Any

import pytest
from unit_builders import Document, faults_of

from clara.knowledge.catalogue import read_catalogue
from clara.knowledge.questions import OUTSIDE, TypicalQuestion

NIE: Document = {
    "procedure": "nie",
    "general": {"es": ["acabo de llegar a España"]},
    "sections": {"plazos": {"es": ["¿cuánto tarda?", "¿cuándo llega?"], "en": ["how long does it take"]}},
    "facts": {"nie-identidad-02": {"es": ["¿quién lo da?"]}},
}
TOPICS: Document = {"topics": {"pasaporte": {"es": ["renovar mi pasaporte"], "zh": ["护照"]}}}


def put(folder: Path, name: str, document: Document) -> None:
    """Write a file of questions."""
    (folder / "questions" / f"{name}.json").write_text(json.dumps(document, ensure_ascii=False), "utf-8")


def test_questions(folder: Path) -> None:
    """A question belongs to its section, that of a fact to the fact's section, a general one to the procedure alone."""
    put(folder, "nie", NIE)
    assert list(read_catalogue(folder, with_questions=True).questions) == [
        TypicalQuestion("nie/general/es/01", "acabo de llegar a España", "es", "nie", ""),
        TypicalQuestion("nie/plazos/es/01", "¿cuánto tarda?", "es", "nie", "plazos"),
        TypicalQuestion("nie/plazos/es/02", "¿cuándo llega?", "es", "nie", "plazos"),
        TypicalQuestion("nie/plazos/en/01", "how long does it take", "en", "nie", "plazos"),
        TypicalQuestion("nie/nie-identidad-02/es/01", "¿quién lo da?", "es", "nie", "identidad", "nie-identidad-02"),
    ]


def test_outside(folder: Path) -> None:
    """What people ask and nobody here knows belongs to no procedure, by topic."""
    put(folder, OUTSIDE, TOPICS)
    assert list(read_catalogue(folder, with_questions=True).questions) == [
        TypicalQuestion("outside/pasaporte/es/01", "renovar mi pasaporte", "es", OUTSIDE, "pasaporte"),
        TypicalQuestion("outside/pasaporte/zh/01", "护照", "zh", OUTSIDE, "pasaporte"),
    ]


@pytest.mark.parametrize(
    ("name", "document", "place", "remedy"),
    [
        pytest.param(
            "nia",
            {**NIE, "procedure": "nia", "facts": {}},
            "file",
            "there is no tramites/nia.json; rename the file or add the procedure",
            id="unknown-procedure",
        ),
        pytest.param(
            "nie",
            {**NIE, "procedure": "tie"},
            "$.procedure",
            "is 'tie' but the file is named 'nie'; make them equal",
            id="procedure-of-another-file",
        ),
        pytest.param(
            "nie",
            {**NIE, "sections": {"duracion": {"es": ["¿cuánto dura?"]}}},
            "$.sections.duracion",
            "tramites/nie.json has no section 'duracion'; move its questions",
            id="unknown-section",
        ),
        pytest.param(
            "nie",
            {**NIE, "facts": {"nie-plazos-77": {"es": ["¿cuánto dura?"]}}},
            "$.facts.nie-plazos-77",
            "tramites/nie.json has no fact 'nie-plazos-77'; move its questions",
            id="unknown-fact",
        ),
        pytest.param(
            "nie", {"sections": NIE["sections"]}, "$", '"procedure" is a required property; add it', id="no-procedure"
        ),
        pytest.param("nie", {"procedure": "nie"}, "$", '"sections" is a required property; add it', id="no-sections"),
        pytest.param("nie", {**NIE, "sectoins": {}}, "$", "'sectoins' was unexpected", id="unknown-field"),
        pytest.param(
            "nie", {**NIE, "general": {"de": ["wie lange"]}}, "$.general", "'de' was unexpected", id="unknown-language"
        ),
        pytest.param("nie", {**NIE, "general": {"es": []}}, "$.general.es", "has less than 1", id="language-without-questions"),
        pytest.param("nie", {**NIE, "general": {"es": [7]}}, "$.general.es[0]", 'is not of type "string"', id="number"),
        pytest.param(
            "nie", {**NIE, "general": {"es": [" hola"]}}, "$.general.es[0]", '" hola" does not match', id="blank-first"
        ),
        pytest.param(
            "nie", {**NIE, "general": {"es": ["h"]}}, "$.general.es[0]", '"h" is shorter than 2 characters', id="one-letter"
        ),
        pytest.param("outside", {"topics": {}}, "$.topics", "has less than 1", id="no-topics"),
        pytest.param("outside", NIE, "$", '"topics" is a required property; add it', id="procedure-as-outside"),
        pytest.param(
            "outside", {"topics": {"Mi Tema": {"es": ["hola"]}}}, "$.topics", '"Mi Tema" does not match', id="name-of-a-topic"
        ),
        pytest.param("outside", {"topics": {"tema": ["hola"]}}, "$.topics.tema", 'is not of type "object"', id="no-languages"),
    ],
)
def test_fault(folder: Path, name: str, document: Document, place: str, remedy: str) -> None:
    """What is wrong in a file of questions is named with its file, its place and what to do."""
    put(folder, name, document)
    faults = faults_of(folder)
    assert {fault.file for fault in faults} == {f"questions/{name}.json"}
    assert any(fault.place == place and remedy in fault.remedy for fault in faults), faults


def repeating(block: str, text: str) -> Document:
    """Make questions on the NIE of which one repeats the first."""
    return {"procedure": "nie", "sections": {"plazos": {"es": ["¿cuánto tarda?"]}, block: {"es": ["otra cosa", text]}}}


@pytest.mark.parametrize("text", ["¿cuánto tarda?", "¿CUÁNTO tarda?", "¿cuánto  tarda?"], ids=["same", "capitals", "blanks"])
def test_repeated(folder: Path, text: str) -> None:
    """A question that stands in two places is named in the second, with the first: it cannot mean both."""
    put(folder, "nie", repeating("cuantias", text))
    (fault,) = faults_of(folder)
    assert (fault.file, fault.place) == ("questions/nie.json", "nie/cuantias/es/02")
    assert fault.remedy == "the same question as nie/plazos/es/01; keep one"


def test_repeated_in_another_file(folder: Path) -> None:
    """A question cannot belong to a procedure and lie outside the catalogue."""
    put(folder, "nie", NIE)
    put(folder, OUTSIDE, {"topics": {"tema": {"es": ["¿Quién lo da?"]}}})
    (fault,) = faults_of(folder)
    assert (fault.file, fault.place) == ("questions/outside.json", "outside/tema/es/01")
    assert fault.remedy == "the same question as nie/nie-identidad-02/es/01; keep one"


def test_accents_are_no_repetition(folder: Path) -> None:
    """The same question with and without its accents is two ways of writing, and both are kept."""
    put(folder, "nie", repeating("cuantias", "¿cuanto tarda?"))
    assert len(read_catalogue(folder, with_questions=True).questions) == 3


def test_all_faults_at_once(folder: Path) -> None:
    """Faults of several files of questions are told by one reading."""
    put(folder, "nie", {**NIE, "sections": {"duracion": {"es": ["¿cuánto dura?"]}}})
    put(folder, "nia", {**NIE, "procedure": "nia", "general": {"es": ["hola"]}})
    put(folder, OUTSIDE, {"topics": {}})
    assert {fault.file for fault in faults_of(folder)} == {f"questions/{name}.json" for name in ("nia", "nie", "outside")}


def test_no_folder(folder: Path) -> None:
    """Without a folder of questions there are none: the check of the knowledge tells which procedures are thin."""
    (folder / "questions").rmdir()
    assert read_catalogue(folder, with_questions=True).questions == ()


def test_real_ids(real: Any) -> None:
    """Each real question has an id of its own."""
    ids = [question.id for question in real.catalogue.questions]
    assert len(set(ids)) == len(ids)
