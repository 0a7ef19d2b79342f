"""A procedure and its facts, as typed values. The schema beside the data says what each field means."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date
from enum import StrEnum


class Certainty(StrEnum):
    """How well a fact is supported."""

    OFFICIAL = "official"
    TWO_SOURCES = "two_sources"
    SECONDARY = "secondary"
    UNVERIFIED = "unverified"


@dataclass(frozen=True, slots=True)
class Source:
    """Where a fact was read. `seen_on` is a day or a month (ISO 8601)."""

    url: str
    seen_on: str
    dated: str | None = None
    official: bool = False


@dataclass(frozen=True, slots=True)
class LegalBasis:
    """A provision of a norm in the official gazette."""

    norm: str
    provision: str | None = None


@dataclass(frozen=True, slots=True)
class Fact:
    """One statement that can be shown with its evidence."""

    id: str
    text: str
    certainty: Certainty
    sources: tuple[Source, ...]
    legal_basis: tuple[LegalBasis, ...] = ()
    territory: str = "ES"
    valid_from: date | None = None
    valid_until: date | None = None

    def published(self, today: date) -> bool:
        """Whether a person may be told this fact today."""
        if self.certainty is Certainty.UNVERIFIED:
            return False
        started = self.valid_from is None or self.valid_from <= today
        return started and (self.valid_until is None or today <= self.valid_until)


@dataclass(frozen=True, slots=True)
class Section:
    """The facts of a procedure about one matter, the commonest first."""

    id: str
    title: str
    facts: tuple[Fact, ...]


@dataclass(frozen=True, slots=True)
class Procedure:
    """A public procedure. `name` has one entry for each served language; phrases are by language."""

    id: str
    name: Mapping[str, str]
    authority: str
    sections: tuple[Section, ...]
    vocabulary: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    lookalikes: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    questions: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    closed_on: date | None = None
