"""Small questions, entries of a file and outcomes with sensible values, for tests that care about one or two of them."""

import json
from pathlib import Path
from typing import Any

import pytest

from clara.data_files import DataError
from clara.quality.dataset import KnownIds, Question, read_questions
from clara.quality.measures import Outcome
from clara.settings import resources

SCHEMA = resources() / "eval" / "schema" / "query.schema.json"
KNOWN = KnownIds(
    sections={"nie": frozenset({"plazos", "cuantias"}), "tie": frozenset({"requisitos"})},
    facts=frozenset({"nie-plazos-01", "nie-plazos-02"}),
    territories=frozenset({"ES", "ES-MD"}),
)
MISSING = object()


def question_of(name: str, *documents: str, **changes: object) -> Question:
    """Make a question that expects these documents; none for one to refuse."""
    values = {
        "id": name,
        "query": f"pregunta {name}",
        "language": "es",
        "documents": frozenset(documents),
        "section": None,
        "accepted_sections": frozenset(),
        "facts": frozenset(),
        "territory": None,
        "category": "plazos" if documents else "negative",
        "difficulty": "easy",
        "split": "dev",
    }
    return Question(**{**values, **changes})


def answer(question: Question, *found: str, **changes: object) -> Outcome:
    """Make the outcome of a question that was answered with these documents, best first."""
    return Outcome(question, answered=True, documents=found, **changes)


def refusal(question: Question, confidence: float | None = None) -> Outcome:
    """Make the outcome of a question that was refused."""
    return Outcome(question, answered=False, confidence=confidence)


def entry_of(**changes: object) -> dict[str, Any]:
    """Make a right entry with some fields changed, or left out when MISSING."""
    values = {
        "id": "q1",
        "query": "¿cuánto tarda el NIE?",
        "language": "es",
        "expected_procedures": ["nie"],
        "accepted_procedures": ["tie"],
        "expected_section": "plazos",
        "accepted_sections": ["cuantias", "plazos"],
        "expected_facts": ["nie-plazos-01"],
        "territory": "ES-MD",
        "category": "plazos",
        "difficulty": "easy",
        "split": "dev",
    }
    return {name: value for name, value in {**values, **changes}.items() if value is not MISSING}


def negative_of(**changes: object) -> dict[str, Any]:
    """Make a right entry of a question to refuse."""
    values = {
        "id": "n1",
        "query": "¿quién ganó la liga?",
        "expected_procedures": [],
        "accepted_procedures": MISSING,
        "expected_section": None,
        "accepted_sections": MISSING,
        "expected_facts": [],
        "territory": None,
        "category": "negative",
    }
    return entry_of(**{**values, **changes})


def write(file: Path, *entries: object) -> None:
    """Write entries as JSON lines; text is a line as it stands."""
    lines = [entry if isinstance(entry, str) else json.dumps(entry) for entry in entries]
    file.write_text("".join(f"{line}\n" for line in lines), "utf-8")


def faults_of(file: Path) -> list[str]:
    """Read a file with faults and give them as they are told."""
    with pytest.raises(DataError) as caught:
        read_questions(file, SCHEMA, KNOWN)
    return str(caught.value).splitlines()
