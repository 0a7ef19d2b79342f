"""The gate: least values of the measures, as data, and what a run falls short of."""

import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

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
