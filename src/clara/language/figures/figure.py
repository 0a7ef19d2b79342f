"""Figures as values: an amount, a share, a period, an age, a date, a phone, an address, a form, a norm, a count."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any


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


def as_json(figure: Figure) -> str:
    """Write a figure as it stands in data."""
    value = int(figure.value) if isinstance(figure.value, float) and figure.value.is_integer() else figure.value
    entry = {"kind": figure.kind.value, "value": value, **({"unit": figure.unit} if figure.unit else {})}
    return json.dumps(entry, ensure_ascii=False)
