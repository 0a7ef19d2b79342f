"""The one matcher of phrases: which known ones stand in a text as whole words, with "*" for any ending and "…" for a gap."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Final, Generic, TypeVar

from clara.language.tokens import cut, words

Value = TypeVar("Value")
Item = TypeVar("Item")
Phrase = tuple[str, ...]
# Up to so many words may stand where a pattern has "…".
GAP: Final = 4


def signs(text: str) -> list[str]:
    """Cut a text into words, numbers and signs, which all belong to a phrase."""
    return [token.text for token in cut(text)]


class Phrases(Generic[Value]):
    """Phrases, each with what it stands for; `longest` is the number of words of the longest one."""

    def __init__(self, entries: Iterable[tuple[Any, Value]], cut_into: Callable[[Any], Sequence[str]] = words) -> None:
        """Take phrases with their values; one given twice has the values of both, and what has no word is left out.

        `cut_into` cuts a phrase into words; for phrases that are cut already it is `tuple`.
        """
        gathered: dict[Phrase, dict[Value, None]] = {}
        for phrase, value in entries:
            if key := tuple(cut_into(phrase)):
                gathered.setdefault(key, {})[value] = None
        self.entries: Mapping[Phrase, tuple[Value, ...]] = {key: tuple(values) for key, values in gathered.items()}
        self.longest = max(map(len, self.entries), default=0)
        self._lengths: dict[str, list[int]] = {}
        for size, first in sorted({(len(key), key[0]) for key in self.entries}, reverse=True):
            self._lengths.setdefault(first, []).append(size)

    def __contains__(self, phrase: Sequence[str]) -> bool:
        return tuple(phrase) in self.entries

    def all_at(self, said: Sequence[str], start: int) -> Iterator[tuple[int, tuple[Value, ...]]]:
        """Give (end, values) of each phrase that begins at a word, the longest first."""
        for size in self._lengths.get(said[start], ()) if start < len(said) else ():
            end = start + size
            if end <= len(said) and (values := self.entries.get(tuple(said[start:end]))) is not None:
                yield end, values

    def at(self, said: Sequence[str], start: int) -> tuple[int, tuple[Value, ...]] | None:
        """Give (end, values) of the longest phrase that begins at a word, or None."""
        return next(self.all_at(said, start), None)

    def one_at(self, said: Sequence[str], start: int) -> tuple[Value, int] | None:
        """Give the first value of the longest phrase that begins at a word, and its end."""
        found = self.at(said, start)
        return None if found is None else (found[1][0], found[0])

    def found(self, said: Sequence[str]) -> list[tuple[int, int, tuple[Value, ...]]]:
        """Give (start, end, values) of the phrases, left to right without overlaps; the longest at each word counts."""
        matches: list[tuple[int, int, tuple[Value, ...]]] = []
        start = 0
        while start < len(said):
            match = self.at(said, start)
            if match is not None:
                matches.append((start, *match))
            start = match[0] if match is not None else start + 1
        return matches

    def spans(self, said: Sequence[str]) -> list[tuple[int, int]]:
        """Give (start, end) of what is found, left to right."""
        return [(start, end) for start, end, _ in self.found(said)]

    def meanings(self, said: Sequence[str]) -> list[Value]:
        """Give what the phrases found stand for, each once, in the order of the text."""
        return list(dict.fromkeys(value for _, _, values in self.found(said) for value in values))

    def longest_first(self, said: Sequence[str]) -> list[tuple[int, int, Value]]:
        """Give (start, end, value) in the order of the text; of phrases that overlap the longest of all counts."""
        everywhere = [(start, *match) for start in range(len(said)) for match in self.all_at(said, start)]
        taken: set[int] = set()
        kept: list[tuple[int, int, Value]] = []
        for start, end, values in sorted(everywhere, key=lambda match: (match[0] - match[1], match[0])):
            if taken.isdisjoint(range(start, end)):
                taken.update(range(start, end))
                kept += [(start, end, value) for value in values]
        return sorted(kept, key=lambda match: match[0])


def every(phrases: Mapping[str, Sequence[str]]) -> list[str]:
    """Give the phrases of all languages."""
    return [phrase for entries in phrases.values() for phrase in entries]


def outside(said: Sequence[Item], spans: Iterable[tuple[int, int]]) -> list[Item]:
    """Give what of a text stands in none of the stretches (start, end)."""
    covered = {place for start, end in spans for place in range(start, end)}
    return [item for place, item in enumerate(said) if place not in covered]


class WordPattern:
    """Finds any of some phrases among words; of phrases that begin at the same word the one with most letters counts."""

    def __init__(self, phrases: Iterable[str]) -> None:
        self._pattern = re.compile("|".join(sorted({_expression(phrase) for phrase in phrases}, key=len, reverse=True)))

    def search(self, said: Sequence[str]) -> bool:
        """Whether one of the phrases is there."""
        return self._pattern.search(_joined(said)) is not None

    def spans(self, said: Sequence[str]) -> list[tuple[int, int]]:
        """Give (start, end) of the words of each phrase found."""
        joined = _joined(said)
        starts = ((match[0].count(" "), joined.count(" ", 0, match.start())) for match in self._pattern.finditer(joined))
        return [(start, start + count) for count, start in starts]


def _joined(said: Sequence[str]) -> str:
    return f" {' '.join(said)} "


def _expression(phrase: str) -> str:
    pieces: list[str] = []
    for piece in re.findall(r"…|[^\s…]+", phrase):
        if piece == "…":
            pieces.append(rf"(?: \S+){{0,{GAP}}}")
        else:
            pieces += [f" {re.escape(word)}" for word in words(piece)]
            pieces += [r"\S*"] if piece.endswith("*") else []
    return "".join(pieces) + "(?= )"
