"""Drift: what a source says now against what answers rest on, which facts that touches, and what follows for each of them.

All of it is decided here without asking anybody: values go in, values come out.
"""

import hashlib
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Any, Final, Literal

from clara.ingestion.rewording import reworded
from clara.knowledge.figures import Figure
from clara.knowledge.law.comparing import IN_FORCE, Weight, compare, compare_lines
from clara.knowledge.law.norm import Norm
from clara.knowledge.law.references import provisions_of
from clara.knowledge.procedure import Fact, Procedure
from clara.knowledge.sources import address_of

Relation = Literal["provision", "norm", "source"]
# A block of a page that says when it was made, or how often it was read, says nothing that a fact could rest on.
_STAMP: Final = re.compile(
    r"(?:última (?:actualización|modificación|revisión)|actualizad[oa]|fecha de (?:actualización|publicación)|visitas|hoy es)"
    r"\b.{0,60}",
    re.IGNORECASE,
)
# Lines. Longer pages are compared as a whole between what both begin and end with: matching takes the square of the length.
_LONGEST_PAGE: Final = 4_000
# A changed block touches a fact of the page when it held so many of the fact's longer words.
_SHARED_WORDS: Final = 0.5
_LONG_WORD: Final = re.compile(r"[^\W\d_]{5,}")


@dataclass(frozen=True, slots=True)
class Finding:
    """A difference between a source and what is served of it. `place` is the key of a provision, or a block of a page."""

    source_id: str
    kind: Literal["article", "page"]
    weight: Weight
    place: str
    title: str
    before: str | None
    after: str | None
    figures_gone: frozenset[Figure] = frozenset()
    figures_new: frozenset[Figure] = frozenset()

    @property
    def digest(self) -> str:
        """Name the difference: the same one has the same digest, whenever it is found."""
        parts = (self.source_id, self.place, self.before, self.after)
        return hashlib.sha256(
            "\0".join("\1" if part is None else part for part in parts).encode("utf-8", "replace")
        ).hexdigest()


@dataclass(frozen=True, slots=True)
class Touched:
    """A fact that a finding touches, by what of it, and the fields it would have with the new figure, where that is certain."""

    fact: Fact
    procedure: str
    relation: Relation
    proposal: Mapping[str, Any] | None = None


def drift_of_norm(served: Norm, live: Norm) -> tuple[Finding, ...]:
    """Compare two states of a norm, provision by provision."""
    return tuple(
        Finding(
            served.id, "article", change.weight, change.key, change.label, change.before, change.after,
            change.figures_gone, change.figures_new,
        )
        for change in compare(served, live)
    )  # fmt: skip


def drift_of_page(source_id: str, before: str, after: str) -> tuple[Finding, ...]:
    """Compare two texts of a page block by block, a block being lines that changed together."""
    old, new = before.split("\n"), after.split("\n")
    return tuple(finding for gone, came in _hunks(old, new) if (finding := _block(source_id, gone, came)))


def _hunks(old: Sequence[str], new: Sequence[str]) -> Iterator[tuple[Sequence[str], Sequence[str]]]:
    shortest = min(len(old), len(new))
    start = next((place for place in range(shortest) if old[place] != new[place]), shortest)
    rest = shortest - start
    end = next((place for place in range(rest) if old[-1 - place] != new[-1 - place]), rest)
    old, new = old[start : len(old) - end], new[start : len(new) - end]
    if max(len(old), len(new)) > _LONGEST_PAGE:
        yield old, new
        return
    for tag, old_from, old_to, new_from, new_to in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if tag != "equal":
            yield old[old_from:old_to], new[new_from:new_to]


def _block(source_id: str, gone: Sequence[str], came: Sequence[str]) -> Finding | None:
    weight, figures_gone, figures_new = compare_lines(gone, came)
    if weight is None:
        return None
    if all(_STAMP.fullmatch(line.strip()) for line in (*gone, *came)):
        weight = "cosmetic"
    title = next((line for line in (*gone, *came) if line), "")[:120]
    before, after = ("\n".join(lines) if lines else None for lines in (gone, came))
    return Finding(source_id, "page", weight, title, title, before, after, figures_gone, figures_new)


def blast_radius(
    finding: Finding, procedures: Iterable[Procedure], addresses: frozenset[str] = frozenset()
) -> tuple[Touched, ...]:
    """Give the facts that a finding touches. `addresses` are those of the source, as `address_of` gives them."""
    return tuple(
        Touched(
            fact, procedure.id, relation, proposal(fact, finding) if relation == "provision" or finding.kind == "page" else None
        )
        for procedure in procedures
        for fact in procedure.facts
        if (relation := _relation(finding, fact, addresses))
    )


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
