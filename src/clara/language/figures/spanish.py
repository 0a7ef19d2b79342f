"""Reading the figures of a Spanish text: its numbers, their units, and what they measure."""

import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator

from clara.language.figures.figure import Figure, FigureKind

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


# Letters that `re.IGNORECASE` takes for i and s though `lower` does not, and hyphens that do not break.
_LOOKALIKES = str.maketrans({"ı": "i", "İ": "I", "ſ": "s", "\u2010": "-", "\u2011": "-"})


class _Text:
    """A text in which what has been read is blanked out, place by place."""

    def __init__(self, text: str) -> None:
        text = unicodedata.normalize("NFC", text).translate(_LOOKALIKES)
        text = "".join(str(unicodedata.decimal(character)) if character.isdecimal() else character for character in text)
        self.whole = "\n".join(" ".join(line.split()) for line in text.splitlines())  # blanks of any width become plain ones
        self.rest = self.whole

    def take(self, pattern: re.Pattern[str]) -> list[re.Match[str]]:
        """Give every match in what is left, and blank them."""
        matches = list(pattern.finditer(self.rest))
        if matches:
            self._blank(match.span() for match in matches)
        return matches

    def take_pairs(self, heads: re.Pattern[str], tail: re.Pattern[str]) -> list[tuple[re.Match[str], re.Match[str]]]:
        """Give every head that its tail follows at once, and blank the two.

        One pattern of both would be tried again from each later start within a long head: quadratic time.
        """
        pairs: list[tuple[re.Match[str], re.Match[str]]] = []
        for head in heads.finditer(self.rest):
            read = pairs[-1][1].end() if pairs else 0  # a tail can hold what looks like a head: "3 mil euros"
            if head.start() >= read and (found := tail.match(self.rest, head.end())):
                pairs.append((head, found))
        if pairs:
            self._blank((head.start(), found.end()) for head, found in pairs)
        return pairs

    def _blank(self, spans: Iterable[tuple[int, int]]) -> None:
        characters = list(self.rest)
        for start, end in spans:
            characters[start:end] = "\0" * (end - start)
        self.rest = "".join(characters)


Rule = Callable[[_Text], Iterator[Figure]]


def figures_in(text: str) -> frozenset[Figure]:
    """Read every figure of a Spanish text."""
    left = _Text(text)
    return frozenset(figure for rule in _RULES for figure in rule(left))


_LINK = re.compile(r"https?://[^\s\0«»“”\"<>]+", re.IGNORECASE)
_EMAIL = re.compile(r"(?<![\w.+-])[\w.+-]+@[\w-]+(?:\.[\w-]+)+")
_SITE = re.compile(
    r"(?<![\w@.])(?<![\w-]-)(?:[a-z0-9-]+\.)+(?:es|cat|eus|gal|eu|org|com)(?:/[^\s\0,;)]*)?(?![\w@])",
    re.IGNORECASE,
)
_AFTER_ADDRESS = ").]},;:!?…*'’"


def _addresses(text: _Text) -> Iterator[Figure]:
    for kind, pattern in ((FigureKind.URL, _LINK), (FigureKind.EMAIL, _EMAIL), (FigureKind.URL, _SITE)):
        for match in text.take(pattern):
            yield Figure(kind, match[0].rstrip(_AFTER_ADDRESS))


