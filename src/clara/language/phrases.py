"""Cutting a folded text into words, signs and digits, and finding phrases among them."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from clara.language.fold import fold

Value = TypeVar("Value")

# Ideographs stand alone; an apostrophe belongs to a Cyrillic word and ends any other; digits keep their separators.
_TOKEN = re.compile(
    r"(?P<digits>\d{1,3}(?: \d{3})+(?!\d)(?:[.,]\d+)?|\d+(?:[.,']\d+)*)"
    r"|[\u3400-\u9fff]|[^\W\d_\u3400-\u9fff]+(?:'[а-яґєі][^\W\d_]*)*|\n|[^\w\s]|_|\w"
)
_ARABIC_AND = "و"


@dataclass(frozen=True, slots=True)
class Token:
    """A word, a sign or digits of a folded text, and where it stands there."""

    text: str
    start: int
    end: int
    digits: bool = False


def tokens_of(text: str) -> list[Token]:
    """Cut a folded text. The Arabic "and", written as the beginning of the next word, becomes a word of its own."""
    tokens: list[Token] = []
    for match in _TOKEN.finditer(text):
        word, start = match[0], match.start()
        if word[0] == _ARABIC_AND and len(word) > 1:
            tokens.append(Token(_ARABIC_AND, start, start + 1))
            word, start = word[1:], start + 1
        tokens.append(Token(word, start, match.end(), match["digits"] is not None))
    return tokens


def cut(text: str) -> list[Token]:
    """Fold and cut a text."""
    return tokens_of(fold(text).text)


class Phrases(Generic[Value]):
    """Finds which known phrase begins at a token; the longest counts."""

    def __init__(self, entries: Iterable[tuple[str, Value]]) -> None:
        self._by_first: dict[str, list[tuple[tuple[str, ...], Value]]] = {}
        for phrase, value in entries:
            if key := tuple(token.text for token in tokens_of(fold(phrase).text)):
                self._by_first.setdefault(key[0], []).append((key, value))
        for known in self._by_first.values():
            known.sort(key=lambda entry: -len(entry[0]))

    def at(self, tokens: Sequence[Token], start: int) -> tuple[Value, int] | None:
        """Give what begins at this token and the token after its end, or None."""
        if start >= len(tokens):
            return None
        for key, value in self._by_first.get(tokens[start].text, ()):
            end = start + len(key)
            if end <= len(tokens) and all(tokens[start + place].text == word for place, word in enumerate(key)):
                return value, end
        return None

    def every(self, tokens: Sequence[Token]) -> list[tuple[int, int, Value]]:
        """Give (start, end, value) of all phrases, left to right, without overlaps."""
        found: list[tuple[int, int, Value]] = []
        place = 0
        while place < len(tokens):
            match = self.at(tokens, place)
            if match is not None:
                found.append((place, match[1], match[0]))
            place = match[1] if match is not None else place + 1
        return found
