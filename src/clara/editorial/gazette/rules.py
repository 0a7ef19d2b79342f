"""What in the gazette concerns us, as data: words, weights, sections and the threshold."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from clara.data_files import DataError, Fault, read_document, read_schema
from clara.language.phrases import Phrases
from clara.language.tokens import words

FILE: Final = "gazette.json"


@dataclass(frozen=True, slots=True)
class Weighted:
    """A phrase, what it adds, and the procedures that it may be about. Of those with the same number one counts."""

    phrase: str
    number: int
    weight: float
    procedures: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Weights:
    """What each kind of reason adds to a score; the schema beside the data says what they are."""

    reference_changing: float
    reference_unknown: float
    reference_mentioning: float
    title_changing: float
    title_mentioning: float
    heading_changing: float
    phrase: float
    single_word: float


@dataclass(frozen=True, slots=True, eq=False)
class Rules:
    """How items are judged. `sections` are those whose words count, with their factor."""

    threshold: float
    sections: Mapping[str, float]
    read_sections: frozenset[str]
    read_again_sections: frozenset[str]
    weights: Weights
    changing_relations: tuple[tuple[str, ...], ...]
    mentioning_relations: tuple[tuple[str, ...], ...]
    changing: Phrases[str]
    spoken: Phrases[Weighted]
    noise: Phrases[Weighted]
    unread: Phrases[str]


def read_rules(folder: Path, procedures: Iterable[str]) -> Rules:
    """Read `folder`/gazette.json, whose words speak of these procedures. Raises DataError."""
    schema = read_schema(folder / "schema" / "gazette.schema.json")
    document, faults = read_document(folder / FILE, FILE, schema)
    if document is None:
        raise DataError(faults)
    named = {name for entry in document["words"] for name in entry["procedures"]}
    if unknown := sorted(named - set(procedures)):
        raise DataError([Fault(FILE, "$.words", f"{', '.join(unknown)} is no procedure; correct it")])
    return Rules(
        threshold=document["threshold"],
        sections=document["sections"],
        read_sections=frozenset(document["read_sections"]),
        read_again_sections=frozenset(document["read_again_sections"]),
        weights=Weights(**document["weights"]),
        changing_relations=_beginnings(document["changing_relations"]),
        mentioning_relations=_beginnings(document["mentioning_relations"]),
        changing=Phrases((phrase, phrase) for phrase in document["changing_phrases"]),
        spoken=_weighted(document["words"]),
        noise=_weighted(document["noise"]),
        unread=Phrases((phrase, phrase) for phrase in document["unread"]),
    )


def _beginnings(phrases: Iterable[str]) -> tuple[tuple[str, ...], ...]:
    return tuple(tuple(words(phrase)) for phrase in phrases)


def _weighted(entries: Iterable[Mapping[str, Any]]) -> Phrases[Weighted]:
    return Phrases(
        (phrase, Weighted(phrase, number, entry["weight"], tuple(entry.get("procedures", ()))))
        for number, entry in enumerate(entries)
        for phrase in entry["said"]
    )
