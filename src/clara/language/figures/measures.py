"""Numbers with what they measure, read word by word, and every reading of one without a unit."""

import re
from collections.abc import Iterable, Sequence, Set
from dataclasses import dataclass, replace
from typing import Final

from clara.language.figures.figure import Figure, FigureKind, FigureText, Stated
from clara.language.figures.lexicon import IDEOGRAPHS, SPANISH, Lexicon, Unit, chinese, readings
from clara.language.phrases import Phrases
from clara.language.tokens import Token, texts_of, tokens_of

# Sizes are counted, too.
_SIZES: Final = ("kW", "MB", "m2")
_COUNTED: Final = frozenset({"people", "children", "times", "payments", "points", "credits", "inhabitants", *_SIZES})
# Short numbers that are dialled: of emergencies and the administration, of directories, of lines that Europe has in common.
_SHORT_PHONE = re.compile(r"0\d{2}|1\d{2}|100\d|116 ?\d{3}")
# Those that are hardly ever the number of anything else.
_EMERGENCY: Final = frozenset({"112", "1003", "1006"})
# What facts count, as it is written in them; other words behind a number are no unit there.
_COUNTED_IN_FACTS: Final = frozenset(
    {
        *("persona", "personas", "miembro", "miembros", "hijo", "hijos", "menores", "nino", "ninos"),
        *("credito", "creditos", "punto", "puntos", "habitantes", "veces", "pagas"),
    }
)
_FORM_CODE = re.compile(r"\d{3}")
_LAST_HOUR = 24


def measured(values: Sequence[float], unit: Unit) -> list[Figure]:
    """Give the figures of a number with its unit, whose wording tells one foreign money from another."""
    return [figure for value in values for figure in _measured(value, unit.name, unit.wording)]


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
    code = written[:1] == "0" and len(written) > 1 and written.isdecimal()
    figures = [] if code else [Figure(FigureKind.COUNT, value) for value in values]
    if _SHORT_PHONE.fullmatch(written):
        figures.insert(0 if written in _EMERGENCY else len(figures), Figure(FigureKind.PHONE, written.replace(" ", "")))
    if _YEAR.fullmatch(written):
        figures.insert(0, Figure(FigureKind.DATE, written))
    if _FORM_CODE.fullmatch(written):
        figures.append(Figure(FigureKind.FORM, written))
    return figures or [Figure(FigureKind.COUNT, written)]


# Which years of a Spanish text are an age, by the words around them.
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


_SIGNS: Final = {"€": "EUR", "$": "$", "£": "£", "eur": "EUR", "euro": "EUR", "euros": "EUR"}
_ROMAN: Final = {"II": 2, "III": 3, "IV": 4, "VI": 6, "VII": 7, "VIII": 8, "IX": 9, "XI": 11, "XII": 12}
_IDEOGRAPH = re.compile(IDEOGRAPHS)
_YEAR = re.compile(r"(?:19|20)\d{2}")
_MONTH_DAYS = 31
_WHOLE_DAY = 24.0
# A longer list of numbers is read number by number: each start would try the whole list again.
_LONGEST_SERIES = 12
# Fillers between a number and its unit: "los 3 primeros meses naturales de ...".
_MOST_FILLERS = 2
# The ending of an ordinal or of a case, right behind digits: "1er", "15th", "30-го".
_ENDING = re.compile(r"\.?(?:er|ere|st|nd|rd|th|o|a|e|eme|го|е|й|ое|му)$")


@dataclass(frozen=True, slots=True)
class Number:
    """A number at a place among the tokens. `values` are its readings, `written` its digits, empty when in words.

    `scale` is what a word behind the digits multiplies them by.
    """

    values: tuple[float, ...]
    start: int
    end: int
    written: str = ""
    weak: bool = False
    scale: float = 1.0


