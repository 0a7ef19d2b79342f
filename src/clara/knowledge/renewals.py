"""Facts that end, and the rule that sets what comes after them: a yearly decree, a budget, a revaluation."""

from calendar import monthrange
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path
from typing import Final

from clara.data_files import DataError, Fault, read_data, record
from clara.knowledge.catalogue import Catalogue
from clara.knowledge.derivations import Derivations, names_in
from clara.knowledge.law.references import CitedFacts
from clara.knowledge.procedure import Fact

FILE: Final = "renewals.json"


@dataclass(frozen=True, slots=True)
class RenewalRule:
    """What sets figures anew each year. `said`: what its title says; `opens` and `closes`: days of a year as "12-20"."""

    id: str
    title: str
    said: tuple[str, ...]
    opens: str
    closes: str
    meanwhile: str
    norms: frozenset[str] = frozenset()
    bases: frozenset[str] = frozenset()
    procedures: frozenset[str] = frozenset()
    facts: frozenset[str] = frozenset()

    def window(self, ending: date) -> tuple[date, date]:
        """Give the days between which the successor of what ends on `ending` is usually published."""
        opens = _on(ending.year, self.opens)
        first = opens if abs((ending - opens).days) < _HALF_A_YEAR else _on(ending.year + 1, self.opens)
        last = _on(first.year, self.closes)
        return first, last if last >= first else _on(first.year + 1, self.closes)


_HALF_A_YEAR: Final = 183


def _on(year: int, day_of_year: str) -> date:
    """Give a day of a year; the last of February in any."""
    month, day = map(int, day_of_year.split("-"))
    return date(year, month, min(day, monthrange(year, month)[1]))


@dataclass(frozen=True, slots=True)
class EndingFact:
    """A fact that is told today and ends, and the rule that renews it: None where no rule is known."""

    fact: Fact
    procedure: str
    ends: date
    rule: RenewalRule | None = field(default=None)


def read_renewals(folder: Path, catalogue: Catalogue, derivations: Derivations) -> tuple[RenewalRule, ...]:
    """Read `folder`/renewals.json. Raises DataError naming what no fact, procedure or base is."""
    document = read_data(folder, FILE, "renewals")
    rules = tuple(
        record(
            RenewalRule,
            rule | {"opens": rule["from"], "closes": rule["until"]},
            norms=frozenset,
            bases=frozenset,
            procedures=frozenset,
            facts=frozenset,
        )
        for rule in document["rules"]
    )
    known = {fact.id for procedure in catalogue.procedures.values() for fact in procedure.facts}
    faults = [
        Fault(FILE, f"$.rules[{place}].{name}", f"there is no {what} '{unknown}'; correct it")
        for place, rule in enumerate(rules)
        for name, what, there in (
            ("facts", "fact", known),
            ("procedures", "procedure", catalogue.procedures.keys()),
            ("bases", "base figure in derivations.json", derivations.bases.keys()),
        )
        for unknown in sorted(getattr(rule, name) - there)
    ]
    names = [rule.id for rule in rules]
    faults += [
        Fault(FILE, "$.rules", f"'{name}' is there twice; merge the two")
        for name in sorted({n for n in names if names.count(n) > 1})
    ]
    if faults:
        raise DataError(faults)
    return rules


def ending(
    catalogue: Catalogue, rules: Sequence[RenewalRule], derivations: Derivations, today: date, by: date
) -> list[EndingFact]:
    """Give the facts that are told today and end until `by`, that day included, by day, rule and id."""
    found = [
        EndingFact(fact, procedure.id, fact.validity.last, rule_of(fact, procedure.id, rules, derivations))
        for procedure in catalogue.procedures.values()
        for fact in procedure.facts
        if fact.published(today) and fact.validity.last and fact.validity.last <= by
    ]
    return sorted(found, key=lambda one: (one.ends, one.rule.id if one.rule else "~", one.fact.id))


def rule_of(fact: Fact, procedure: str, rules: Sequence[RenewalRule], derivations: Derivations) -> RenewalRule | None:
    """Give the rule that renews a fact: one that names it, else by base figures, else by norms, else by procedure."""
    cited = {basis.norm for basis in fact.legal_basis}
    bases = {name for one in derivations.of(fact.id) for name in names_in(one.formula)}
    ways: tuple[Callable[[RenewalRule], bool], ...] = (
        lambda rule: fact.id in rule.facts,
        lambda rule: bool(bases & rule.bases),
        lambda rule: bool(cited & rule.norms),
        lambda rule: procedure in rule.procedures,
    )
    return next((rule for way in ways for rule in rules if way(rule)), None)


def by_rule(ends: Sequence[EndingFact]) -> Mapping[RenewalRule | None, tuple[EndingFact, ...]]:
    """Group what ends by the rule that renews it, those without a rule last."""
    rules = [*dict.fromkeys(one.rule for one in ends if one.rule), None]
    return {rule: found for rule in rules if (found := tuple(one for one in ends if one.rule == rule))}


def renewed(catalogue: Catalogue, rules: Sequence[RenewalRule], derivations: Derivations) -> Mapping[str, CitedFacts]:
    """Give the facts with a last day that each rule renews, by its id."""
    found: dict[str, list[tuple[str, str]]] = {rule.id: [] for rule in rules}
    for procedure in catalogue.procedures.values():
        for fact in procedure.facts:
            if fact.validity.last and (rule := rule_of(fact, procedure.id, rules, derivations)):
                found[rule.id].append((fact.id, procedure.id))
    return {
        name: CitedFacts(tuple(fact for fact, _ in facts), tuple(dict.fromkeys(procedure for _, procedure in facts)))
        for name, facts in found.items()
    }
