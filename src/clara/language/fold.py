"""A text made comparable, letter by letter: digits of any script, accents, capitals, signs that mean the same, blanks."""

import unicodedata
from dataclasses import dataclass
from typing import Final

# Signs that mean the same as a plain one. The Arabic decimal comma is a comma, its sign of thousands an apostrophe.
_PLAIN: Final = {
    **dict.fromkeys("‐‑‒–—―−﹣－⁃", "-"),
    **dict.fromkeys("’ʼ‘`´ʹ′＇٬", "'"),
    **dict.fromkeys("٫،", ","),
    "٪": "%", "⁄": "/", "∕": "/", "ı": "i", "。": ".", "．": ".", "ـ": "", "ß": "ss", "ẞ": "SS", "ς": "σ",
}  # fmt: skip
_UNSEEN: Final = frozenset({"Mn", "Cf", "Me"})
# Every alphabet of the served languages stands below. What lies above is not kept, or a hostile text would fill the memory.
_COMMON: Final = 0x3100
_IDEOGRAPHS: Final = range(0x3400, 0xA000)  # none has a capital, an accent or another form


class _Table(dict[int, str]):
    """What becomes of each character, looked up once. `str.translate` with it is as fast as normalising."""

    def __init__(self, *, small: bool) -> None:
        super().__init__()
        self._small = small

    def __missing__(self, code: int) -> str:
        if code in _IDEOGRAPHS:
            return chr(code)
        folded = _folded(chr(code))
        if self._small:  # letter by letter the same number of letters as with capitals, so that places agree
            folded = "".join(letter.lower() if len(letter.lower()) == 1 else letter for letter in folded)
        if code < _COMMON:
            self[code] = folded
        return folded


_CASED: Final = _Table(small=False)
_SMALL: Final = _Table(small=True)


@dataclass(frozen=True, slots=True)
class Folded:
    """`text` is small and without accents, `cased` the same with its capitals; `origins` has the place of each character.

    `origins` is one longer than the text: the last is the length of the original.
    """

    text: str
    cased: str
    origins: tuple[int, ...]

    def span(self, start: int, end: int) -> tuple[int, int]:
        """Give where in the original a stretch stands."""
        return (self.origins[start], self.origins[end - 1] + 1) if end > start else (self.origins[start],) * 2


def _folded(character: str) -> str:
    """Fold one character: none for what is not seen, several for a fraction or a ligature."""
    if character in _PLAIN:
        return _PLAIN[character]
    if character.isspace() or unicodedata.category(character) == "Cc":
        return "\n" if character in "\n\r\u2028\u2029\x0b\x0c\x85" else " "
    digit = unicodedata.digit(character, None)
    if digit is not None and unicodedata.category(character) != "No":
        return str(digit)
    parts = "".join(
        _PLAIN.get(part, part) for part in unicodedata.normalize("NFKD", character) if unicodedata.category(part) not in _UNSEEN
    )
    if not parts and digit is not None:
        parts = str(digit)
    if unicodedata.category(character) == "No":  # "1½" is not "11/2", nor "m²" a number with a letter
        return f" {parts if any(part.isdecimal() for part in parts) or digit is None else digit}"
    return "".join(str(unicodedata.decimal(part)) if part.isdecimal() else part for part in parts)


def folded(text: str) -> str:
    """Write a text without capitals, accents and other marks: "¿Qué AÑO?" becomes "¿que ano?"."""
    return text.lower() if text.isascii() and text.isprintable() and "`" not in text else text.translate(_SMALL)


def fold(text: str) -> Folded:
    """Fold a text that keeps the place of each character."""
    pieces = [_CASED[ord(character)] for character in text]
    origins = [place for place, piece in enumerate(pieces) for _ in piece]
    return Folded(text.translate(_SMALL), "".join(pieces), (*origins, len(text)))


def compatible(text: str) -> str:
    """Write a text in Unicode's compatibility form; capitals, accents and blanks stay."""
    return unicodedata.normalize("NFKC", text)


def spaced(text: str) -> str:
    """Write a text in its compatibility form with single blanks."""
    return " ".join(compatible(text).split())


def caseless(text: str) -> str:
    """Write a text in its compatibility form without capitals; accents, signs and blanks stay."""
    return compatible(text).casefold()


def accented(text: str) -> str:
    """Write a text without capitals, each letter in one piece with its accent."""
    return unicodedata.normalize("NFC", text).casefold()
