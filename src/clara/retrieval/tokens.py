"""Counting tokens: what a text costs a model, in one named unit."""

from collections.abc import Callable
from typing import Protocol

from clara.errors import Unavailable


class TokenCounterUnavailableError(Unavailable):
    """The vocabulary that tokens are counted by did not load. No other unit is taken in its place."""


class TokenCounter(Protocol):
    """Counts the tokens of a text by one vocabulary, `name`.

    Any text is allowed; what looks like a special token is ordinary text. The empty text has 0 tokens. Raises
    TokenCounterUnavailableError.
    """

    name: str

    def count(self, text: str) -> int:
        """Give the number of tokens."""


def furthest(low: int, high: int, fits: Callable[[int], bool]) -> int:
    """Give the largest number of `low`..`high` that fits; `low` is taken to fit, and every other answer was asked for.

    Tokens of joined texts hardly ever shrink but may, so where `fits` is not quite monotonic the answer may be a smaller one.
    """
    step = 1
    while low + step <= high and fits(low + step):
        low += step
        step *= 2
    high = min(high, low + step - 1)
    while low < high:
        middle = (low + high + 1) // 2
        if fits(middle):
            low = middle
        else:
            high = middle - 1
    return low
