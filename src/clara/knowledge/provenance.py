"""Whether facts stand on the sources that they need: a source is called what it is, and what may hurt has an official one."""

from collections.abc import Iterable, Iterator

from clara.data_files import Fault
from clara.knowledge.catalogue import Catalogue
from clara.knowledge.hotlines import FILE as TABLE
from clara.knowledge.hotlines import Hotline, Hotlines
from clara.knowledge.procedure import Certainty, Fact, FactKind, Procedure
from clara.knowledge.sources import FILE as REGISTRY
from clara.knowledge.sources import HOSTS_FILE, Hosts, RegisteredSource
from clara.language.figures.figure import Figure, FigureKind

# A wrong one of these costs money, a day or a life: whom to call, what to pay, on which form, where to ask.
OFFICIAL_KINDS = frozenset({FactKind.PHONE, FactKind.FEE, FactKind.URL, FactKind.FORM})
OFFICIAL_FIGURES = frozenset({FigureKind.PHONE, FigureKind.URL, FigureKind.EMAIL, FigureKind.FORM})
# Where offices are named in words, with no value to know them by.
OFFICIAL_SECTION = "contactos"


def provenance_faults(
    catalogue: Catalogue, registry: Iterable[RegisteredSource], hosts: Hosts, hotlines: Hotlines
) -> list[Fault]:
    """Check the sources of every fact, those that are not told included, of the registry, and of the lines to call."""
    faults = [fault for line in hotlines.lines for fault in _of_line(line, hosts)]
    for procedure in catalogue.procedures.values():
        faults += _of_procedure(procedure, hosts, hotlines)
    for source in registry:
        faults += _of_source(REGISTRY, f"{source.id}.url", source.url, hosts, official=source.official, told=True)
    return faults


def _of_line(line: Hotline, hosts: Hosts) -> Iterator[Fault]:
    confirmed = any(hosts.body_of(url) for url in line.sources)
    if not confirmed and line.unconfirmed is None:
        yield Fault(TABLE, line.id, "has no source of a public body; add it, or say in 'unconfirmed' why the line is told")
    elif confirmed and line.unconfirmed is not None:
        yield Fault(TABLE, line.id, "has a source of a public body and is called unconfirmed; remove one of them")
    for url in line.sources:
        if (why := hosts.refusal_of(url)) is not None:
            yield Fault(TABLE, line.id, f"{url} is never cited ({why}); find another source")


def _of_procedure(procedure: Procedure, hosts: Hosts, hotlines: Hotlines) -> Iterator[Fault]:
    file = f"{procedure.id}.json"
    for section in procedure.sections:
        for fact in section.facts:
            for source in fact.sources:
                told = fact.certainty is not Certainty.UNVERIFIED
                yield from _of_source(file, fact.id, source.url, hosts, official=source.official, told=told)
            if fact.certainty is not Certainty.UNVERIFIED:
                yield from _unsupported(file, section.id, fact, hotlines)
                yield from _of_phones(file, fact, hotlines)


def _of_source(file: str, place: str, url: str, hosts: Hosts, *, official: bool, told: bool) -> Iterator[Fault]:
    """Compare one source with its host. What is not told may point at a public page that nobody has read yet."""
    body = hosts.body_of(url)
    if (why := hosts.refusal_of(url)) is not None:
        yield Fault(file, place, f"{url} is never cited ({why}); find another source, or withhold the fact")
    elif official and body is None:
        yield Fault(file, place, f"no public body is known at {url}; remove 'official', or add its host to {HOSTS_FILE}")
    elif body is not None and told and not official:
        yield Fault(file, place, f"{url} is of a public body ({body}); set 'official' to true, or cite what was read")


def _unsupported(file: str, section: str, fact: Fact, hotlines: Hotlines) -> Iterator[Fault]:
    if any(source.official for source in fact.sources):
        return
    if fact.certainty is Certainty.OFFICIAL:
        yield Fault(file, fact.id, "has no official source; add it, or correct its certainty")
    elif needs_official(section, fact, hotlines):
        remedy = "tells a phone, fee, form or address, and has no official source; find one, or withhold it (unverified)"
        yield Fault(file, fact.id, remedy)


def needs_official(section: str, fact: Fact, hotlines: Hotlines) -> bool:
    """Whether a fact of a section may be told only with an official source.

    A fact that only mentions a line of the table rests on the source that stands there.
    """
    if section == OFFICIAL_SECTION or fact.kind in OFFICIAL_KINDS:
        return True
    return any(figure.kind in OFFICIAL_FIGURES and not _confirmed(figure, hotlines) for figure in fact.values)


def _confirmed(figure: Figure, hotlines: Hotlines) -> bool:
    line = hotlines.by_digits.get(str(figure.value)) if figure.kind is FigureKind.PHONE else None
    return line is not None and line.unconfirmed is None


def _of_phones(file: str, fact: Fact, hotlines: Hotlines) -> Iterator[Fault]:
    """Compare the numbers of a fact with the table: each stands there, and one of them is that of the line it names."""
    told = {str(figure.value) for figure in fact.values if figure.kind is FigureKind.PHONE}
    for digits in sorted(told - hotlines.by_digits.keys()):
        yield Fault(file, fact.id, f"tells {digits}, which is no line of {TABLE}; add the line there, or correct the number")
    text = fact.text.lower()
    for name in sorted({name for line in hotlines.lines for name in line.named if told and name in text}):
        lines = [line for line in hotlines.lines if name in line.named]
        if not told & {line.digits for line in lines}:
            numbers = " or ".join(line.number for line in lines)
            yield Fault(file, fact.id, f"names '{name}' with another number than {TABLE} ({numbers}); correct one of them")
