"""Figures that follow from others: each with the formula that gives it, and the base figures that one law fixes for all.

A base is an amount that a fact states (the IPREM, the minimum wage). What derives from it says so in data/derivations.json, so
that one new base gives every figure that has to follow.
"""

import ast
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Decimal
from fractions import Fraction
from operator import add, mul, sub, truediv
from pathlib import Path
from typing import Final

from clara.data_files import DataError, Fault, read_data
from clara.errors import Invalid
from clara.knowledge.catalogue import Catalogue
from clara.knowledge.procedure import Fact
from clara.language.figures.figure import Figure, FigureKind

FILE: Final = "derivations.json"
CENT: Final = Decimal("0.01")
_OPERATORS: Final[Mapping[type[ast.operator], Callable[[Fraction, Fraction], Fraction]]] = {
    ast.Add: add, ast.Sub: sub, ast.Mult: mul, ast.Div: truediv,
}  # fmt: skip


class FormulaError(Invalid):
    """A formula cannot be read or worked out. The message says why."""


@dataclass(frozen=True, slots=True)
class Base:
    """A figure that others derive from: the only amount of its unit ("EUR/month") in the fact that states it."""

    name: str
    title: str
    fact: str
    value: Decimal
    unit: str


@dataclass(frozen=True, slots=True)
class Derived:
    """An amount of a fact, in euros, and the formula that gives it: numbers, names of bases, + - * / and parentheses."""

    value: Decimal
    formula: str


@dataclass(frozen=True, slots=True)
class Derivations:
    """Bases by name, and what derives from them by fact id."""

    bases: Mapping[str, Base]
    derived: Mapping[str, tuple[Derived, ...]]

    def of(self, fact_id: str) -> tuple[Derived, ...]:
        """Give what a fact states of bases, the base itself included, as formulas."""
        itself = tuple(Derived(base.value, base.name) for base in self.bases.values() if base.fact == fact_id)
        return itself + self.derived.get(fact_id, ())


NONE: Final = Derivations({}, {})


def read_derivations(folder: Path) -> Derivations:
    """Read `folder`/derivations.json. Raises DataError naming every fault, formulas that cannot be read included."""
    document = read_data(folder, FILE, "derivations")
    bases = {
        name: Base(name, told["title"], told["fact"], Decimal(str(told["value"])), told["unit"])
        for name, told in document["bases"].items()
    }
    derived = {
        fact: tuple(Derived(Decimal(value), formula) for value, formula in formulas.items())
        for fact, formulas in document["derived"].items()
    }
    values = {base.name: base.value for base in bases.values()}
    faults = [
        Fault(FILE, f"$.derived.{fact}", f"'{one.formula}': {why}; correct the formula")
        for fact, formulas in derived.items()
        for one in formulas
        if (why := _unreadable(one.formula, values))
    ]
    if faults:
        raise DataError(faults)
    return Derivations(bases, derived)


def _unreadable(formula: str, values: Mapping[str, Decimal]) -> str:
    try:
        if not names_in(formula):
            return "names no base"
        worked_out(formula, values)
    except FormulaError as error:
        return str(error)
    return ""


def derivation_faults(derivations: Derivations, catalogue: Catalogue) -> Iterator[Fault]:
    """Compare with the facts: each base stands in its fact, each formula gives a figure of its fact."""
    facts = {fact.id: fact for procedure in catalogue.procedures.values() for fact in procedure.facts}
    for base in derivations.bases.values():
        place = f"$.bases.{base.name}"
        if base.fact not in facts:
            yield Fault(FILE, place, f"there is no fact '{base.fact}'; correct the id")
        elif (now := current(base, facts[base.fact])) != base.value:
            said = "is not the only amount of its unit there" if now is None else f"is {shown(now)} there"
            yield Fault(FILE, place, f"{shown(base.value)} {base.unit} {said} ({base.fact}); correct one of the two")
    values = {base.name: base.value for base in derivations.bases.values()}
    itself = {(base.fact, base.value): base.name for base in derivations.bases.values()}
    for fact, formulas in derivations.derived.items():
        if fact not in facts:
            yield Fault(FILE, f"$.derived.{fact}", "there is no such fact; correct the id")
            continue
        for one in formulas:
            if base_name := itself.get((fact, one.value)):
                yield Fault(FILE, f"$.derived.{fact}", f"{shown(one.value)} is the base {base_name} itself; remove it here")
            yield from _figure_faults(facts[fact], one, worked_out(one.formula, values))


def _figure_faults(fact: Fact, one: Derived, given: Decimal) -> Iterator[Fault]:
    place = f"$.derived.{fact.id}"
    if not amounts(fact, one.value):
        yield Fault(FILE, place, f"the fact states no amount of {shown(one.value)}; correct the figure, or the fact")
    if given != one.value:
        yield Fault(FILE, place, f"{one.formula} is {shown(given)}, not {shown(one.value)}; correct one of the two")


def current(base: Base, fact: Fact) -> Decimal | None:
    """Give the base as its fact states it now; None when it does not, or not clearly."""
    found = {_exact(figure) for figure in fact.values if figure.kind is FigureKind.AMOUNT and figure.unit == base.unit}
    return found.pop() if len(found) == 1 else None


def amounts(fact: Fact, value: Decimal) -> list[Figure]:
    """Give the amounts of a fact that are worth so much, whatever they are counted by."""
    return [figure for figure in fact.values if figure.kind is FigureKind.AMOUNT and _exact(figure) == value]


def worked_out(formula: str, values: Mapping[str, Decimal]) -> Decimal:
    """Work out a formula, to the cent, halves up; `values` are the bases by name. Raises FormulaError."""
    try:
        exact = _value(_read(formula), {name: Fraction(value) for name, value in values.items()})
        return (Decimal(exact.numerator) / Decimal(exact.denominator)).quantize(CENT, ROUND_HALF_UP)
    except (ArithmeticError, ValueError) as error:
        raise FormulaError("cannot be worked out: it divides by nothing, or holds numbers without end") from error


def names_in(formula: str) -> frozenset[str]:
    """Give the bases that a formula names. Raises FormulaError."""
    return frozenset(node.id for node in ast.walk(_read(formula)) if isinstance(node, ast.Name))


def shown(value: Decimal) -> str:
    """Write an amount plainly, as in "12600" and "953.68"."""
    return f"{value.normalize():f}"


def _read(formula: str) -> ast.expr:
    try:
        return ast.parse(formula, mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise FormulaError("cannot be read; write numbers, names of bases, + - * / and parentheses") from error


def _value(node: ast.expr, values: Mapping[str, Fraction]) -> Fraction:
    match node:
        case ast.Constant(value=int() | float() as number) if not isinstance(number, bool):
            return Fraction(repr(number))  # as it is written: 0.3 is three tenths
        case ast.Name(id=name) if name in values:
            return values[name]
        case ast.Name(id=name):
            raise FormulaError(f"there is no base '{name}'; there are {', '.join(sorted(values))}")
        case ast.BinOp(left=left, op=operator, right=right) if type(operator) in _OPERATORS:
            return _OPERATORS[type(operator)](_value(left, values), _value(right, values))
    raise FormulaError("holds something else than numbers, names of bases, + - * / and parentheses")


def _exact(figure: Figure) -> Decimal:
    return Decimal(repr(figure.value)) if isinstance(figure.value, float) else Decimal("NaN")
