"""A text while its figures are read: what has been read is hidden from what reads next."""

import re
from collections.abc import Iterable
from dataclasses import dataclass

from clara.language.figures.figure import Figure, FigureKind
from clara.language.fold import fold

# Cyrillic capitals that look like Latin ones: codes of forms are typed with either.
_LOOKALIKES = str.maketrans("АВЕКМНОРСТХ", "ABEKMHOPCTX")


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
    values: tuple[Figure, ...] | None = None

    @property
    def kind(self) -> FigureKind:
        """Give the kind of the likeliest reading."""
        return self.readings[0].kind


class FigureText:
    """A folded text with what has been found in it. Places are those of the folded text.

    `idioms` are figures that facts state and replies only seem to: "una persona".
    """

    def __init__(self, text: str) -> None:
        self.original = text
        self.folded = fold(text)
        self.rest = self.folded.text
        # With its capitals; Cyrillic letters that look Latin are Latin.
        self.cased = self.folded.cased.translate(_LOOKALIKES)
        self.found: list[FoundFigure] = []
        self.idioms: list[Figure] = []

    def add(
        self,
        start: int,
        end: int,
        readings: Iterable[Figure],
        *,
        spelt: bool = False,
        values: tuple[Figure, ...] | None = None,
    ) -> None:
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

    def written(self, start: int, end: int) -> str:
        """Give a stretch as it is written."""
        first, last = self.folded.span(start, end)
        return self.original[first:last]