_NORM = re.compile(
    r"\bBOE-[A-Z]-\d{4}-\d{1,6}\b"
    r"|\b(?:(?:Reglamento|Directiva|Decisión)(?: \((?:UE|CE|CEE)\))? )?\d{4}/\d{1,4}/(?:UE|CEE|CE)\b"
    r"|\b(?:Reglamento|Directiva|Decisión) \((?:UE|CE|CEE)\) (?:n\.?º ?)?\d{4}/\d{1,4}\b"
    r"|\b(?:Ley Orgánica|LO|Ley|Real Decreto-ley|Real Decreto Legislativo|Real Decreto|RDLeg|RDL|RD-ley|RD|Decreto-ley|Decreto"
    r"|Reglamento|Directiva|Instrucción|Instrucciones|Orden|Resolución)(?: \(?(?:UE|CE|SEM|ISM|DGM|DGGM)\)?)? (?:n\.?º ?)?"
    r"(?:[A-Z]{2,4}/)?\d{1,4}/(?:19|20)\d{2}(?:/(?:UE|CE))?\b"
    # Without a name: neither the end of a date (20/5/2025) nor a school year (2025/2026).
    r"|(?<![\w/-])(?:[A-Z]{2,4}/)?(?!(?:19|20)\d{2}/)\d{1,4}/(?:19|20)\d{2}(?:/(?:UE|CE))?\b"
)
_SHORT_NORMS = {
    "LO ": "Ley Orgánica ",
    "RD ": "Real Decreto ",
    "RDL ": "Real Decreto-ley ",
    "RD-ley ": "Real Decreto-ley ",
    "RDLeg ": "Real Decreto Legislativo ",
}


def _norms(text: _Text) -> Iterator[Figure]:
    for match in text.take(_NORM):
        norm = re.sub(r"n\.?º ?", "", match[0])
        short = next((short for short in _SHORT_NORMS if norm.startswith(short)), "")
        yield Figure(FigureKind.NORM, _SHORT_NORMS.get(short, "") + norm.removeprefix(short))


_ARTICLE = r"(?:1\d{3}|\d{1,3})(?!\d)(?:\.\d{1,2}(?!\d))*(?:\.[a-zº](?![a-z]))?(?: (?:bis|ter|quater))?"
_ORDINAL = r"\d{1,3}(?!\d)\.?[ªa]"
_PROVISION = re.compile(
    rf"\b(arts?\.|art[ií]culos?) ?({_ARTICLE}(?:(?:, | a | y | e |-){_ARTICLE})*)"
    # The short form only in capitals: "da 600 €" is a verb.
    r"|\b(disposici[oó]n(?:es)? (?:adicional(?:es)?|transitorias?|final(?:es)?)|(?-i:D[AFT])|disp\. (?:adic|trans|final)\.) ?"
    rf"({_ORDINAL}?(?:(?:, | a | y ){_ORDINAL})*)",
    re.IGNORECASE,
)
_DISPOSITION = {"a": "DA", "t": "DT", "f": "DF"}


def _provisions(text: _Text) -> Iterator[Figure]:
    for match in text.take(_PROVISION):
        if match[1]:
            for article in re.findall(_ARTICLE, match[2]):
                yield Figure(FigureKind.PROVISION, f"art. {article}")
        else:
            letter = re.sub(r"^(disp\S*\s+|D)", "", match[3], flags=re.IGNORECASE)[0].lower()
            for number in re.findall(r"\d+", match[4]):
                yield Figure(FigureKind.PROVISION, f"{_DISPOSITION[letter]} {number}")


_CODE = r"EX[- ]?\d{2}|TA\.?\d{1,2}(?:/\d)?|\d{2,3}"
_FORM = re.compile(
    r"\bEX-?\d{2}\b|\b(?-i:EX) \d{2}\b|\bTA\.?\d{1,2}(?:/\d)?\b"
    r"|\b(?:(?:modelo|tasa|impreso) )?790(?:[-/ ]|, )(?:c[oó]digo )?\d{3}\b(?! ?\d)"
    r"|\b(?:tasas?|modelos?|impresos?|c[oó]digos?|formularios?|mod\.) ?(?:n\.?º )?(?:790 )?(?:c[oó]digo )?\d{2,3}"
    r"(?:(?:, |,? (?:o|y|ni|en vez de|en lugar de) (?:(?:la|el) )?)\d{3}\b)*\b(?![.,]?\d| ?[€%]| euros?\b)",
    re.IGNORECASE,
)
# A level, a certificate, a screen of a machine: "DELE A2", "U1".
_LETTERED = re.compile(r"\b[A-Z]{1,3}\d{1,3}\b(?![.,]\d)")


