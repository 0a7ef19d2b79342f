"""A text cut into words that can be compared: the one expression for a word, and who needs numbers and signs besides."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from clara.language.fold import fold, folded

# Chinese is written without blanks: each ideograph is a word, so that phrases match as runs of ideographs.
IDEOGRAPH: Final = r"[\u3400-\u9fff]"
# Letters and digits of any other script; and letters alone.
ALPHANUMERIC: Final = r"[^\W_\u3400-\u9fff]"
LETTER: Final = r"[^\W\d_\u3400-\u9fff]"
WORD: Final = f"{IDEOGRAPH}|{ALPHANUMERIC}+"
# A word by its letters alone; an apostrophe belongs to a Cyrillic one and ends any other.
LETTERS: Final = f"{IDEOGRAPH}|{LETTER}+"
# A number with its separators; a blank separates thousands only.
NUMBER: Final = r"\d{1,3}(?: \d{3})+(?!\d)(?:[.,]\d+)?|\d+(?:[.,']\d+)*"
_WORD: Final = re.compile(WORD)
_IDEOGRAPH: Final = re.compile(IDEOGRAPH)
_LETTERS: Final = re.compile(LETTERS)
_SIGN: Final = re.compile(rf"(?P<digits>{NUMBER})|{LETTERS}(?:'[а-яґєі][^\W\d_]*)*|\n|[^\w\s]|_|\w")
# "mama" and "bebé" have two different letters; what has so many letters, and no more different ones, is no word.
BABBLE: Final = 6
BABBLED: Final = 2
# Arabic writes "and" as a letter of the next word.
ARABIC_AND: Final = "و"


@dataclass(frozen=True, slots=True)
class Token:
    """A word, a sign or a number, and where it stands in the text."""

    text: str
    start: int
    end: int
    digits: bool = False


def words(text: str) -> list[str]:
    """Cut a text into comparable words, without capitals and accents: "¿Cuánto TARDA?" gives ["cuanto", "tarda"]."""
    return _WORD.findall(folded(text))


def located(text: str) -> list[Token]:
    """Give the words of a text, as `words` does, each with where it stands in the text as it was written."""
    plain = fold(text)
    return [Token(match[0], *plain.span(*match.span())) for match in _WORD.finditer(plain.text)]


def length(text: str) -> int:
    """Count the words of a text; two ideographs count as one word, as most Chinese words have two."""
    found = words(text)
    ideographs = sum(1 for word in found if _IDEOGRAPH.fullmatch(word))
    return len(found) - ideographs + (ideographs + 1) // 2


def says_something(text: str) -> bool:
    """Whether a text has words: it has none of digits and signs alone, of one letter, or of a key held down ("jajajaja")."""
    written = [character for character in folded(text) if character.isalpha()]
    few = BABBLED if len(written) >= BABBLE else 1
    return len(set(written)) > few or bool(_IDEOGRAPH.search(text))


def letters(text: str) -> list[Token]:
    """Give the words of letters of a text as they are written, with their places."""
    return [Token(match[0], *match.span()) for match in _LETTERS.finditer(text)]


def tokens_of(text: str) -> list[Token]:
    """Cut a folded text into words, numbers and signs, with their places in it.

    The Arabic "and", written as the beginning of the next word, becomes a word of its own.
    """
    tokens: list[Token] = []
    for match in _SIGN.finditer(text):
        word, start = match[0], match.start()
        if word[0] == ARABIC_AND and len(word) > 1:
            tokens.append(Token(ARABIC_AND, start, start + 1))
            word, start = word[1:], start + 1
        tokens.append(Token(word, start, match.end(), match["digits"] is not None))
    return tokens


def cut(text: str) -> list[Token]:
    """Fold a text and cut it into words, numbers and signs."""
    return tokens_of(folded(text))


def texts_of(tokens: Sequence[Token]) -> list[str]:
    """Give the tokens without their places."""
    return [token.text for token in tokens]
