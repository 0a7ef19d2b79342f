"""From a number and the name of its unit to figures; and every reading of a number that has none."""

import re
from collections.abc import Sequence
from typing import Final

from clara.knowledge.figures import Figure, FigureKind

_COUNTED: Final = frozenset({"people", "children", "times", "payments", "points", "credits", "inhabitants"})
# Short numbers that are dialled: of emergencies and the administration, of directories, of lines that Europe has in common.
_SHORT_PHONE = re.compile(r"0\d{2}|1\d{2}|100\d|116 ?\d{3}")
_FORM_CODE = re.compile(r"\d{3}")
_LAST_HOUR = 24


def measured(values: Sequence[float], unit: str, wording: str) -> list[Figure]:
    """Give the figures of a number with its unit; `wording` tells one foreign money from another."""
    return [figure for value in values for figure in _measured(value, unit, wording)]


def _measured(value: float, unit: str, wording: str) -> list[Figure]:
    if unit in _COUNTED:
        return [Figure(FigureKind.COUNT, value, unit)]
    plain = {
        "percent": Figure(FigureKind.PERCENTAGE, value),
        "euro": Figure(FigureKind.AMOUNT, value, "EUR"),
        "cent": Figure(FigureKind.AMOUNT, round(value / 100, 6), "EUR"),
        "other_money": Figure(FigureKind.AMOUNT, value, wording),
    }
    if unit in plain:
        return [plain[unit]]
    if unit == "age":
        return [Figure(FigureKind.AGE, value), Figure(FigureKind.PERIOD, value, "year")]
    return [Figure(FigureKind.PERIOD, value, unit), *_other_readings(value, unit)]


def _other_readings(value: float, unit: str) -> list[Figure]:
    if unit == "year":
        calendar = [Figure(FigureKind.DATE, f"{value:.0f}")] if _YEAR.fullmatch(f"{value:g}") else []
        return [*calendar, Figure(FigureKind.AGE, value)]
    if unit == "hour" and value.is_integer() and value <= _LAST_HOUR:
        return [Figure(FigureKind.TIME, f"{value:02.0f}:00")]
    if unit == "quarter" and value == 1:
        return [Figure(FigureKind.PERCENTAGE, 25.0)]
    return []


def bare(values: Sequence[float], written: str) -> list[Figure]:
    """Give what a number without a unit can be: a count, a year, a short phone, the code of a form."""
    figures = [Figure(FigureKind.COUNT, value) for value in values] if written[:1] != "0" or len(written) == 1 else []
    if _SHORT_PHONE.fullmatch(written):
        figures.append(Figure(FigureKind.PHONE, written.replace(" ", "")))
    if _YEAR.fullmatch(written):
        figures.insert(0, Figure(FigureKind.DATE, written))
    if _FORM_CODE.fullmatch(written):
        figures.append(Figure(FigureKind.FORM, written))
    return figures or [Figure(FigureKind.COUNT, written)]
