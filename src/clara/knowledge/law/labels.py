"""What a heading of a norm says it is: an article, a disposition, an annex, by number or ordinal word; its key."""

import re
import unicodedata
from dataclasses import dataclass
from typing import Final

_UNITS: Final = {
    "primera": 1, "primer": 1, "segunda": 2, "tercera": 3, "tercer": 3, "cuarta": 4, "quinta": 5, "sexta": 6, "septima": 7,
    "octava": 8, "novena": 9, "undecima": 11, "duodecima": 12,
}  # fmt: skip
_TENS: Final = {
    "decim": 10, "vigesim": 20, "trigesim": 30, "cuadragesim": 40, "quincuagesim": 50, "sexagesim": 60, "septuagesim": 70,
    "octogesim": 80, "nonagesim": 90, "centesim": 100, "ducentesim": 200,
}  # fmt: skip
# A feminine word by itself: primera, décima, decimoctava, décimotercera.
_ORDINALS: Final = _UNITS | {
    f"{stem}{rest}": tens + unit
    for stem, tens in _TENS.items()
    for rest, unit in [("a", 0), *((joint + name, unit) for joint in ("", "o", "a") for name, unit in _UNITS.items())]
}
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
        value = _ORDINALS.get(word[:-1] + "a" if word.endswith("o") else word)
        if value is None or value >= step:  # "décima primera" grows by ever smaller steps
            return None
        total, step = total + value, value
    return total


SUFFIX: Final = (
    r"(?:bis|ter|qu[aá]ter|quinquies|sexies|septies|octies|nonies|decies|undecies|duodecies|terdecies|quaterdecies|quindecies)"
)
_NUMBER: Final = rf"(?:\d\.\d{{3}}|\d{{1,4}})(?!\d)(?:[ ]?{SUFFIX}\b)?"
_ARTICLE: Final = re.compile(
    rf"art(?:[ií]culos?|s?\.)[ ]?(?P<first>{_NUMBER}|[a-zéíóúü]+\b)(?:[ ]a[ ](?P<last>{_NUMBER}))?(?P<rest>.*)",
    re.IGNORECASE,
)
_DISPOSITION: Final = re.compile(
    r"disposici[oó]n(?:es)?[ ](?P<kind>adicional|transitoria|derogatoria|final)(?:es|s)?\b[ ]?(?P<rest>.*)", re.IGNORECASE
)
_ANNEX: Final = re.compile(
    rf"(?:anexo|anejo)(?:[ ](?P<number>[ivxlc]+(?:\.[ivxlc]+)*|\d{{1,3}}|[a-z])(?:[ ](?P<suffix>{SUFFIX}))?)?"
    r"[ ]?(?P<rest>[.:–-].*)?",
    re.IGNORECASE,
)
_STANDING: Final = re.compile(r"(?P<words>(?:[^\W\d]+[ ]?){1,4}|\d{1,3})(?P<rest>\..*|)")
_KINDS: Final = {"adicional": "da", "transitoria": "dt", "derogatoria": "dd", "final": "df"}
# What stands where a provision's title or text was.
REPEALED: Final = re.compile(r"[(\[]?(?:derogad|suprimid|anulad|sin contenido|vacante)[oa]?s?[)\]]?\.?", re.IGNORECASE)
# A heading that speaks for more articles than this is not one of repealed articles, and nobody waits for it.
_LONGEST_RANGE: Final = 500
_ROMAN: Final = ((10, "x"), (9, "ix"), (5, "v"), (4, "iv"), (1, "i"))


@dataclass(frozen=True, slots=True)
class Label:
    """The key of a provision, its number as it is written, and its title, empty when it has none."""

    key: str
    label: str
    title: str = ""


def read_label(line: str) -> tuple[Label, ...]:
    """Read a heading in plain text with plain blanks: several labels for a range of articles, none when it is no provision."""
    if match := _ARTICLE.fullmatch(line):
        return _articles(match)
    if match := _DISPOSITION.fullmatch(line):
        return (_disposition(match),)
    return _annex(line)


def article_key(number: str) -> str | None:
    """Give the key of an article by its number or ordinal word: "31 bis", "1.976", "único", "primero"."""
    plain = folded(number).replace(".", "").replace(" ", "")
    if plain == "unico":
        return "aunico"
    if plain[:1].isdecimal():
        digits = re.match(r"\d+", plain)
        return f"a{int(digits[0])}{plain[digits.end() :]}" if digits else None
    word = ordinal(number)
    return f"a{word}" if word else None


def disposition_key(kind: str, number: str) -> str:
    """Give the key of a disposition by its kind ("adicional", ...) and ordinal or number; without one it is the only one."""
    words, _, suffix = number.strip().rpartition(" ")
    if not re.fullmatch(SUFFIX, folded(suffix)):
        words, suffix = number.strip(), ""
    value = int(words) if words.isascii() and words.isdecimal() else ordinal(words) if words else 1
    slug = "".join(re.findall(r"[a-z0-9]+", folded(words)))[:40]
    return f"{_KINDS[kind]}{value or slug}{folded(suffix)}"


def annex_key(number: str | None, suffix: str | None = None) -> str:
    """Give the key of an annex by its Roman or Arabic number or letter; without one it is the only one."""
    if not number:
        return "anexo"
    name = roman(int(number)) if number.isdecimal() else number.lower().replace(".", "-")
    return f"anexo-{name}{folded(suffix or '')}"


def roman(number: int) -> str:
    """Write a number with small Roman digits."""
    written = ""
    for value, sign in _ROMAN:
        written += sign * (number // value)
        number %= value
    return written


def read_standing(line: str) -> tuple[int, str] | None:
    """Read a heading that is nothing but a number and perhaps a title: "Primera.", "2. Datos de inscripción"."""
    match = _STANDING.fullmatch(line)
    if match is None:
        return None
    words = match["words"].strip()
    number = int(words) if words.isdecimal() else ordinal(words)
    return (number, _title(match["rest"])) if number else None


def _articles(match: re.Match[str]) -> tuple[Label, ...]:
    key = article_key(match["first"])
    rest = match["rest"].strip()
    if key is None or (rest and rest[0] not in ".:([–-"):
        return ()
    title, last = _title(rest), match["last"]
    if last is None:
        return (Label(key, f"Artículo {match['first']}", title),)
    first, final = (
        int(re.sub(r"\D", "", number)) for number in (match["first"] if match["first"][0].isdecimal() else "0", last)
    )
    suffix = re.sub(r"[\d. ]", "", folded(match["first"]))
    if not 0 < final - first < _LONGEST_RANGE:
        return (Label(key, f"Artículo {match['first']}", title),)
    return tuple(
        Label(f"a{number}{suffix}", f"Artículo {number} {suffix}".strip(), title) for number in range(first, final + 1)
    )


def _disposition(match: re.Match[str]) -> Label:
    number, _, title = match["rest"].partition(".")
    number = re.sub(r"\[sic\]|[:(–-].*", "", number).strip()
    kind = folded(match["kind"])
    return Label(disposition_key(kind, number), f"Disposición {kind} {number}".strip(), _title(title))


def _annex(line: str) -> tuple[Label, ...]:
    match = _ANNEX.fullmatch(line)
    if match is None:
        return ()
    name = " ".join(filter(None, ("Anexo", match["number"], match["suffix"])))
    return (Label(annex_key(match["number"], match["suffix"]), name, _title(match["rest"] or "")),)


def _title(rest: str) -> str:
    title = re.sub(r"^(?:\[sic\]|[.:–\s-])+", "", rest).strip().removesuffix(".")
    return "" if REPEALED.fullmatch(title) else title
