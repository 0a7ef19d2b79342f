"""Drift: what a source says now against what answers rest on, the facts that it touches, and what follows for each if certain.

All of it is decided here without asking anybody: values go in, values come out.
"""

import hashlib
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from difflib import SequenceMatcher
from typing import Any, Final, Literal

from clara.knowledge.derivations import NONE, Base, Derivations, amounts, current, names_in, worked_out
from clara.knowledge.law.comparison import IN_FORCE, Weight, compare, compare_lines
from clara.knowledge.law.norm import Norm
from clara.knowledge.law.references import provisions_of
from clara.knowledge.procedure import Fact, Procedure
from clara.knowledge.sources import address_of
from clara.language.figures.figure import Figure, FigureKind, figures_as_json
from clara.language.figures.lexicon import SPANISH
from clara.language.figures.reader import spanish
from clara.language.tokens import LETTER

# A block of a page that says when it was made, or how often it was read, says nothing that a fact could rest on.
_STAMP: Final = re.compile(
    r"(?:última (?:actualización|modificación|revisión)|actualizad[oa]|fecha de (?:actualización|publicación)|visitas|hoy es)"
    r"\b.{0,60}",
    re.IGNORECASE,
)
# Lines. Longer pages are compared as a whole between what both begin and end with: matching takes the square of the length.
_LONGEST_PAGE: Final = 4_000


@dataclass(frozen=True, slots=True)
class DriftFinding:
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


def drift_of_norm(served: Norm, live: Norm) -> tuple[DriftFinding, ...]:
    """Compare two states of a norm, provision by provision."""
    return tuple(
        DriftFinding(
            served.id, "article", change.weight, change.key, change.label, change.before, change.after,
            change.figures_gone, change.figures_new,
        )
        for change in compare(served, live)
    )  # fmt: skip


def drift_of_page(source_id: str, before: str, after: str) -> tuple[DriftFinding, ...]:
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


def _block(source_id: str, gone: Sequence[str], came: Sequence[str]) -> DriftFinding | None:
    weight, figures_gone, figures_new = compare_lines(gone, came)
    if weight is None:
        return None
    if all(_STAMP.fullmatch(line.strip()) for line in (*gone, *came)):
        weight = "cosmetic"
    title = next((line for line in (*gone, *came) if line), "")[:120]
    before, after = ("\n".join(lines) if lines else None for lines in (gone, came))
    return DriftFinding(source_id, "page", weight, title, title, before, after, figures_gone, figures_new)


_PHONE: Final = re.compile(r"\d(?:[ .]?\d){2,11}")


def reworded(fact: Fact, changes: Sequence[tuple[Figure, Figure]]) -> dict[str, Any] | None:
    """Give text and values of a fact with each first figure replaced by the second; None where the text leaves doubt."""
    text, values = fact.text, set(fact.values)
    for old, new in changes:
        expected = (spanish().values_in(text) - {old}) | {new}
        written = {f"{text[:start]}{instead}{text[end:]}" for (start, end), instead in _places(text, old, new)}
        found = {one for one in written if spanish().values_in(one) == expected}
        if len(found) != 1 or new in values:
            return None
        text = found.pop()
        values = (values - {old}) | {new}
    return {"text": text, "values": figures_as_json(values)}


def _places(text: str, old: Figure, new: Figure) -> Iterator[tuple[tuple[int, int], str]]:
    """Give each place where the old figure may stand, and what stands there then."""
    if isinstance(old.value, float) and isinstance(new.value, float):
        if 1.0 not in {old.value, new.value}:  # "1 mes" and "3 meses" differ in more than the number
            numbers = ((start, end) for start, end, value in spanish().numbers_in(text) if value == old.value)
            yield from ((span, _number(float(new.value), new.kind)) for span in numbers)
    elif old.kind is FigureKind.DATE:
        for before, after in zip(_dates(str(old.value)), _dates(str(new.value)), strict=False):
            yield from ((match.span(), after) for match in re.finditer(re.escape(before), text))
    elif old.kind is FigureKind.PHONE:
        phones = (match for match in _PHONE.finditer(text) if re.sub(r"\D", "", match[0]) == old.value)
        yield from ((match.span(), _grouped(str(new.value))) for match in phones)


def _number(value: float, kind: FigureKind) -> str:
    """Write a number as Spanish does: 1.234,5. An amount with cents has two digits of them."""
    whole, _, part = f"{value:.15g}".partition(".")
    grouped = f"{int(whole):,}".replace(",", ".")
    part = part.ljust(2, "0") if part and kind is FigureKind.AMOUNT else part
    return f"{grouped},{part}" if part else grouped


