"""Numbers as they are written: every reading of "1.234", and number words of any language put together."""

import re
from collections.abc import Iterable, Mapping, Sequence

from clara.language.fold import folded
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
