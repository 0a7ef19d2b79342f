"""Words as people write them, made comparable: no capitals, no accents, whole words only."""

import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from typing import Generic, TypeVar

Label = TypeVar("Label")

# Chinese is written without spaces: each ideograph counts as a word, so that phrases match as runs of ideographs.
_WORD = re.compile(r"[\u3400-\u9fff]|[^\W_\u3400-\u9fff]+")


def words(text: str) -> list[str]:
    """Cut a text into comparable words: "¿Cuánto TARDA?" gives ["cuanto", "tarda"]."""
    decomposed = unicodedata.normalize("NFKD", text.casefold())
    return _WORD.findall("".join(character for character in decomposed if unicodedata.category(character) != "Mn"))


class Phrases(Generic[Label]):
    """Finds known phrases in a text as whole words; where phrases overlap, the longest counts."""

    def __init__(self, entries: Iterable[tuple[str, Label]]) -> None:
        self._by_first: dict[str, list[tuple[tuple[str, ...], Label]]] = {}
        for phrase, label in entries:
            if key := tuple(words(phrase)):
                self._by_first.setdefault(key[0], []).append((key, label))
        for candidates in self._by_first.values():
            candidates.sort(key=lambda entry: -len(entry[0]))

    def find(self, text_words: Sequence[str]) -> list[tuple[int, int, Label]]:
        """Give (start, end, label) of every phrase found, left to right, without overlaps between different phrases."""
        found: list[tuple[int, int, Label]] = []
        place = 0
        while place < len(text_words):
            matches = self._at(text_words, place)
            found.extend((place, place + length, label) for length, label in matches)
            place += matches[0][0] if matches else 1
        return found

    def _at(self, text_words: Sequence[str], place: int) -> list[tuple[int, Label]]:
        fitting = [
            (len(key), label)
            for key, label in self._by_first.get(text_words[place], ())
            if tuple(text_words[place : place + len(key)]) == key
        ]
        return [match for match in fitting if match[0] == fitting[0][0]]


def every(phrases: Mapping[str, Sequence[str]]) -> list[str]:
    """Give the phrases of all languages."""
    return [phrase for entries in phrases.values() for phrase in entries]
