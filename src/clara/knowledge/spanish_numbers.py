"""The numbers of a Spanish text and their units: "1.234,56 €", "treinta y un días", "de 3 a 6 meses", "2 millones"."""

import re

_ONES = ["un|uno|una", "dos", "tres", "cuatro", "cinco", "seis", "siete", "ocho", "nueve"]
_SIMPLE = [
    "cero", *_ONES, "diez", "once", "doce", "trece", "catorce", "quince",
    "dieciséis|dieciseis", "diecisiete", "dieciocho", "diecinueve",
    "veinte", "veintiún|veintiun|veintiuno|veintiuna", "veintidós|veintidos", "veintitrés|veintitres", "veinticuatro",
    "veinticinco", "veintiséis|veintiseis", "veintisiete", "veintiocho", "veintinueve",
]  # fmt: skip
_TENS = ["treinta", "cuarenta", "cincuenta", "sesenta", "setenta", "ochenta", "noventa"]
_HUNDREDS = [
    "cien|ciento",
    *(f"{stem}ientos|{stem}ientas" for stem in ("dosc", "tresc", "cuatroc", "quin", "seisc", "setec", "ochoc", "novec")),
]
_WORDS: dict[str, int] = {
    word: step * place
    for step, first, numbers in ((1, 0, _SIMPLE), (10, 3, _TENS), (100, 1, _HUNDREDS))
    for place, spellings in enumerate(numbers, first)
    for word in spellings.split("|")
}
_BELOW_100 = f"(?:(?:{'|'.join(_TENS)})(?: y (?:{'|'.join(_ONES)}))?|{'|'.join(_SIMPLE)})"
# "ciento" is no number by itself: it is the end of "por ciento".
_BELOW_1000 = rf"(?:ciento {_BELOW_100}|cien|(?:{'|'.join(_HUNDREDS[1:])})(?: {_BELOW_100})?|{_BELOW_100})\b"
# The letters are those a number word begins with: most words of a text are passed over at once.
_SPELT = rf"\b(?=[cdmnoqstuv])(?:(?:{_BELOW_1000} )?mil\b(?: {_BELOW_1000})?|{_BELOW_1000})"

# A float holds whole numbers of this length exactly; a longer run of digits (an account) is cut into several.
DIGITS = r"(?:\d{1,3}(?:\.\d{3}){1,3}(?!\d)|\d{1,12})(?:,\d{1,6})?"
_NUMBER = rf"(?:(?<![\w.,]){DIGITS}(?!\w|[.,]\d)|{_SPELT})"
NUMBERS = re.compile(_NUMBER, re.IGNORECASE)
SERIES = re.compile(rf"{_NUMBER}(?:\s*(?:,|;|al?|o|u|y|e|ó|-|–|/|hasta|frente a)\s*{_NUMBER})*", re.IGNORECASE)


def number_in(text: str) -> float:
    """Read one number in digits or words."""
    if text[0].isdigit():
        return float(text.replace(".", "").replace(",", "."))
    total = 0
    for word in text.lower().split():
        total = max(total, 1) * 1000 if word == "mil" else total + _WORDS.get(word, 0)  # "y" adds nothing
    return float(total)


def numbers_in(series: str, scale: str | None = None) -> list[float]:
    """Read the numbers of a series; the scale behind it ("millones") holds for all of them."""
    factor = 1 if scale is None else 1_000 if scale.lower() == "mil" else 1_000_000
    return [round(number_in(match[0]) * factor, 6) for match in NUMBERS.finditer(series)]


def _either(named: dict[str, str]) -> str:
    # The name of the pattern that matches is the last group of the match.
    return "(?:" + "|".join(f"(?P<{name}>{pattern})" for name, pattern in named.items()) + ")"


_PER = {
    "month": r"(?:/ ?|al |por |cada )mes|mensual(?:es)?",
    "year": r"(?:/ ?|al |por |cada )año|anual(?:es)?",
    "week": r"(?:/ ?|al |por |cada |a la )semana",
    "day": r"(?:/ ?|al |por |cada )d[ií]a|diari[oa]s?",
    "hour": r"(?:/ ?|por |cada |la )hora",
}
_TIME_UNITS = {
    "working_day": r"d[ií]as? (?:h[aá]bil(?:es)?|laborables?)",
    "day": r"d[ií]as?(?: naturales)?",
    "week": r"semanas?",
    "month": r"mes(?:es)?|mensualidad(?:es)?",
    "quarter": r"trimestres?",
    "year": r"años?",
    "school_year": r"cursos?",
    "hour": r"horas?",
    "minute": r"minutos?",
}
_COUNTED = {
    "times": r"veces",
    "payments": r"pagas",
    "people": r"personas?|miembros?",
    "children": r"hijos?|menores|niños?",
    "credits": r"créditos?",
    "points": r"puntos?",
    "inhabitants": r"habitantes",
    "kW": r"kWh?",
    "MB": r"MB",
    "m2": r"m²|metros cuadrados",
}
_SCALE = r"(mil|mill[oó]n(?:es)?)\b"
MONTHS = {
    "enero": 1, "febrero": 2, "marzo": 3, "abril": 4, "mayo": 5, "junio": 6, "julio": 7, "agosto": 8,
    "septiembre": 9, "setiembre": 9, "octubre": 10, "noviembre": 11, "diciembre": 12,
}  # fmt: skip
MONTH = "|".join(MONTHS)

# What follows a series. Where a scale can stand, it is the first group.
EUROS = re.compile(rf"\s*(?:{_SCALE}(?: de)? ?)?(?:€|eur(?:os?)?\b)(?:\s*{_either(_PER)}\b)?", re.IGNORECASE)
SHARE = re.compile(r"\s*(?:%|por (?:ciento|cien)\b)", re.IGNORECASE)
TIME_UNIT = re.compile(rf"\s+{_either(_TIME_UNITS)}\b(?!\s+de\s+(?:{MONTH}))", re.IGNORECASE)
THINGS = re.compile(rf"\s*(?:{_SCALE}(?: de)? )?{_either(_COUNTED)}\b", re.IGNORECASE)
SCALED = re.compile(rf"\s+{_SCALE}", re.IGNORECASE)
