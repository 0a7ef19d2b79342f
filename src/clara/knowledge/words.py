"""Phrases of the vocabulary, found in texts as whole words."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Generic, TypeVar

from clara.retrieval.vocabulary import words

Label = TypeVar("Label")


class Phrases(Generic[Label]):
    """Finds known phrases in a text as whole words; where phrases overlap, the longest counts."""

    def __init__(self, entries: Iterable[tuple[str, Label]]) -> None:
        self._by_first: dict[str, list[tuple[tuple[str, ...], Label]]] = {}
        for phrase, label in entries:
            if key := tuple(words(phrase)):
                self._by_first.setdefault(key[0], []).append((key, label))

    def find(self, text_words: Sequence[str]) -> list[tuple[int, int, Label]]:
        """Give (start, end, label) of every phrase found, left to right; several labels may share one phrase."""
        taken: set[int] = set()
        found: list[tuple[int, int, Label]] = []
        for start, end, label in sorted(self._everywhere(text_words), key=lambda match: (match[0] - match[1], match[0])):
            shares = any((start, end) == (other[0], other[1]) for other in found)
            if shares or taken.isdisjoint(range(start, end)):
                taken.update(range(start, end))
                found.append((start, end, label))
        return sorted(found, key=lambda match: match[0])

    def _everywhere(self, text_words: Sequence[str]) -> Iterator[tuple[int, int, Label]]:
        for place, word in enumerate(text_words):
            for key, label in self._by_first.get(word, ()):
                if tuple(text_words[place : place + len(key)]) == key:
                    yield place, place + len(key), label


def every(phrases: Mapping[str, Sequence[str]]) -> list[str]:
    """Give the phrases of all languages."""
    return [phrase for entries in phrases.values() for phrase in entries]
