"""Which years of a Spanish text are an age, by the words around them."""

import re
from typing import Final

_BEFORE: Final = re.compile(
    r"(?:(?:mayor|menor)(?:es)? (?:(?:de|a|con|extranjer\w+|espanol\w*|solter\w+)[ ,]+)*|\bedad\b[^.;:]{0,20}"
    r"|cumpl\w+(?: los)? |hij\w+ (?:\w+ )?(?:de|con) |nin\w+ de |personas? (?:\w+ )?(?:de|desde|entre|hasta)(?: los| hasta)? "
    r"|quien tenga |quienes tengan |jovenes (?:de|hasta)(?: hasta)? )$"
)
_AFTER: Final = re.compile(r"\s*(?:de edad|cumplidos|o mayores|o mas (?:de edad|y)|incluidos)")
_WITHOUT_UNIT: Final = re.compile(r"\b(?:mayor|menor)(?:es)? de (?:\d{1,2} (?:o|y|a) )?$")
# Characters: the phrases above fit, and a search of all that stands before would take quadratic time.
_CONTEXT: Final = 80
# Two numbers of years in a row that are both at least this are an age range ("de 18 a 22 años"), not a duration.
_ADULT: Final = 16


def are_ages(text: str, start: int, end: int, years: list[float]) -> bool:
    """Whether the years between two places of a folded text are told as ages."""
    around = _BEFORE.search(text[max(0, start - _CONTEXT) : start]) or _AFTER.match(text, end)
    return around is not None or (len(years) > 1 and min(years) >= _ADULT)


def is_age(text: str, start: int) -> bool:
    """Whether a number without a unit that begins at a place is an age: "mayores de 18 o 21"."""
    return _WITHOUT_UNIT.search(text[max(0, start - _CONTEXT) : start]) is not None
