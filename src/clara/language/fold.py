"""A text made comparable letter by letter: digits of any script, accents, capitals, blanks; each letter keeps its place."""

import unicodedata
from dataclasses import dataclass
from functools import cache

# Signs that mean the same as a plain one. The Arabic decimal comma is a comma, its sign of thousands an apostrophe.
_PLAIN = {
    **dict.fromkeys("‐‑‒–—―−﹣－⁃", "-"),
    **dict.fromkeys("’ʼ‘`´ʹ′＇٬", "'"),
    **dict.fromkeys("٫،", ","),
    "٪": "%", "⁄": "/", "∕": "/", "ı": "i", "。": ".", "．": ".", "ـ": "",
}  # fmt: skip


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


@cache
def _folded(character: str) -> str:
    """Fold one character: none for what is not seen, several for a fraction or a ligature."""
    if character in _PLAIN:
        return _PLAIN[character]
    if character.isspace():
        return "\n" if character in "\n\r\u2028\u2029\x0b\x0c\x85" else " "
    digit = unicodedata.digit(character, None)
    if digit is not None and unicodedata.category(character) != "No":
        return str(digit)
    parts = "".join(_PLAIN.get(part, part) for part in unicodedata.normalize("NFKD", character) if _is_seen(part))
    if not parts and digit is not None:
        parts = str(digit)
    if unicodedata.category(character) == "No":  # "1½" is not "11/2", nor "m²" a number with a letter
        return f" {parts if any(part.isdecimal() for part in parts) or digit is None else digit}"
    return "".join(str(unicodedata.decimal(part)) if part.isdecimal() else part for part in parts)


def _is_seen(character: str) -> bool:
    return unicodedata.category(character) not in {"Mn", "Cf", "Cc", "Me"}


def fold(text: str) -> Folded:
    """Fold a text."""
    cased: list[str] = []
    origins: list[int] = []
    for place, character in enumerate(text):
        folded = character if "!" <= character <= "~" and character != "`" else _folded(character)
        cased.append(folded)
        origins += [place] * len(folded)
    joined = "".join(cased)
    small = joined.lower()
    if len(small) != len(joined):
        small = "".join(character.lower() if len(character.lower()) == 1 else character for character in joined)
    return Folded(small, joined, (*origins, len(text)))
