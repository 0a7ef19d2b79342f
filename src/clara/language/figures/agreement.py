"""Whether a figure that a reply states is one of those that its evidence holds."""

import re
from collections.abc import Callable, Iterable, Mapping
from typing import Final

from clara.language.figures.figure import Figure, FigureKind, FoundFigure
from clara.language.fold import fold

# Units that are a number of another one. A month is no number of days, a working day no day, and 24 hours are no day.
_FACTORS: Final = {
    "week": (7.0, "day"),
    "fortnight": (15.0, "day"),
    "quarter": (3.0, "month"),
    "half_year": (6.0, "month"),
    "year": (12.0, "month"),
}
_EXACT = 1e-6
# Percentages of parts in words are rounded to two decimals.
_ROUNDED = 0.01


class HeldFigures:
    """The figures that may be stated. `exact` dates count only as they are: the day on which a page was looked at."""

    def __init__(self, figures: Iterable[Figure], exact: Iterable[str] = ()) -> None:
        self._by_kind: dict[FigureKind, list[Figure]] = {}
        for figure in dict.fromkeys(figures):
            self._by_kind.setdefault(figure.kind, []).append(figure)
        self._exact = frozenset(exact)
        self._dates = [_parts(str(figure.value)) for figure in self.of(FigureKind.DATE)]

    def of(self, kind: FigureKind) -> list[Figure]:
        """Give the figures of a kind."""
        return self._by_kind.get(kind, [])

    def holds(self, found: FoundFigure) -> bool:
        """Whether one of the readings of a figure is here."""
        return any(self.has(reading) for reading in found.readings)

    def has(self, stated: Figure) -> bool:
        """Whether a figure is here, in the same or another way of writing it."""
        if stated.kind is FigureKind.DATE:
            return self._has_date(str(stated.value))
        if stated.kind is FigureKind.AMOUNT:
            return any(self._pays(stated, held) for held in self.of(FigureKind.AMOUNT))
        near = _NEAR.get(stated.kind, (stated.kind,))
        if stated.kind is FigureKind.AGE and self._measures(stated.value):
            near = (FigureKind.AGE, FigureKind.PERIOD)
        return any(_same(stated, held) for kind in near for held in self.of(kind))

    def _measures(self, value: float | str) -> bool:
        """Whether the number is one of days or months here: a bare one beside it is the same ("en 30 días, y otros 30")."""
        return any(held.value == value and held.unit != "year" for held in self.of(FigureKind.PERIOD))

    def _pays(self, stated: Figure, held: Figure) -> bool:
        if not _equal(stated, held):
            return False
        money, _, rate = (stated.unit or "").partition("/")
        held_money, _, held_rate = (held.unit or "").partition("/")
        if money != held_money:
            return False
        if not rate or rate == held_rate:
            return True
        return not held_rate and self.has(Figure(FigureKind.PERIOD, 1.0, rate))

    def _has_date(self, stated: str) -> bool:
        if stated in self._exact:
            return True
        year, month, day = _parts(stated)
        for held_year, held_month, held_day in self._dates:
            if (month and month != held_month) or (day and day != held_day):
                continue
            if year is None or year == held_year:
                return True
            if month and held_year is None and any(other[0] == year for other in self._dates):
                return True
        return False


# Where else a figure of a kind may be: "23 años" is an age or a period, and "los 23" a count.
_NEAR: Final = {
    FigureKind.PERIOD: (FigureKind.PERIOD, FigureKind.AGE),
    FigureKind.AGE: (FigureKind.AGE, FigureKind.PERIOD, FigureKind.COUNT),
    FigureKind.COUNT: (FigureKind.COUNT, FigureKind.AGE),
}


def _same(stated: Figure, held: Figure) -> bool:
    if stated.kind in {FigureKind.PERIOD, FigureKind.AGE}:
        return _same_time(stated, held)
    if isinstance(stated.value, float):
        units = {stated.unit, held.unit} - {None}
        within = _ROUNDED if stated.kind is FigureKind.PERCENTAGE else _EXACT
        return _equal(stated, held, within) and len(units) < len(("one", "another"))
    same = _SAME_TEXT.get(stated.kind, str.__eq__)
    return same(stated.value, str(held.value)) and (stated.unit == held.unit or None in {stated.unit, held.unit})


def _same_time(stated: Figure, held: Figure) -> bool:
    if held.kind is FigureKind.COUNT:
        return held.unit is None and _equal(stated, held)
    units = ("year" if figure.kind is FigureKind.AGE else figure.unit for figure in (stated, held))
    (factor, base), (held_factor, held_base) = (_FACTORS.get(unit or "", (1.0, unit)) for unit in units)
    return base == held_base and abs(factor * _number(stated) - held_factor * _number(held)) < _EXACT


def _number(figure: Figure) -> float:
    return figure.value if isinstance(figure.value, float) else 0.0


def _equal(stated: Figure, held: Figure, within: float = _EXACT) -> bool:
    if isinstance(stated.value, float) and isinstance(held.value, float):
        return abs(stated.value - held.value) < within
    return stated.value == held.value


def _same_address(stated: str, held: str) -> bool:
    """Whether an address is the one held, or the bare name of its site."""
    (host, path), (held_host, held_path) = _cut(stated), _cut(held)
    return host == held_host and path in {"", held_path}


def _cut(address: str) -> tuple[str, str]:
    host, _, path = re.sub(r"^https?://", "", fold(address).cased, flags=re.IGNORECASE).partition("/")
    return host.lower().removeprefix("www."), path.rstrip("/")


def _parts(date: str) -> tuple[str | None, str | None, str | None]:
    """Cut a date into year, month and day, as far as they are told: "--06-30", "2026-06", "2026"."""
    match = re.fullmatch(r"(?:(\d{4})|-)(?:-(\d{2})(?:-(\d{2}))?)?", date)
    return (match[1], match[2], match[3]) if match else (date, None, None)


# How texts agree that need not be equal.
_SAME_TEXT: Final[Mapping[FigureKind, Callable[[str, str], bool]]] = {
    FigureKind.PROVISION: lambda stated, held: stated == held or held.startswith(f"{stated}."),
    FigureKind.FORM: lambda stated, held: stated in {held, *held.split("-")},  # the fee 012 is of the form 790-012
    FigureKind.URL: _same_address,
    FigureKind.EMAIL: lambda stated, held: stated.lower() == held.lower(),
}
