"""The gate: least values of the measures, as data, what a run falls short of, and a paired test against an earlier run.

The paired test over the same cases tells a change for the worse from one case that fell otherwise.
"""

import tomllib
from collections.abc import Iterator, Mapping, Set
from dataclasses import dataclass
from math import comb
from pathlib import Path
from typing import Final, TypeVar

from pydantic import BaseModel, ValidationError

from clara.data_files import DataError, Fault
from clara.quality.dataset import SPLITS
from clara.quality.measures import MEASURES

Results = Mapping[str, float | None]
# "hit@1:cross_lingual" is hit@1 over the questions of that category.
BY_CATEGORY = ":"
NO_TABLE = "must hold tables such as [chain.test]; correct it"


@dataclass(frozen=True, slots=True)
class Gate:
    """Least values by tier, split and measure."""

    minima: Mapping[str, Mapping[str, Mapping[str, float]]]

    def wanted(self, tier: str, split: str) -> Mapping[str, float]:
        """Give the least values for one tier and split; empty when the gate does not hold them."""
        return self.minima.get(tier, {}).get(split, {})


@dataclass(frozen=True, slots=True)
class Shortfall:
    """A measure below its least value; `reached` is None when no question applied."""

    measure: str
    wanted: float
    reached: float | None

    def __str__(self) -> str:
        reached = "not measured" if self.reached is None else f"{self.reached:.3f}"
        return f"{self.measure}: {reached}, wanted at least {self.wanted:.3f}"


def read_gate(file: Path) -> Gate:
    """Read [tier.split] tables of least values. Raises DataError naming every fault."""
    try:
        document = tomllib.loads(file.read_text("utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise DataError([Fault(file.name, "file", f"cannot be read ({error}); restore it from the repository")]) from error
    faults = [
        Fault(file.name, place, remedy)
        for tier, splits in document.items()
        for place, remedy in (_tier_faults(tier, splits) if isinstance(splits, dict) else [(tier, NO_TABLE)])
    ]
    if faults:
        raise DataError(faults)
    return Gate(document)


def _tier_faults(tier: str, splits: Mapping[str, object]) -> Iterator[tuple[str, str]]:
    for split, minima in splits.items():
        place = f"{tier}.{split}"
        if not isinstance(minima, dict):
            yield place, NO_TABLE
            continue
        if split not in SPLITS:  # it would never be held against anything
            yield place, f"no such split; use one of {', '.join(SPLITS)}"
        for name, least in minima.items():
            if name.split(BY_CATEGORY)[0] not in MEASURES:
                yield f"{place}.{name}", f"no such measure; use one of {', '.join(MEASURES)}"
            if type(least) not in (int, float) or not 0 <= least <= 1:
                yield f"{place}.{name}", f"'{least}' is no share of 0..1; correct it"


def shortfalls(wanted: Mapping[str, float], results: Results) -> list[Shortfall]:
    """Compare results with least values; a measure that could not be taken falls short."""
    return [
        Shortfall(name, least, reached)
        for name, least in wanted.items()
        if (reached := results.get(name)) is None or round(reached, 6) < least
    ]


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


Left = TypeVar("Left", bound=BaseModel)


def read_left(file: Path, kind: type[Left], remedy: str = "write one with --out") -> Left:
    """Read what an earlier run left with --out. Raises DataError naming every fault with its remedy."""
    try:
        return kind.model_validate_json(file.read_bytes(), strict=True)
    except OSError as error:
        faults = [("file", f"cannot be read ({error.strerror})")]
    except ValidationError as error:
        faults = [(".".join(map(str, found["loc"])) or "file", found["msg"]) for found in error.errors()]
    raise DataError([Fault(file.name, place, f"{wrong}; {remedy}") for place, wrong in faults])