def _dates(value: str) -> list[str]:
    """Give the ways in which a day may be written, in a fixed order; none for parts of days."""
    match = re.fullmatch(r"(?:(\d{4})|-)-(\d{2})-(\d{2})", value)
    if match is None:
        return []
    year, month, day = match[1], int(match[2]), int(match[3])
    name = spanish().lexicon(SPANISH).month_name(month)
    spelt = f"{day} de {name}" if name else ""
    return [f"{spelt} de {year}", f"{day:02d}/{month:02d}/{year}", f"{day}/{month}/{year}"] if year else [spelt]


def _grouped(digits: str) -> str:
    return " ".join(re.findall(r"\d{3}", digits)) if len(digits) % 3 == 0 else digits


@dataclass(frozen=True, slots=True)
class Moved:
    """A base figure that moves, in euros. `new` is None where the source leaves doubt what it is now."""

    old: Decimal
    new: Decimal | None


def moved_bases(finding: DriftFinding, derivations: Derivations, touched: Mapping[str, Fact]) -> dict[str, Moved]:
    """Give the bases, by name, whose figure went with a finding. `touched` are the facts that rest on what changed, by id."""
    gone = {Decimal(repr(one.value)) for one in finding.figures_gone if one.kind is FigureKind.AMOUNT}
    return {
        base.name: Moved(old, _new(finding, old))
        for base in derivations.bases.values()
        if base.fact in touched and (old := next((one for one in _known(base, touched[base.fact]) if one in gone), None))
    }


def stated_bases(derivations: Derivations, facts: Mapping[str, Fact]) -> dict[str, Decimal]:
    """Give the bases by name, each as its fact states it now, else as the release has it. `facts` are by id."""
    return {
        base.name: (current(base, facts[base.fact]) if base.fact in facts else None) or base.value
        for base in derivations.bases.values()
    }


def derived_from(derivations: Derivations, fact_id: str, names: Iterable[str]) -> bool:
    """Whether a fact states a figure that any of these bases gives."""
    wanted = frozenset(names)
    return any(wanted & names_in(one.formula) for one in derivations.of(fact_id))


def _changes(
    fact: Fact, derivations: Derivations, moved: Mapping[str, Moved], values: Mapping[str, Decimal]
) -> Iterator[tuple[Figure | None, Figure]]:
    """Give each figure that moves with its new one; None for one that the fact states twice, by different units.

    `values` are the bases as they were, by name.
    """
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


def _new(finding: DriftFinding, old: Decimal) -> Decimal | None:
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


# "formula": no word of the fact's sources has changed, but a figure that one of its figures derives from.
Relation = Literal["provision", "norm", "source", "formula"]
# Gives the fields that a fact would have with the new figures; None where that leaves doubt.
Propose = Callable[[Fact], dict[str, Any] | None]
# A changed block touches a fact of the page when it held so many of the fact's longer words.
_SHARED_WORDS: Final = 0.5
_LONG_WORD: Final = re.compile(f"{LETTER}{{5,}}")


@dataclass(frozen=True, slots=True)
class Touched:
    """A fact that a finding touches, by what of it, and the fields it would have with the new figure, where that is certain."""

    fact: Fact
    procedure: str
    relation: Relation
    proposal: Mapping[str, Any] | None = None


def blast_radius(
    finding: DriftFinding,
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


def proposing(
    finding: DriftFinding, derivations: Derivations, facts: Mapping[str, Fact], moved: Mapping[str, Moved]
) -> Propose:
    """Give what proposes: by formula where a figure of the fact derives from a base that moved, else figure by figure.

    By formula, every figure that follows from the moved bases is given, or nothing. `facts` are those that state the bases, by
    id.
    """
    values = stated_bases(derivations, facts)

    def propose(fact: Fact) -> dict[str, Any] | None:
        if not derived_from(derivations, fact.id, moved):
            return proposal(fact, finding)
        changes = list(_changes(fact, derivations, moved, values))
        certain = [(old, new) for old, new in changes if old is not None]
        if len(certain) < len(changes) or any(one.new is None for one in moved.values()):
            return None
        return reworded(fact, certain) if certain else None

    return propose


def _relation(finding: DriftFinding, fact: Fact, addresses: frozenset[str]) -> Relation | None:
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


def _speaks_of(finding: DriftFinding, fact: Fact) -> bool:
    """Whether the changed block held a figure of the fact, or much of its words."""
    if fact.values & finding.figures_gone:
        return True
    words = set(_LONG_WORD.findall(fact.text.lower()))
    held = set(_LONG_WORD.findall((finding.before or "").lower()))
    return bool(words) and len(words & held) >= _SHARED_WORDS * len(words)


def proposal(fact: Fact, finding: DriftFinding) -> dict[str, Any] | None:
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
