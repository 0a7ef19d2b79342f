"""Spanish ordinal words as numbers: "nonagésima", "décima primera", "vigesimosegunda", "centésima vigésima quinta"."""

import unicodedata
from typing import Final

_UNITS: Final = {
    "primera": 1, "primer": 1, "segunda": 2, "tercera": 3, "tercer": 3, "cuarta": 4, "quinta": 5, "sexta": 6, "septima": 7,
    "octava": 8, "novena": 9, "undecima": 11, "duodecima": 12,
}  # fmt: skip
_TENS: Final = {
    "decim": 10, "vigesim": 20, "trigesim": 30, "cuadragesim": 40, "quincuagesim": 50, "sexagesim": 60, "septuagesim": 70,
    "octogesim": 80, "nonagesim": 90, "centesim": 100, "ducentesim": 200,
}  # fmt: skip
# "centésima vigésima quinta"; a longer run of words is a title.
_MOST_WORDS: Final = 4


def folded(text: str) -> str:
    """Lower case without accents, as legal words are compared."""
    return "".join(letter for letter in unicodedata.normalize("NFD", text.lower()) if not unicodedata.combining(letter))


def ordinal(text: str) -> int | None:
    """Give the number that ordinal words mean, of either gender; "única" counts as the first; None for other words."""
    words = folded(text).split()
    if not 0 < len(words) <= _MOST_WORDS:
        return None
    if words[0] in {"unica", "unico"}:
        return 1 if len(words) == 1 else None
    total, step = 0, 1_000
    for word in words:
        value = _value(word)
        if value is None or value >= step:  # "décima primera" grows by ever smaller steps
            return None
        total, step = total + value, value
    return total


def _value(word: str) -> int | None:
    feminine = word[:-1] + "a" if word.endswith("o") else word
    if feminine in _UNITS:
        return _UNITS[feminine]
    for stem, value in _TENS.items():
        rest = feminine.removeprefix(stem)
        if rest == feminine:
            continue
        if rest == "a":
            return value
        unit = _UNITS.get(rest) or _UNITS.get(rest[1:])  # decim-octava, decimo-tercera, décima-tercera
        return value + unit if unit else None
    return None
