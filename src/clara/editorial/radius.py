"""The blast radius of a finding: the facts that it touches, by what of them, and what follows for each if that is certain."""

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal

from clara.editorial.derivations import Moved, derived_from, derived_proposal, moved_bases
from clara.editorial.drift import Finding
from clara.editorial.rewording import reworded
from clara.knowledge.derivations import NONE, Derivations, current
from clara.knowledge.law.comparison import IN_FORCE
from clara.knowledge.law.references import provisions_of
from clara.knowledge.procedure import Fact, Procedure
from clara.knowledge.sources import address_of
from clara.language.figures.figure import Figure

# "formula": no word of the fact's sources has changed, but a figure that one of its figures derives from.
Relation = Literal["provision", "norm", "source", "formula"]
# Gives the fields that a fact would have with the new figures; None where that leaves doubt.
Propose = Callable[[Fact], dict[str, Any] | None]
# A changed block touches a fact of the page when it held so many of the fact's longer words.
_SHARED_WORDS: Final = 0.5
_LONG_WORD: Final = re.compile(r"[^\W\d_]{5,}")


@dataclass(frozen=True, slots=True)
class Touched:
    """A fact that a finding touches, by what of it, and the fields it would have with the new figure, where that is certain."""

    fact: Fact
    procedure: str
    relation: Relation
    proposal: Mapping[str, Any] | None = None


def blast_radius(
    finding: Finding,
    procedures: Iterable[Procedure],
    addresses: frozenset[str] = frozenset(),
    derivations: Derivations = NONE,
) -> tuple[Touched, ...]:
    """Give the facts that a finding touches. `addresses` are those of the source, as `address_of` gives them."""
    facts = [(fact, procedure.id) for procedure in procedures for fact in procedure.facts]
    relations = {fact.id: relation for fact, _ in facts if (relation := _relation(finding, fact, addresses))}
    by_id = {fact.id: fact for fact, _ in facts}
    moved = moved_bases(finding, derivations, {name: by_id[name] for name in relations})
    if moved:
        following = (fact.id for fact, _ in facts if derived_from(derivations, fact.id, moved))
        relations = {**dict.fromkeys(following, "formula"), **relations}
    propose = proposing(finding, derivations, by_id, moved)
    return tuple(
        Touched(fact, procedure, relation, propose(fact) if proposes(finding.kind, relation) else None)
        for fact, procedure in facts
        if (relation := relations.get(fact.id))
    )


def proposes(kind: str, relation: str) -> bool:
    """Whether a finding of a kind is near enough to a fact to say what it should say now."""
    return relation in {"provision", "formula"} or kind == "page"


def proposing(finding: Finding, derivations: Derivations, facts: Mapping[str, Fact], moved: Mapping[str, Moved]) -> Propose:
    """Give what proposes: by formula where a figure of the fact derives from a base that moved, else figure by figure.

    `facts` are those that state the bases, by id.
    """
    values = {
        base.name: (current(base, facts[base.fact]) if base.fact in facts else None) or base.value
        for base in derivations.bases.values()
    }

    def propose(fact: Fact) -> dict[str, Any] | None:
        if derived_from(derivations, fact.id, moved):
            return derived_proposal(fact, derivations, moved, values)
        return proposal(fact, finding)

    return propose


def _relation(finding: Finding, fact: Fact, addresses: frozenset[str]) -> Relation | None:
    """Tell by what a finding touches a fact: its provision, its norm as a whole, or nothing but its address."""
    if finding.weight == "cosmetic":
        return None
    cited = any(address_of(source.url) in addresses for source in fact.sources)
    if finding.kind == "page":
        return "source" if cited and _speaks_of(finding, fact) else None
    bases = [basis for basis in fact.legal_basis if basis.norm == finding.source_id]
    pointed = [provisions_of(basis) for basis in bases]
    if any(finding.place in keys for keys in pointed):
        return "provision"
    if finding.place == IN_FORCE or any(not keys for keys in pointed):
        return "norm" if bases or cited else None
    return "source" if cited and not bases else None


def _speaks_of(finding: Finding, fact: Fact) -> bool:
    """Whether the changed block held a figure of the fact, or much of its words."""
    if fact.values & finding.figures_gone:
        return True
    words = set(_LONG_WORD.findall(fact.text.lower()))
    held = set(_LONG_WORD.findall((finding.before or "").lower()))
    return bool(words) and len(words & held) >= _SHARED_WORDS * len(words)


def proposal(fact: Fact, finding: Finding) -> dict[str, Any] | None:
    """Give the fields of the fact with the new figure in place of the one that went; None unless that is certain.

    Certain is: the source lost one figure of a kind and unit, which the fact states, and got one of the same kind and unit.
    """
    certain = [
        (gone, came[0])
        for gone in fact.values & finding.figures_gone
        if len(came := [figure for figure in finding.figures_new if _alike(figure, gone)]) == 1
        and sum(_alike(figure, gone) for figure in finding.figures_gone) == 1
    ]
    if len(certain) != len(fact.values & finding.figures_gone) or not certain:
        return None
    return reworded(fact, certain)


def _alike(one: Figure, other: Figure) -> bool:
    return one.kind is other.kind and one.unit == other.unit
