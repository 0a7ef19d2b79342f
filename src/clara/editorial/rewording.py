"""Putting new figures into the text of a fact. What comes out is read again: it holds the new figures, and no other change."""

import json
import re
from collections.abc import Iterator, Sequence
from typing import Any, Final

from clara.knowledge.procedure import Fact
from clara.language.figures.figure import Figure, FigureKind, as_json
from clara.language.figures.lexicon import SPANISH
from clara.language.figures.reader import spanish

_PHONE: Final = re.compile(r"\d(?:[ .]?\d){2,11}")


def reworded(fact: Fact, changes: Sequence[tuple[Figure, Figure]]) -> dict[str, Any] | None:
    """Give text and values of a fact with each first figure replaced by the second; None where the text leaves doubt."""
    text, values = fact.text, set(fact.values)
    for old, new in changes:
        expected = (spanish().values_in(text) - {old}) | {new}
        found = {one for one in _rewritten(text, old, new) if spanish().values_in(one) == expected}
        if len(found) != 1 or new in values:
            return None
        text = found.pop()
        values = (values - {old}) | {new}
    return {"text": text, "values": [json.loads(as_json(figure)) for figure in sorted(values, key=str)]}


def _rewritten(text: str, old: Figure, new: Figure) -> Iterator[str]:
    """Give the text with the old figure replaced at each place where it may stand."""
    for (start, end), written in _places(text, old, new):
        yield f"{text[:start]}{written}{text[end:]}"


def _places(text: str, old: Figure, new: Figure) -> Iterator[tuple[tuple[int, int], str]]:
    if isinstance(old.value, float) and isinstance(new.value, float):
        if 1.0 not in {old.value, new.value}:  # "1 mes" and "3 meses" differ in more than the number
            numbers = ((start, end) for start, end, value in spanish().numbers_in(text) if value == old.value)
            yield from ((span, _number(float(new.value), new.kind)) for span in numbers)
    elif old.kind is FigureKind.DATE:
        for before, after in zip(_dates(str(old.value)), _dates(str(new.value)), strict=False):
            yield from ((match.span(), after) for match in re.finditer(re.escape(before), text))
    elif old.kind is FigureKind.PHONE:
        phones = (match for match in _PHONE.finditer(text) if re.sub(r"\D", "", match[0]) == old.value)
        yield from ((match.span(), _grouped(str(new.value))) for match in phones)


def _number(value: float, kind: FigureKind) -> str:
    """Write a number as Spanish does: 1.234,5. An amount with cents has two digits of them."""
    whole, _, part = f"{value:.15g}".partition(".")
    grouped = f"{int(whole):,}".replace(",", ".")
    part = part.ljust(2, "0") if part and kind is FigureKind.AMOUNT else part
    return f"{grouped},{part}" if part else grouped


def _dates(value: str) -> list[str]:
    """Give the ways in which a day may be written, in a fixed order; none for parts of days."""
    match = re.fullmatch(r"(?:(\d{4})|-)-(\d{2})-(\d{2})", value)
    if match is None:
        return []
    year, month, day = match[1], int(match[2]), int(match[3])
    name = spanish().lexicon(SPANISH).month_name(month)
    spelt = f"{day} de {name}" if name else ""
    return [f"{spelt} de {year}", f"{day:02d}/{month:02d}/{year}", f"{day}/{month}/{year}"] if year else [spelt]


def _grouped(digits: str) -> str:
    return " ".join(re.findall(r"\d{3}", digits)) if len(digits) % 3 == 0 else digits
