"""What a new base figure changes: the bases that a finding moves, from what to what, and the figures that follow by formula."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from clara.editorial.drift import Finding
from clara.editorial.rewording import reworded
from clara.knowledge.derivations import Base, Derivations, amounts, current, names_in, worked_out
from clara.knowledge.procedure import Fact
from clara.language.figures.figure import Figure, FigureKind
from clara.language.figures.reader import spanish


@dataclass(frozen=True, slots=True)
class Moved:
    """A base figure that moves, in euros. `new` is None where the source leaves doubt what it is now."""

    old: Decimal
    new: Decimal | None


def moved_bases(finding: Finding, derivations: Derivations, touched: Mapping[str, Fact]) -> dict[str, Moved]:
    """Give the bases, by name, whose figure went with a finding. `touched` are the facts that rest on what changed, by id."""
    gone = {Decimal(repr(one.value)) for one in finding.figures_gone if one.kind is FigureKind.AMOUNT}
    return {
        base.name: Moved(old, _new(finding, old))
        for base in derivations.bases.values()
        if base.fact in touched and (old := next((one for one in _known(base, touched[base.fact]) if one in gone), None))
    }


def derived_from(derivations: Derivations, fact_id: str, names: Iterable[str]) -> bool:
    """Whether a fact states a figure that any of these bases gives."""
    wanted = frozenset(names)
    return any(wanted & names_in(one.formula) for one in derivations.of(fact_id))


def derived_proposal(
    fact: Fact, derivations: Derivations, moved: Mapping[str, Moved], values: Mapping[str, Decimal]
) -> dict[str, Any] | None:
    """Give the fields of a fact with every figure that follows from the moved bases; None where any of it leaves doubt.

    `values` are the bases as they were, by name.
    """
    if any(one.new is None for one in moved.values()):
        return None
    changes = list(_changes(fact, derivations, moved, values))
    if not changes or any(old is None for old, _ in changes):
        return None
    return reworded(fact, [(old, new) for old, new in changes if old is not None])


def _changes(
    fact: Fact, derivations: Derivations, moved: Mapping[str, Moved], values: Mapping[str, Decimal]
) -> Iterator[tuple[Figure | None, Figure]]:
    """Give each figure that moves with its new one; None for one that the fact states twice, by different units."""
    before = {**values, **{name: one.old for name, one in moved.items()}}
    after = {**before, **{name: one.new for name, one in moved.items() if one.new is not None}}
    for one in derivations.of(fact.id):
        old, new = worked_out(one.formula, before), worked_out(one.formula, after)
        held = amounts(fact, old)
        if held and old != new:
            yield held[0] if len(held) == 1 else None, Figure(FigureKind.AMOUNT, float(new), held[0].unit)


def _known(base: Base, fact: Fact) -> Iterator[Decimal]:
    """Give a base as its fact states it now, and as the release has it: a correction may have come of this very finding."""
    now = current(base, fact)
    yield from (base.value,) if now is None else (now, base.value)


def _new(finding: Finding, old: Decimal) -> Decimal | None:
    """Give what stands where the old figure stood: in the line that differs in nothing but its numbers.

    Where there is no such line, the one amount that came for the one that went.
    """
    before, after = ((text or "").split("\n") for text in (finding.before, finding.after))
    came = {new for line in before for new in _in_its_place(line, after, float(old))}
    if len(came) == 1:
        return Decimal(repr(came.pop()))
    gone, new = (
        [figure for figure in figures if figure.kind is FigureKind.AMOUNT]
        for figures in (finding.figures_gone, finding.figures_new)
    )
    return Decimal(repr(new[0].value)) if not came and len(gone) == len(new) == 1 else None


def _in_its_place(line: str, others: Iterable[str], old: float) -> Iterator[float]:
    words, numbers = _parted(line)
    if old in numbers:
        for other in others:
            rest, came = _parted(other)
            if rest == words:
                yield from (new for number, new in zip(numbers, came, strict=True) if number == old)


def _parted(line: str) -> tuple[list[str], list[float]]:
    """Give what stands around the numbers of a line, and the numbers."""
    found = spanish().numbers_in(line)
    starts, ends = [start for start, _, _ in found], [end for _, end, _ in found]
    around = [line[end:start] for end, start in zip([0, *ends], [*starts, len(line)], strict=True)]
    return around, [value for _, _, value in found]
