"""Comparing two runs over the same cases: a paired test tells a change for the worse from one case that fell otherwise."""

from collections.abc import Set
from dataclasses import dataclass
from math import comb
from typing import Final

# A run that is no worse than the other is called worse in so many of a hundred comparisons: the usual level.
LEVEL: Final = 0.05
# Cases named in a message; files of the run have all of them.
NAMED: Final = 8


@dataclass(frozen=True, slots=True)
class Change:
    """The cases that changed side between two runs, in their order."""

    better: tuple[str, ...]
    worse: tuple[str, ...]

    @property
    def p(self) -> float:
        """Give the chance of at least so many changes for the worse where either side is as likely.

        McNemar's exact test, one-sided: a binomial test on the cases that changed side.
        """
        changed = len(self.better) + len(self.worse)
        return sum(comb(changed, count) for count in range(len(self.worse), changed + 1)) / float(2**changed)

    @property
    def significant(self) -> bool:
        """Whether the second run is worse than chance explains: from five cases on, where none became right."""
        return self.p < LEVEL

    def __str__(self) -> str:
        more = f" and {len(self.worse) - NAMED} more" if len(self.worse) > NAMED else ""
        named = f" ({', '.join(self.worse[:NAMED])}{more})" if self.worse else ""
        return f"{len(self.worse)} became wrong{named}, {len(self.better)} right, p {self.p:.3f}"


def change(wrong_before: Set[str], wrong_now: Set[str]) -> Change:
    """Compare by the names of the cases that were wrong; whoever compares sees that both runs had the same cases."""
    return Change(tuple(sorted(wrong_before - wrong_now)), tuple(sorted(wrong_now - wrong_before)))


@dataclass(frozen=True, slots=True)
class Regression:
    """A group of cases that is worse than before: by the test, or by one case where none may ever be wrong."""

    measure: str
    change: Change

    def __str__(self) -> str:
        return f"{self.measure}: {self.change}"


def regression(measure: str, found: Change, *, strict: bool) -> list[Regression]:
    """Give what is worse. Where `strict`, code decides every case and each must be right: one is enough."""
    return [Regression(measure, found)] if found.significant or (strict and found.worse) else []
