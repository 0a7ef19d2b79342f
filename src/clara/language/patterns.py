"""The one compiler of patterns: phrases with "*" for any ending and "…" for a few words, found among comparable words."""

import re
from collections.abc import Iterable, Sequence
from typing import Final

from clara.language.tokens import words

# Up to so many words may stand where a phrase has "…".
GAP: Final = 4


def any_of(*patterns: str) -> re.Pattern[str]:
    """Compile what finds any of some expressions, whatever the capitals."""
    return re.compile("|".join(patterns), re.IGNORECASE)


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
