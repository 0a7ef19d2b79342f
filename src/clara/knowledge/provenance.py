"""Whether facts stand on the sources that they need: a source is called what it is, and what may hurt has an official one."""

from collections.abc import Iterable, Iterator

from clara.knowledge.catalogue import Catalogue
from clara.knowledge.faults import Fault
from clara.knowledge.figures import FigureKind
from clara.knowledge.hosts import FILE, Hosts
from clara.knowledge.procedure import Certainty, Fact, FactKind, Procedure
from clara.knowledge.sources import FILE as REGISTRY
from clara.knowledge.sources import RegisteredSource

# A wrong one of these costs money, a day or a life: whom to call, what to pay, on which form, where to ask.
OFFICIAL_KINDS = frozenset({FactKind.PHONE, FactKind.FEE, FactKind.URL, FactKind.FORM})
OFFICIAL_FIGURES = frozenset({FigureKind.PHONE, FigureKind.URL, FigureKind.EMAIL, FigureKind.FORM})
# Where offices are named in words, with no value to know them by.
OFFICIAL_SECTION = "contactos"


def provenance_faults(catalogue: Catalogue, registry: Iterable[RegisteredSource], hosts: Hosts) -> list[Fault]:
    """Check the sources of every fact, those that are not told included, and of the registry."""
    faults = [fault for procedure in catalogue.procedures.values() for fault in _of_procedure(procedure, hosts)]
    for source in registry:
        faults += _of_source(REGISTRY, f"{source.id}.url", source.url, hosts, official=source.official, told=True)
    return faults


def _of_procedure(procedure: Procedure, hosts: Hosts) -> Iterator[Fault]:
    file = f"{procedure.id}.json"
    for section in procedure.sections:
        for fact in section.facts:
            for source in fact.sources:
                told = fact.certainty is not Certainty.UNVERIFIED
                yield from _of_source(file, fact.id, source.url, hosts, official=source.official, told=told)
            yield from _unsupported(file, section.id, fact)


def _of_source(file: str, place: str, url: str, hosts: Hosts, *, official: bool, told: bool) -> Iterator[Fault]:
    """Compare one source with its host. What is not told may point at a public page that nobody has read yet."""
    body = hosts.body_of(url)
    if (why := hosts.refusal_of(url)) is not None:
        yield Fault(file, place, f"{url} is never cited ({why}); find another source, or withhold the fact")
    elif official and body is None:
        yield Fault(file, place, f"no public body is known at {url}; remove 'official', or add its host to {FILE}")
    elif body is not None and told and not official:
        yield Fault(file, place, f"{url} is of a public body ({body}); set 'official' to true, or cite what was read")


def _unsupported(file: str, section: str, fact: Fact) -> Iterator[Fault]:
    if fact.certainty is Certainty.UNVERIFIED or any(source.official for source in fact.sources):
        return
    if fact.certainty is Certainty.OFFICIAL:
        yield Fault(file, fact.id, "has no official source; add it, or correct its certainty")
    elif needs_official(section, fact):
        remedy = "tells a phone, fee, form or address, and has no official source; find one, or withhold it (unverified)"
        yield Fault(file, fact.id, remedy)


def needs_official(section: str, fact: Fact) -> bool:
    """Whether a fact of a section may be told only with an official source."""
    named = any(figure.kind in OFFICIAL_FIGURES for figure in fact.values)
    return section == OFFICIAL_SECTION or fact.kind in OFFICIAL_KINDS or named