def _forms(text: _Text) -> Iterator[Figure]:
    for match in text.take(_FORM):
        codes = re.findall(_CODE, match[0], re.IGNORECASE)
        prefix = "790-" if codes[0] == "790" and len(codes) > 1 else ""
        for code in codes[1:] if prefix else codes:
            yield Figure(FigureKind.FORM, prefix + re.sub(r"^(EX|TA)[-. ]?", r"\1-", code.upper()))
    for match in text.take(_LETTERED):
        yield Figure(FigureKind.FORM, match[0])


_DAY = r"(?:3[01]|[12]\d|0?[1-9])(?!\d)"
_YEAR_FIRST = re.compile(r"(?<![\w/-])\d{4}-(?:1[0-2]|0[1-9])-(?:3[01]|[12]\d|0[1-9])(?![\w/-])")
_DAY_FIRST = re.compile(rf"(?<![\w./-])({_DAY})([-/.])(1[0-2]|0?[1-9])\2(\d{{4}})(?![\w/-]|\.\d)")
_SPELT_DAY = rf"{_DAY}(?:\.?[ºo](?!\w))?"
_DAYS = re.compile(rf"(?<![\w.,/]){_SPELT_DAY}(?:\s*(?:,|al?|y|o|-|–)\s*(?:el )?{_SPELT_DAY})*", re.IGNORECASE)
_OF_MONTH = re.compile(rf" de ({MONTH})(?: (?:del? (?:año )?)?(\d{{4}}))?(?!\w)", re.IGNORECASE)
_MONTH_AND_YEAR = re.compile(rf"\b({MONTH})(?: del?(?: año)?)? (\d{{4}})\b", re.IGNORECASE)
_SCHOOL_YEARS = re.compile(r"(?<![\w/-])((?:19|20)\d{2})[-–/]((?:19|20)\d{2}|\d{2})(?![\w/-])")
_BARE_YEAR = re.compile(r"(?<![\w.,/€-])(?:19|20)\d{2}(?![\w€]|[.,]\d|\s*(?:€|euros))")
_YEARS = range(1900, 2100)
_TIMES = re.compile(r"(?<![\d:])([01]?\d|2[0-4]):([0-5]\d)(?![\d:])")


def _dates(text: _Text) -> Iterator[Figure]:
    for match in text.take(_YEAR_FIRST):
        yield Figure(FigureKind.DATE, match[0])
    for match in text.take(_DAY_FIRST):
        yield Figure(FigureKind.DATE, f"{match[4]}-{int(match[3]):02d}-{int(match[1]):02d}")
    for days, month in text.take_pairs(_DAYS, _OF_MONTH):
        for day in re.findall(r"\d+", days[0]):
            yield Figure(FigureKind.DATE, f"{month[2] or '-'}-{MONTHS[month[1].lower()]:02d}-{int(day):02d}")
    for match in text.take(_MONTH_AND_YEAR):
        yield Figure(FigureKind.DATE, f"{match[2]}-{MONTHS[match[1].lower()]:02d}")
    for match in text.take(_SCHOOL_YEARS):
        yield Figure(FigureKind.DATE, match[1])
        yield Figure(FigureKind.DATE, match[1][: -len(match[2])] + match[2])


def _years(text: _Text) -> Iterator[Figure]:
    for match in text.take(_BARE_YEAR):
        yield Figure(FigureKind.DATE, match[0])


def _times(text: _Text) -> Iterator[Figure]:
    for match in text.take(_TIMES):
        yield Figure(FigureKind.TIME, f"{int(match[1]):02d}:{match[2]}")


_PHONES = re.compile(
    r"(?<![\w.,/-])(?:(?:\+|00)34[ .]?)?([6789]\d{2}(?:[ .]?\d{3}){2}|[6789]\d{2}(?:[ .]?\d{2}){3}"
    r"|[89]\d(?:[ .]?\d{3})(?:[ .]?\d{2}){2}|116 ?\d{3})(?!\w|[.,-]?\d)"
)
_SHORT_PHONES = re.compile(r"(?<![\w.,/-])(0\d{2}|112|1006|1003)(?!\w|[.,-]?\d|\s*[€%])")