class Scan:
    """One pass over the tokens of a page."""

    def __init__(self, page: FigureText, lexicon: Lexicon) -> None:
        self._page = page
        self._words = lexicon
        self._tokens: list[Token] = tokens_of(page.rest)
        self._said = texts_of(self._tokens)
        self._rate: tuple[str, int] | None = None

    def read(self) -> None:
        """Read everything, left to right."""
        place = 0
        while place < len(self._said):
            place = next((end for step in self._steps if (end := step(self, place)) is not None), place + 1)

    def _whole(self, place: int) -> int | None:
        if (found := self._words.wholes.one_at(self._said, place)) is None:
            return None
        (number, unit), end = found
        return self._hint(place, end, measured((number,), Unit(unit, "")))

    def _signed(self, place: int) -> int | None:
        """Read a currency or a percent sign that stands before its number, and the Chinese "of a hundred"."""
        text = self._said[place]
        of_hundred = self._said[place : place + 3] == ["百", "分", "之"]
        behind = place + (3 if of_hundred else 1)
        if not (text in _SIGNS or text == "%" or of_hundred) or (number := self._number(behind)) is None:
            return None
        if text in _SIGNS and not number.written:
            return None
        if self._words.units.one_at(self._said, number.end) and not of_hundred:
            return None
        if text in _SIGNS:
            rate = self._rate_behind(number.end, place)
            self._note(place, number.end, self._amounts(number.values, _SIGNS[text], rate))
            return number.end
        self._note(place, number.end, [Figure(FigureKind.PERCENTAGE, value) for value in number.values])
        return number.end

    def _measure(self, place: int) -> int | None:
        """Read a number or a series of them, with the unit or the month behind."""
        first = self._number(place)
        if first is None:
            return None
        series, end = [first], first.end
        while True:
            if (month := self._month_behind(series, end)) is not None:
                return month
            if (unit := self._unit_behind(end)) is not None:
                # A word stands between the number and its unit; "de" behind a million is none.
                scaled = self._said[end : end + 1] == ["de"] and self._words.numbers.scale_at(self._said, end - 1) is not None
                return self._with_unit(series, *unit, filled=self._words.units.at(self._said, end + scaled) is None)
            following = self._following(series[-1], end) if len(series) < _LONGEST_SERIES else None
            if following is None:
                return self._without_unit(first)
            series.append(following)
            end = following.end

    def _month_first(self, place: int) -> int | None:
        """Read a month with the day or the year behind it, or alone."""
        found = self._words.months.one_at(self._said, place)
        if found is None:
            return None
        month, end = found
        day = self._number(end)
        if day is not None and self._is_day(day) and self._unit_behind(day.end) is None:
            year, last = self._year_behind(day.end)
            self._note(place, last, [Figure(FigureKind.DATE, f"{year or '-'}-{month:02d}-{day.values[0]:02.0f}")])
            return last
        year, last = self._year_behind(end)
        if year is None and self._text(place, end) in self._words.only_with_day:
            return None
        self._note(
            place, last, [Figure(FigureKind.DATE, f"{year or '-'}-{month:02d}")], spelt=not year, values=None if year else ()
        )
        return last

    def _share(self, place: int) -> int | None:
        if (found := self._words.shares.one_at(self._said, place)) is None:
            return None
        return self._hint(place, found[1], [Figure(FigureKind.PERCENTAGE, found[0])])

    def _rhythm(self, place: int) -> int | None:
        if (found := self._words.rates.one_at(self._said, place)) is None:
            return None
        self._rate = found
        return self._hint(place, found[1], [Figure(FigureKind.PERIOD, 1.0, found[0])])

    def _roman(self, place: int) -> int | None:
        token = self._tokens[place]
        value = _ROMAN.get(self._page.folded.cased[token.start : token.end])
        return None if value is None else self._hint(place, place + 1, [Figure(FigureKind.COUNT, float(value))])

    _steps = (_whole, _signed, _measure, _month_first, _share, _rhythm, _roman)

    def _number(self, place: int) -> Number | None:
        if place >= len(self._said):
            return None
        token = self._tokens[place]
        if token.digits:
            values, end = readings(token.text), place + 1
            if (scale := self._words.numbers.scale_at(self._said, end)) and values:
                scaled = tuple(round(value * scale[0], 6) for value in values)
                return Number(scaled, place, scale[1], token.text, scale=scale[0])
            return Number(values, place, self._past_ending(end), token.text)
        if self._words.language == "zh" and _IDEOGRAPH.fullmatch(token.text):
            return self._ideographs(place)
        found = self._words.numbers.at(self._said, place)
        if found is None:
            return None
        weak = self._text(place, found[1]) in self._words.only_with_unit
        return Number((found[0],), place, found[1], weak=weak)

    def _ideographs(self, place: int) -> Number:
        end = place
        while end < len(self._said) and _IDEOGRAPH.fullmatch(self._said[end]):
            end += 1
        return Number((chinese(self._text(place, end).replace(" ", "")),), place, end, weak=True)

    def _past_ending(self, end: int) -> int:
        """Pass the ending of an ordinal that is written on to the digits."""
        for length in (2, 1):
            part = self._tokens[end : end + length]
            before = self._tokens[end - 1].end
            glued = all(
                token.start == last for token, last in zip(part, [before, *(token.end for token in part)], strict=False)
            )
            if len(part) == length and glued and _ENDING.fullmatch("".join(token.text for token in part).lstrip("-")):
                return end + length
        return end

    def _following(self, last: Number, end: int) -> Number | None:
        """Give the next number of a series: "3 a 6", "5, 10 y 15", "tres (3)"."""
        if end < len(self._said) and self._said[end] == "(":
            number = self._number(end + 1)
            closed = number is not None and number.end < len(self._said) and self._said[number.end] == ")"
            return replace(number, end=number.end + 1) if number and closed and number.values == last.values else None
        found = self._words.between.one_at(self._said, end)
        return self._number(found[1]) if found else None

    def _unit_behind(self, end: int) -> tuple[Unit, int] | None:
        """Give the unit behind a number, its wording and its end; a hyphen and a few words may stand between."""
        place = end
        for _ in range(_MOST_FILLERS + 1):
            if place < len(self._said) and self._said[place] == "-":
                place += 1
            if found := self._words.units.one_at(self._said, place):
                return found
            filler = self._words.fillers.one_at(self._said, place)
            if filler is None:
                return None
            place = filler[1]
        return None

    def _with_unit(self, series: Sequence[Number], unit: Unit, end: int, *, filled: bool) -> int:
        rate = self._rate_behind(end, series[0].start)
        aged = unit.name == "year" and self._are_ages(series, end)
        if unit.name == "hour" and series[-1].values == (_WHOLE_DAY,) and (daily := self._words.rates.one_at(self._said, end)):
            end = daily[1] if daily[0] == "day" else end  # "24 hours a day" is the whole day, not one day
        told = not filled and (unit.name not in _COUNTED or unit.name in _SIZES or unit.wording in _COUNTED_IN_FACTS)
        for number in series:
            final = number is series[-1]
            idiom = not number.written and number.values == (1.0,) and unit.name in _IDIOMS
            if idiom and len(series) == 1:
                self._page.idioms += measured(number.values, unit) if told else ()
                continue  # "una vez concedido", "una persona"
            found = self._amounts(number.values, "EUR", rate) if unit.name == "euro" else measured(number.values, unit)
            values = self._values(number, found, series[-1].scale, aged=aged) if told else self._bare_values(number)
            others = [] if final else bare(number.values, number.written)
            self._note(number.start, end if final else number.end, [*found, *others], spelt=not number.written, values=values)
        return end

    def _are_ages(self, series: Sequence[Number], end: int) -> bool:
        """Whether years are told as ages."""
        if self._words.language != SPANISH:
            return False
        around = _BEFORE.search(self._before(series[0])) or _AFTER.match(self._page.folded.text, self._tokens[end - 1].end)
        adult = all(number.values and number.values[0] >= _ADULT for number in series)
        return around is not None or (len(series) > 1 and adult)

    def _before(self, number: Number) -> str:
        start = self._tokens[number.start].start
        return self._page.folded.text[max(0, start - _CONTEXT) : start]

    def _values(self, number: Number, found: Sequence[Figure], scale: float, *, aged: bool) -> Stated:
        """Give what a fact states: an age, a number of a series whose last one has a scale ("1 o 3 millones"), a year.

        Nothing is two thousand per cent of anything.
        """
        if number.written and scale > number.scale and found and isinstance(found[0].value, float):
            return (replace(found[0], value=round(found[0].value * scale, 6)),)
        if aged:
            return tuple(Figure(FigureKind.AGE, value) for value in number.values[:1])
        if found and found[0].kind is FigureKind.PERCENTAGE and _YEAR.fullmatch(number.written):
            return (Figure(FigureKind.DATE, number.written),)
        return None

    def _bare_values(self, number: Number) -> Stated:
        """Give what a fact states with a number that has no unit: nothing in words; a point separates thousands only."""
        if not number.written:
            return ()
        if number.values and _WITHOUT_UNIT.search(self._before(number)):
            return (Figure(FigureKind.AGE, number.values[0]),)
        if re.fullmatch(r"\d+(?:\.\d+)+", number.written) and (len(number.values) != 1 or number.values[0] % 1):
            whole = re.fullmatch(r"\d{1,3}(?:\.\d{3})+", number.written)
            return None if whole else tuple(Figure(FigureKind.COUNT, float(part)) for part in number.written.split("."))
        return tuple(bare(number.values, number.written)[:1])

    def _without_unit(self, number: Number) -> int:
        if number.written or not (number.weak or number.values == (1.0,)):
            figures, values = bare(number.values, number.written), self._bare_values(number)
            self._note(number.start, number.end, figures, spelt=not number.written, values=values)
            return number.end
        share = self._share(number.start)
        return share if share is not None else number.start + 1

    def _amounts(self, values: Sequence[float], currency: str, rate: str | None) -> list[Figure]:
        unit = f"EUR/{rate}" if rate and currency == "EUR" else currency
        return [Figure(FigureKind.AMOUNT, value, unit) for value in values]

    def _rate_behind(self, end: int, start: int) -> str | None:
        """Give the rhythm of an amount: right behind it, or right before."""
        if found := self._words.rates.one_at(self._said, end):
            return found[0]
        return self._rate[0] if self._rate is not None and self._rate[1] == start else None

    def _month_behind(self, series: Sequence[Number], end: int) -> int | None:
        """Read the days before a month as dates."""
        if not all(self._is_day(number) for number in series):
            return None
        found = self._words.months.one_at(self._said, self._past(end, {".", "-", "/"}, self._words.month_glue))
        if found is None:
            return None
        year, last = self._year_behind(found[1])
        for number in series:
            stop = last if number is series[-1] else number.end
            day = Figure(FigureKind.DATE, f"{year or '-'}-{found[0]:02d}-{number.values[0]:02.0f}")
            self._note(number.start, stop, [day])
        return last

    def _year_behind(self, end: int) -> tuple[str | None, int]:
        place = self._past(end, {".", ",", "-", "/"}, self._words.year_glue)
        if place < len(self._said) and _YEAR.fullmatch(self._said[place]):
            return self._said[place], place + 1
        return None, end

    def _past(self, place: int, signs: Set[str], glue: Phrases[bool]) -> int:
        """Pass a sign and a word that may stand between the parts of a date."""
        place += any(sign in signs for sign in self._said[place : place + 1])
        found = glue.one_at(self._said, place)
        return found[1] if found else place

    def _is_day(self, number: Number) -> bool:
        whole = len(number.values) == 1 and number.values[0].is_integer()
        return whole and 1 <= number.values[0] <= _MONTH_DAYS and not number.weak

    def _text(self, start: int, end: int) -> str:
        return " ".join(self._said[start:end])

    def _hint(self, start: int, end: int, figures: Iterable[Figure]) -> int:
        """Note words that only hint at a figure: a fact states nothing with them."""
        self._note(start, end, figures, spelt=True, values=())
        return end

    def _note(self, start: int, end: int, figures: Iterable[Figure], *, spelt: bool = False, values: Stated = None) -> None:
        self._page.add(self._tokens[start].start, self._tokens[end - 1].end, figures, spelt=spelt, values=values)


# With "one" before them these are everyday words: a person, a child, once.
_IDIOMS: Final = frozenset({"people", "children", "times", "payments", "points", "credits", "inhabitants", "other_money"})
