"""Figures: an amount, a share, a period, an age, a date, a phone, ..., as values and as they stand in a text."""

import json
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from clara.language.fold import fold


class FigureKind(StrEnum):
    """What a figure counts or names."""

    AMOUNT = "amount"
    PERCENTAGE = "percentage"
    PERIOD = "period"
    AGE = "age"
    DATE = "date"
    TIME = "time"
    PHONE = "phone"
    URL = "url"
    EMAIL = "email"
    FORM = "form"
    NORM = "norm"
    PROVISION = "provision"
    COUNT = "count"


@dataclass(frozen=True, slots=True)
class Figure:
    """One normalised figure.

    `value` is a number for amounts (euros), percentages, periods, ages (years) and counts; otherwise text: a date or a part
    of one in ISO 8601 ("2026-06-30", "--06-30" without year, "2026-06", "2026"), a time "09:00", a phone as digits, an
    address, a form code, a norm, a provision. `unit`: "EUR" or "EUR/month"; "day", "working_day", "month" ...; or None.
    """

    kind: FigureKind
    value: float | str
    unit: str | None = None

    def __str__(self) -> str:
        number = f"{self.value:.15g}" if isinstance(self.value, float) else self.value
        return " ".join(part for part in (self.kind.value, number, self.unit) if part)


def figure_from(value: Mapping[str, Any]) -> Figure:
    """Read a figure as it stands in data."""
    number = value["value"]
    return Figure(FigureKind(value["kind"]), number if isinstance(number, str) else float(number), value.get("unit"))


def figures_as_json(figures: Iterable[Figure]) -> list[dict[str, Any]]:
    """Write figures as they stand in data, in the order of what they say."""
    return [_document(figure) for figure in sorted(figures, key=str)]


def as_json(figure: Figure) -> str:
    """Write a figure as it stands in data."""
    return json.dumps(_document(figure), ensure_ascii=False)


def _document(figure: Figure) -> dict[str, Any]:
    value = int(figure.value) if isinstance(figure.value, float) and figure.value.is_integer() else figure.value
    return {"kind": figure.kind.value, "value": value, **({"unit": figure.unit} if figure.unit else {})}


# Cyrillic capitals that look like Latin ones: codes of forms are typed with either.
_LOOKALIKES = str.maketrans("АВЕКМНОРСТХ", "ABEKMHOPCTX")


# What a fact states with a figure, where that is not its likeliest reading.
Stated = tuple[Figure, ...] | None


@dataclass(frozen=True, slots=True)
class FoundFigure:
    """A figure as it stands in a text: where, how it is written, and every value it may have, the likeliest first.

    Dates, times and provisions are values as in data (see Figure), as far as they are told. A number that nothing explains
    is a count; one that is no number at all ("1.2.3.4") is a count with its text as value. `spelt` says it is in words.
    `values` are what a fact states that is written so, where that is not the likeliest reading; none for mere words.
    """

    start: int
    end: int
    text: str
    readings: tuple[Figure, ...]
    spelt: bool = False
    values: Stated = None

    @property
    def kind(self) -> FigureKind:
        """Give the kind of the likeliest reading."""
        return self.readings[0].kind


class FigureText:
    """A folded text while its figures are read: what has been read is hidden from what reads next.

    Places are those of the folded text. `idioms` are figures that facts state and replies only seem to: "una persona".
    """

    def __init__(self, text: str) -> None:
        self.original = text
        self.folded = fold(text)
        self.rest = self.folded.text
        # With its capitals; Cyrillic letters that look Latin are Latin.
        self.cased = self.folded.cased.translate(_LOOKALIKES)
        self.found: list[FoundFigure] = []
        self.idioms: list[Figure] = []

    def add(self, start: int, end: int, readings: Iterable[Figure], *, spelt: bool = False, values: Stated = None) -> None:
        """Note a figure, and hide it. What no reading could be given of is a count with its text as value."""
        first, last = self.folded.span(start, end)
        unique = tuple(dict.fromkeys(readings)) or (Figure(FigureKind.COUNT, self.folded.text[start:end]),)
        self.found.append(FoundFigure(first, last, self.original[first:last], unique, spelt, values))
        self.hide(start, end)

    def hide(self, start: int, end: int) -> None:
        """Hide a stretch without noting anything."""
        hidden = "\0" * (end - start)
        self.rest = self.rest[:start] + hidden + self.rest[end:]
        self.cased = self.cased[:start] + hidden + self.cased[end:]

    def matches(self, pattern: re.Pattern[str], *, cased: bool = False) -> list[re.Match[str]]:
        """Give the matches in what is left."""
        return list(pattern.finditer(self.cased if cased else self.rest))

    def read(
        self, pattern: re.Pattern[str], kind: FigureKind, value: Callable[[re.Match[str]], str], *, cased: bool = False
    ) -> None:
        """Note a figure of one kind wherever a pattern matches."""
        for match in self.matches(pattern, cased=cased):
            self.add(*match.span(), [Figure(kind, value(match))])

    def written(self, start: int, end: int) -> str:
        """Give a stretch as it is written."""
        first, last = self.folded.span(start, end)
        return self.original[first:last]
