"""A procedure and its facts, as typed values. The schema beside the data says what each field means."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date, datetime
from enum import StrEnum
from typing import Any
from zoneinfo import ZoneInfo

from clara.data_files import PartialDate, day, each, partial_date, record
from clara.language.figures.figure import Figure, FigureKind, figure_from
from clara.retrieval.validity import ALWAYS, Validity


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
    """Where a fact was read, and when."""

    url: str
    seen_on: PartialDate
    dated: str | None = None
    official: bool = False

    @property
    def document(self) -> dict[str, Any]:
        """The source as it stands in data."""
        return {"url": self.url, "seen_on": str(self.seen_on), "dated": self.dated, "official": self.official}


@dataclass(frozen=True, slots=True)
class LegalBasis:
    """A provision of a norm in the official gazette."""

    norm: str
    provision: str | None = None


class ReadingVerdict(StrEnum):
    """What a reader found who laid a fact beside its article."""

    CONFIRMED = "confirmed"
    CORRECTED = "corrected"
    WITHHELD = "withheld"


@dataclass(frozen=True, slots=True)
class ArticleReading:
    """One reading of a fact beside its article; `against` names the versions or pages that were read."""

    by: str
    on: date
    against: tuple[str, ...]
    verdict: ReadingVerdict


@dataclass(frozen=True, slots=True)
class Fact:
    """One statement that can be shown with its evidence.

    `values` are the figures of the text, normalised. `conditions` are ids of facts of the same procedure that must be said
    with this one, because alone it would mislead. `reviewed` is who read it, and is no part of what the fact says.
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
    validity: Validity = ALWAYS
    reviewed: tuple[ArticleReading, ...] = field(default=(), compare=False)

    @property
    def readers(self) -> frozenset[str]:
        """Who laid the fact as it stands beside its article and found it right; whoever corrected it wrote it."""
        return frozenset(reading.by for reading in self.reviewed if reading.verdict is ReadingVerdict.CONFIRMED)

    @property
    def shown_source(self) -> Source:
        """The first official source, or the first one where none is."""
        return next((source for source in self.sources if source.official), self.sources[0])

    @property
    def compares(self) -> bool:
        """Whether the fact only sets an earlier year beside its own: it tells amounts, and names years before its first day."""
        first = self.validity.first
        if first is None or not any(figure.kind is FigureKind.AMOUNT for figure in self.values):
            return False
        named = (str(figure.value)[:4] for figure in self.values if figure.kind is FigureKind.DATE)
        years = [int(year) for year in named if year.isdigit()]
        return bool(years) and max(years) < first.year

    def published(self, today: date) -> bool:
        """Whether a person may be told this fact today."""
        return self.certainty is not Certainty.UNVERIFIED and self.validity.holds(today)


@dataclass(frozen=True, slots=True)
class Section:
    """The facts of a procedure about one matter, the commonest first."""

    id: str
    title: str
    facts: tuple[Fact, ...]


@dataclass(frozen=True, slots=True)
class Procedure:
    """A public procedure. `name` and `purpose` (what it is for) have one entry for each served language, phrases some.

    Without a purpose it is offered by its name alone. `dangers` are the kinds of danger that it goes on from: who was told whom
    to call asks about it next.
    """

    id: str
    name: Mapping[str, str]
    authority: str
    sections: tuple[Section, ...]
    vocabulary: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    lookalikes: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    purpose: Mapping[str, str] = field(default_factory=dict)
    closed_on: date | None = None
    kind: ProcedureKind = ProcedureKind.PROCEDURE
    dangers: tuple[str, ...] = ()

    @property
    def facts(self) -> tuple[Fact, ...]:
        """Every fact, in the editor's order."""
        return tuple(fact for section in self.sections for fact in section.facts)


def madrid_today() -> date:
    """Give the day it is where the procedures hold."""
    return datetime.now(ZoneInfo("Europe/Madrid")).date()


def procedure_from(document: Mapping[str, Any]) -> Procedure:
    """Read a sound procedure as it stands in data. Raises ValueError when a source was seen on no day of the calendar."""
    return record(
        Procedure,
        document,
        sections=each(lambda section: record(Section, section, facts=each(fact_from))),
        vocabulary=_phrases,
        lookalikes=_phrases,
        closed_on=day,
        kind=ProcedureKind,
    )


def fact_from(fact: Mapping[str, Any]) -> Fact:
    """Read a sound fact as it stands in data. Raises ValueError when a source was seen on no day of the calendar."""
    return record(
        Fact,
        {**fact, "validity": fact.get("valid", {})},
        certainty=Certainty,
        sources=each(source_from),
        kind=FactKind,
        values=lambda values: frozenset(map(figure_from, values)),
        legal_basis=each(lambda basis: LegalBasis(**basis)),
        validity=lambda valid: Validity(day(valid.get("from")), day(valid.get("until"))),
        reviewed=each(lambda reading: record(ArticleReading, reading, on=day, verdict=ReadingVerdict)),
    )


def source_from(source: Mapping[str, Any]) -> Source:
    """Read a sound source as it stands in data. Raises ValueError when it was seen on no day of the calendar."""
    return record(Source, source, seen_on=partial_date)


def _phrases(by_language: Mapping[str, list[str]]) -> dict[str, tuple[str, ...]]:
    return {language: tuple(phrases) for language, phrases in by_language.items()}
