"""The provisions that facts cite, as they were read: whether the figures of a fact stand in one of them.

`data/provisions` holds one file a norm, with the cited provisions alone (`tools/hold_provisions.py`).
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Final

from clara.data_files import DataError, Fault, read_data, read_document
from clara.knowledge.catalogue import Catalogue
from clara.knowledge.derivations import Derivations
from clara.knowledge.law.references import provisions_of
from clara.knowledge.procedure import Certainty, Fact
from clara.language.figures.figure import Figure, FigureKind
from clara.language.figures.reader import spanish

FOLDER: Final = "provisions"
# Figures that a norm sets; phones, addresses, forms and days have other sources, or are names.
SET_BY_LAW: Final = frozenset({FigureKind.AMOUNT, FigureKind.PERCENTAGE, FigureKind.PERIOD, FigureKind.AGE})

# The text of each provision by its key, by norm.
Provisions = Mapping[str, Mapping[str, str]]


# Figures that stood in no provision held when provisions began to be held: tables that copies leave out, figures that a fact
# denies, years. Each is for an editor to find; no other one is let in.
KNOWN: Final = "figures_to_find.json"


@dataclass(frozen=True, slots=True)
class Unsupported:
    """A figure of a fact that stands in none of the provisions which the fact cites."""

    fact: str
    figure: Figure

    def __str__(self) -> str:
        return f"{self.fact} ({self.figure})"


def read_provisions(folder: Path) -> Provisions:
    """Read `folder`/provisions. Raises DataError naming every fault."""
    held: dict[str, Mapping[str, str]] = {}
    faults: list[Fault] = []
    for path in sorted((folder / FOLDER).glob("*.json")):
        document, problems = read_document(folder, f"{FOLDER}/{path.name}", FOLDER)
        faults += problems
        if document is not None and not problems:
            held[document["norm"]] = document["texts"]
    if faults:
        raise DataError(faults)
    return held


def read_known(folder: Path) -> frozenset[str]:
    """Read `folder`/figures_to_find.json. Raises DataError."""
    document = read_data(folder, KNOWN, "figures_to_find")
    return frozenset(f"{fact} ({figure})" for fact, figures in document["figures"].items() for figure in figures)


def provision_faults(found: Iterable[Unsupported], known: frozenset[str]) -> Iterator[Fault]:
    """Refuse figures that stand in no provision cited, but those that are known to be looked for."""
    for one in found:
        if str(one) not in known:
            remedy = "stands in no provision that it cites; cite the one that has it, or give its formula in derivations.json"
            yield Fault(f"{one.fact.partition('-')[0]}.json", one.fact, f"{one.figure} {remedy}")


def unsupported(catalogue: Catalogue, provisions: Provisions, derivations: Derivations) -> Iterator[Unsupported]:
    """Find the figures of official facts that stand in no provision cited and follow from no formula.

    A fact of which a cited provision is not held is left out: nothing can be said of it.
    """
    for procedure in catalogue.procedures.values():
        for fact in procedure.facts:
            yield from unsupported_in(fact, provisions, derivations)


def unsupported_in(fact: Fact, provisions: Provisions, derivations: Derivations) -> Iterator[Unsupported]:
    """Find them in one fact."""
    texts = _cited(fact, provisions) if fact.certainty is Certainty.OFFICIAL else None
    if not texts:
        return
    computed = {float(one.value) for one in derivations.of(fact.id)}
    standing = computed.union(*map(_numbers, texts))
    for figure in sorted(fact.values, key=str):
        if figure.kind in SET_BY_LAW and figure.value not in standing:
            yield Unsupported(fact.id, figure)


@lru_cache(maxsize=1024)
def _numbers(text: str) -> frozenset[float]:
    """Give every number of a provision, in digits or in words."""
    read = spanish()
    stated = {value.value for value in read.values_in(text) if isinstance(value.value, float)}
    return frozenset({number for _, _, number in read.numbers_in(text)} | stated)


def _cited(fact: Fact, provisions: Provisions) -> list[str] | None:
    """Give the texts that a fact cites; None where one is not held, or where no provision is named."""
    texts: list[str] = []
    for basis in fact.legal_basis:
        keys = provisions_of(basis)
        held = provisions.get(basis.norm, {})
        if not keys or not keys <= held.keys():
            return None
        texts += [held[key] for key in keys]
    return texts