def _phones(text: _Text) -> Iterator[Figure]:
    for pattern in (_PHONES, _SHORT_PHONES):
        for match in text.take(pattern):
            yield Figure(FigureKind.PHONE, re.sub(r"\D", "", match[1]))


_ANY_NUMBER = re.compile(DIGITS)

# What stands before or after a number of years that makes it an age.
_AGE_BEFORE = re.compile(
    r"(?:(?:mayor|menor)(?:es)? (?:(?:de|a|con|extranjer\w+|español\w*|solter\w+)[ ,]+)*|\bedad\b[^.;:]{0,20}"
    r"|cumpl\w+(?: los)? |hij\w+ (?:\w+ )?(?:de|con) |niñ\w+ de |personas? (?:\w+ )?(?:de|desde|entre|hasta)(?: los| hasta)? "
    r"|quien tenga |quienes tengan |jóvenes (?:de|hasta)(?: hasta)? )$",
    re.IGNORECASE,
)
_AGE_AFTER = re.compile(r"\s*(?:de edad|cumplidos|o mayores|o más (?:de edad|y)|incluidos)", re.IGNORECASE)
_AGE_CONTEXT = 80  # characters: the phrases above fit, and a search of all that stands before would take quadratic time
# Two numbers of years in a row that are both at least this are an age range ("de 18 a 22 años"), not a duration.
_ADULT = 16
_BARE_AGES = re.compile(r"\b(?:mayor|menor)(?:es)? de (\d{1,2})(?: (?:o|y|a) (\d{1,2}))?(?![\w%€.,]*\d|\s*[%€])", re.IGNORECASE)


def _amounts(text: _Text) -> Iterator[Figure]:
    for series, euros in text.take_pairs(SERIES, EUROS):
        for number in numbers_in(series[0], euros[1]):
            yield Figure(FigureKind.AMOUNT, number, f"EUR/{euros.lastgroup}" if euros.lastgroup else "EUR")


def _shares(text: _Text) -> Iterator[Figure]:
    for series, _ in text.take_pairs(SERIES, SHARE):
        for number in numbers_in(series[0]):
            # "en 2027 al 93 por ciento" is one share: nothing is two thousand per cent of anything.
            year = number in _YEARS
            yield Figure(FigureKind.DATE, f"{number:.0f}") if year else Figure(FigureKind.PERCENTAGE, number)


def _periods(text: _Text) -> Iterator[Figure]:
    for series, unit in text.take_pairs(SERIES, TIME_UNIT):
        numbers = numbers_in(series[0])
        before = text.whole[max(0, series.start() - _AGE_CONTEXT) : series.start()]
        around = _AGE_BEFORE.search(before) or _AGE_AFTER.match(text.whole, unit.end())
        aged = unit.lastgroup == "year" and (around or (len(numbers) > 1 and min(numbers) >= _ADULT))
        for number in numbers:
            yield Figure(FigureKind.AGE, number) if aged else Figure(FigureKind.PERIOD, number, unit.lastgroup)


def _ages(text: _Text) -> Iterator[Figure]:
    for match in text.take(_BARE_AGES):
        for number in numbers_in(match[0]):
            yield Figure(FigureKind.AGE, number)


def _counts(text: _Text) -> Iterator[Figure]:
    for pattern in (THINGS, SCALED):
        for series, things in text.take_pairs(SERIES, pattern):
            for number in numbers_in(series[0], things[1]):
                yield Figure(FigureKind.COUNT, number, things.lastgroup)
    for match in text.take(_ANY_NUMBER):
        yield Figure(FigureKind.COUNT, number_in(match[0]))


_RULES: tuple[Rule, ...] = (
    _addresses, _norms, _provisions, _forms, _dates, _times, _amounts, _shares, _periods, _ages, _phones, _years, _counts,
)  # fmt: skip
