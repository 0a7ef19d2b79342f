"""The one corrector of spelling: words with letters repeated, wrong, missing, added or exchanged."""

import re
from collections.abc import Iterable
from typing import Final

from rapidfuzz.distance import OSA

# Two letters changed make other words of short ones ("hola", "bola"); from here on one wrong letter is a typing error.
TYPO_FROM: Final = 5
# Short words differ by a double letter ("me", "mme"), so that only a letter written three times counts there.
SHORT: Final = 3
_RUNS: Final = re.compile(r"([^\W\d_])\1+")
_LONG_RUNS: Final = re.compile(r"([^\W\d_])\1{2,}")


def squeezed(word: str) -> str:
    """Write repeated letters once: "hellooo" and "hello" become "helo"."""
    short = _LONG_RUNS.sub(r"\1", word)
    return short if len(short) <= SHORT else _RUNS.sub(r"\1", short)


class Speller:
    """Gives the word that is meant: one of `wanted`, one typing error away. Words in `real` are never misspelt."""

    def __init__(self, wanted: Iterable[str], real: Iterable[str] = ()) -> None:
        given = frozenset(wanted)
        self._right = given | frozenset(real)
        self._wanted = sorted(word for word in given if len(word) >= TYPO_FROM)

    def mended(self, word: str) -> str:
        """Give the word meant, or the word itself."""
        if len(word) < TYPO_FROM or word in self._right:
            return word
        return next((meant for meant in self._wanted if OSA.distance(word, meant, score_cutoff=1) <= 1), word)
