"""A procedure and its facts, as typed values. The schema beside the data says what each field means."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date
from enum import StrEnum

from clara.language.figures.figure import Figure, FigureKind


class Certainty(StrEnum):
    """How well a fact is supported."""

    OFFICIAL = "official"
    TWO_SOURCES = "two_sources"
    SECONDARY = "secondary"
    UNVERIFIED = "unverified"


class FactKind(StrEnum):
    """What sort of statement a fact is."""

    AMOUNT = "amount"
    FEE = "fee"
    DATE = "date"
    DEADLINE = "deadline"
    PHONE = "phone"
    URL = "url"
    FORM = "form"
    AGE = "age"
    PERCENTAGE = "percentage"
    CONDITION = "condition"
    STATEMENT = "statement"


# The figures one of which a fact of the kind must hold; kinds that are not named here need none.
NEEDED_FIGURES: Mapping[FactKind, frozenset[FigureKind]] = {
    FactKind.AMOUNT: frozenset({FigureKind.AMOUNT}),
    FactKind.FEE: frozenset({FigureKind.AMOUNT}),
    FactKind.DATE: frozenset({FigureKind.DATE}),
    FactKind.DEADLINE: frozenset({FigureKind.PERIOD, FigureKind.DATE, FigureKind.TIME, FigureKind.COUNT}),
    FactKind.PHONE: frozenset({FigureKind.PHONE}),
    FactKind.URL: frozenset({FigureKind.URL, FigureKind.EMAIL}),
    FactKind.FORM: frozenset({FigureKind.FORM}),
    FactKind.AGE: frozenset({FigureKind.AGE}),
    FactKind.PERCENTAGE: frozenset({FigureKind.PERCENTAGE}),
}


class ProcedureKind(StrEnum):
    """Something to apply for, or help that is there at once."""

    PROCEDURE = "procedure"
    HELP_LINE = "help_line"


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
    """One statement that can be shown with its evidence.

    `values` are the figures of the text, normalised. `conditions` are ids of facts of the same procedure that must be said
    with this one, because alone it would mislead.
    """

    id: str
    text: str
    certainty: Certainty
    sources: tuple[Source, ...]
    kind: FactKind = FactKind.STATEMENT
    values: frozenset[Figure] = frozenset()
    conditions: tuple[str, ...] = ()
    legal_basis: tuple[LegalBasis, ...] = ()
    territory: str = "ES"
    valid_from: date | None = None
    valid_until: date | None = None

    def published(self, today: date) -> bool:
        """Whether a person may be told this fact today."""
        if self.certainty is Certainty.UNVERIFIED:
            return False
        started = self.valid_from is None or self.valid_from <= today
        return started and not self.expired(today)

    def expired(self, today: date) -> bool:
        """Whether the last day on which the fact is true has passed."""
        return self.valid_until is not None and self.valid_until < today


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
    closed_on: date | None = None
    kind: ProcedureKind = ProcedureKind.PROCEDURE

    @property
    def facts(self) -> tuple[Fact, ...]:
        """Every fact, in the editor's order."""
        return tuple(fact for section in self.sections for fact in section.facts)
