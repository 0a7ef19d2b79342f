"""The words with which a language writes figures, from each pack: numbers, units, months, norms, and what says no.

And numbers as they are written: every reading of "1.234", and number words of any language put together.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any, Final

from clara.data_files import DataError, Fault
from clara.language.fold import folded
from clara.language.packs import pack_file, read_packs
from clara.language.phrases import Phrases, signs

_THOUSAND = 1_000
_HUNDRED = 100
_TEN = 10
_DIGITS_OF_A_GROUP = 3
# Longer runs are accounts or codes: a float would not hold them exactly.
_LONGEST = 15


def readings(written: str) -> tuple[float, ...]:
    """Give every number that digits may mean: "1.234" is 1234 and 1.234; none for what is no number ("1.2.3" is none)."""
    plain = written.replace(" ", "").replace("'", "")
    if len(plain) > _LONGEST:
        return ()
    signs = [character for character in plain if character in ".,"]
    if not signs:
        return (float(plain),)
    groups = re.split(r"[.,]", plain)
    grouped = all(len(group) == _DIGITS_OF_A_GROUP for group in groups[1:])
    whole = float("".join(groups)) if grouped and 1 <= len(groups[0]) <= _DIGITS_OF_A_GROUP and groups[0] != "0" else None
    if len(signs) == 1:
        decimal = float(".".join(groups))
        return (decimal,) if whole is None else (whole, decimal)
    if len(set(signs)) == 1:
        return () if whole is None else (whole,)
    if signs[-1] not in signs[:-1] and all(len(group) == _DIGITS_OF_A_GROUP for group in groups[1:-1]):
        return (float("".join(groups[:-1]) + "." + groups[-1]),)
    return ()


class NumberWords:
    """The number words of a language, and how they are put together.

    `joiners` stand between parts of one number: "treinta y uno", "one hundred and five". A joiner of one Arabic letter is
    written as the beginning of the next word.
    """

    def __init__(self, numbers: Mapping[str, Sequence[str]], joiners: Iterable[str]) -> None:
        self._words = Phrases(((form, float(value)) for value, forms in numbers.items() for form in forms), signs)
        self._joiners = frozenset(folded(joiner) for joiner in joiners)

    def at(self, said: Sequence[str], start: int) -> tuple[float, int] | None:
        """Give the number that begins here and where it ends, or None."""
        found = self._words.one_at(said, start)
        if found is None:
            return None
        last, end = found
        total, group = (0.0, last) if last < _THOUSAND else (last, 0.0)
        while (following := self._next(said, end, last, group)) is not None:
            last, end = following
            if last >= _THOUSAND:
                total, group = total + max(group, 1.0) * last if last <= max(group, 1) * last else last, 0.0
            elif last == _HUNDRED and 0 < group < _TEN:
                group *= _HUNDRED
            else:
                group += last
        return total + group, end

    def scale_at(self, said: Sequence[str], start: int) -> tuple[float, int] | None:
        """Give a word for thousand or more that stands here, behind digits: "3 mil", "2 millones"."""
        found = self._words.one_at(said, start)
        return found if found is not None and found[0] >= _THOUSAND else None

    def _next(self, said: Sequence[str], end: int, last: float, group: float) -> tuple[float, int] | None:
        """Give the next part of the number begun, when it can be one."""
        place, joined = end, False
        while place < len(said) and (said[place] == "-" or (not joined and said[place] in self._joiners)):
            joined = joined or said[place] != "-"
            place += 1
        found = self._words.one_at(said, place)
        if found is None:
            return None
        value = found[0]
        if value >= _THOUSAND:
            return found if not joined and group > 0 else None
        if value == _HUNDRED and not joined and 0 < group < _TEN:
            return found
        smaller = value < last and last >= 2 * _TEN and (last != _HUNDRED or value < _HUNDRED)
        ones_first = joined and last < _TEN and value >= 2 * _TEN and value < _HUNDRED  # Arabic: five and twenty
        return found if value > 0 and (smaller or (ones_first and "و" in self._joiners)) else None


_DIGITS = ("零〇", "一", "二两兩", "三", "四", "五", "六", "七", "八", "九")
_IDEOGRAPHS = {sign: digit for digit, signs in enumerate(_DIGITS) for sign in signs}
_PLACES = {"十": 10, "百": 100, "千": 1000}
IDEOGRAPHS = f"[{''.join(_IDEOGRAPHS)}{''.join(_PLACES)}万萬]"


def chinese(written: str) -> float:
    """Read a number in ideographs: 三百二十 is 320, 二〇二六 is 2026; digits are read as they are."""
    if written.isdecimal():
        return float(written)
    if all(sign in _IDEOGRAPHS for sign in written):
        return float("".join(str(_IDEOGRAPHS[sign]) for sign in written))
    total = group = digit = 0
    for sign in written:
        if sign in _IDEOGRAPHS:
            digit = _IDEOGRAPHS[sign]
        elif sign in _PLACES:
            group, digit = group + max(digit, 1) * _PLACES[sign], 0
        else:
            total, group, digit = total + max(group + digit, 1) * 10_000, 0, 0
    return float(total + group + digit)


SPANISH: Final = "es"
# Sizes are written alike in every language.
_SIZES: Final = (("kW", "kW"), ("kW", "kWh"), ("MB", "MB"), ("m2", "m²"), ("m2", "metros cuadrados"))


class Polarity(StrEnum):
    """How words say no: plainly, by an exception, in other words ("free", "rejected"); idioms only look like it."""

    NEGATION = "negation"
    EXCEPTION = "exception"
    IMPLICIT = "implicit"
    IDIOM = "idioms"


@dataclass(frozen=True, slots=True)
class Unit:
    """A unit as it stands in a text: its name, and its wording."""

    name: str
    wording: str


class Lexicon:
    """One language. Spanish units, months, norms and forms are understood in every language: people keep them.

    `shares` are percentages in words ("a third"), `wholes` words that hold number and unit ("شهران", two months). `norms`,
    `provisions` and `forms` are folded words, longest first. `polarity` holds what says no, `bounds` what says "least",
    "most", "before" and "after".
    """

    def __init__(self, language: str, own: Mapping[str, Any], spanish: Mapping[str, Any]) -> None:
        """Take what reading.json of a language holds, and that of Spanish."""
        both = [own] if own is spanish else [own, spanish]
        self.language = language
        self.numbers = NumberWords(own["numbers"], own["joiners"])
        self.only_with_unit = _folded(own["only_with_unit"])
        self.between = _known([*own["between"], ",", "/", "-"])
        self.fillers = _known([entry for document in both for entry in document["fillers"]])
        self.units = Phrases(((form, Unit(name, folded(form))) for name, form in [*_each(both, "units"), *_SIZES]), signs)
        self.rates = Phrases(((form, name) for name, form in _each(both, "rates")), signs)
        self.months = Phrases(
            ((form, number) for document in both for number, forms in enumerate(document["months"], 1) for form in forms), signs
        )
        self.only_with_day = _folded(own["only_with_day"])
        self.month_glue = _known([entry for document in both for entry in document["month_glue"]])
        self.year_glue = _known([entry for document in both for entry in document["year_glue"]])
        self.wholes = Phrases(((form, (float(number), unit)) for form, (number, unit) in own["wholes"].items()), signs)
        self.shares = Phrases(((form, float(share)) for share, forms in own["shares"].items() for form in forms), signs)
        self.norms = _by_wording(both, "norms")
        self.provisions = _by_wording(both, "provisions")
        self.forms = tuple(dict.fromkeys(folded(form) for document in both for form in document["forms"]))
        self.polarity = Phrases(((entry, polarity) for polarity in Polarity for entry in own[polarity.value]), signs)
        self.bounds = Phrases(((entry, bound) for bound, entries in own["bounds"].items() for entry in entries), signs)
        self.stop = _folded([*own["stop"], *own["auxiliary"]])
        self.auxiliary = _folded(own["auxiliary"])

    def month(self, name: str) -> int | None:
        """Give the number of a month by its name."""
        found = self.months.one_at(signs(name), 0)
        return found[0] if found else None

    def month_name(self, number: int) -> str | None:
        """Give the usual name of a month."""
        return next((" ".join(key) for key, (month, *_) in self.months.entries.items() if month == number), None)


def read_lexicons(folder: Path) -> dict[str, Lexicon]:
    """Read reading.json of every pack below `folder`. Raises DataError naming every fault."""
    documents, faults = read_packs(folder, "reading")
    if SPANISH not in documents:
        faults.append(Fault(pack_file(SPANISH, "reading"), "file", "is missing or broken; restore data/ from the repository"))
    if faults:
        raise DataError(faults)
    return {language: Lexicon(language, document, documents[SPANISH]) for language, document in documents.items()}


def _known(entries: Sequence[str]) -> Phrases[bool]:
    return Phrases(((entry, True) for entry in entries), signs)


def _folded(entries: Sequence[str]) -> frozenset[str]:
    return frozenset(" ".join(signs(entry)) for entry in entries)


def _each(documents: Sequence[Mapping[str, Any]], field: str) -> list[tuple[str, str]]:
    """Give (name, form) of all documents; a form that the first one has is not taken from the second."""
    seen: dict[str, str] = {}
    for document in documents:
        for name, forms in document[field].items():
            for form in forms:
                seen.setdefault(form, name)
    return [(name, form) for form, name in seen.items()]


def _by_wording(documents: Sequence[Mapping[str, Any]], field: str) -> dict[str, str]:
    """Give names by folded wording, the longest wording first."""
    found = {folded(form): name for name, form in reversed(_each(documents, field))}
    return dict(sorted(found.items(), key=lambda entry: -len(entry[0])))
