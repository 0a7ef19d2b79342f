"""The registry of sources, whose pages they are, and whether facts stand on those that they need."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import yaml

from clara.data_files import DataError, Fault, read_data, read_schema, record
from clara.knowledge.catalogue import Catalogue
from clara.knowledge.hotlines import FILE as TABLE
from clara.knowledge.hotlines import Hotline, Hotlines
from clara.knowledge.procedure import Certainty, Fact, FactKind
from clara.language.figures.figure import Figure, FigureKind

FILE = "sources.yaml"
# A file of 10,000 sources has a megabyte; what has more is another file.
MOST_CHARACTERS = 4_000_000


class SourceKind(StrEnum):
    """How a source is read."""

    NORM = "norm"
    HTML = "html"
    PDF = "pdf"
    XML = "xml"


@dataclass(frozen=True, slots=True)
class RegisteredSource:
    """A norm or a page that facts rest on.

    Nothing outside `domain` is asked for it. `every_days` is how old the last look at it may be, `pause_seconds` the time
    between two requests to one host. `procedures` are the ids of those whose facts rest on it; a norm without any holds for
    all of them.
    """

    id: str
    name: str
    kind: SourceKind
    url: str
    procedures: tuple[str, ...]
    domain: str
    every_days: int
    pause_seconds: float
    official: bool = True


def address_of(url: str) -> str:
    """Give what of an address tells pages apart: not the scheme, not the fragment, not the capitals of the host."""
    parts = urlsplit(url)
    query = f"?{parts.query}" if parts.query else ""
    return f"{parts.netloc.lower()}{parts.path}{query}"


def read_sources(folder: Path) -> dict[str, RegisteredSource]:
    """Read `folder`/sources.yaml by id, in its order. Raises DataError naming every fault with its place."""
    schema = read_schema(folder / "schema" / "sources.schema.json")
    document = _loaded(folder / FILE)
    if faults := schema.faults(document, FILE):
        raise DataError(faults)
    sources = [record(RegisteredSource, entry, kind=SourceKind, pause_seconds=float) for entry in document["sources"]]
    if faults := list(_faults(sources)):
        raise DataError(faults)
    return {source.id: source for source in sources}


def source_faults(sources: Mapping[str, RegisteredSource], catalogue: Catalogue) -> list[Fault]:
    """Compare the registry with the facts: every norm and official page that a fact cites is in it, with its procedures."""
    norms: dict[str, set[str]] = {}
    pages: dict[str, set[str]] = {}
    for procedure in catalogue.procedures.values():
        for fact in procedure.facts:
            for basis in fact.legal_basis:
                norms.setdefault(basis.norm, set()).add(procedure.id)
            for source in fact.sources:
                if source.official and not is_norm(source.url):
                    pages.setdefault(address_of(source.url), set()).add(procedure.id)
    held = {address_of(source.url) for source in sources.values() if source.kind is not SourceKind.NORM}
    missing = [
        *(f"facts cite the norm {norm}" for norm in sorted(norms.keys() - sources.keys())),
        *(f"facts cite the official page {address}" for address in sorted(pages.keys() - held)),
    ]
    faults = [Fault(FILE, "$.sources", f"{what}, which is not here; add it") for what in missing]
    for one in sources.values():
        citing = norms.get(one.id, set()) if one.kind is SourceKind.NORM else pages.get(address_of(one.url), set())
        if set(one.procedures) != citing:
            remedy = f"its facts are of [{', '.join(sorted(citing))}], not of [{', '.join(one.procedures)}]; correct it"
            faults.append(Fault(FILE, f"{one.id}: procedures", remedy))
    return faults


def is_norm(url: str) -> bool:
    """Whether an address is that of a norm in the gazette."""
    parts = urlsplit(url)
    return within(parts.hostname, "boe.es") and (parts.path.startswith("/eli/") or parts.path == "/buscar/act.php")


def _faults(sources: Sequence[RegisteredSource]) -> Iterator[Fault]:
    known: dict[tuple[str, str], int] = {}
    for number, source in enumerate(sources):
        place = f"$.sources[{number}]"
        try:
            parts = urlsplit(source.url)
            host, port = parts.hostname, parts.port
        except ValueError as error:
            yield Fault(FILE, f"{place}.url", f"is no address ({error}); correct it")
            continue
        if not within(host, source.domain):
            yield Fault(FILE, f"{place}.url", f"its host {host} is not within {source.domain}; correct one of them")
        if port is not None:
            yield Fault(FILE, f"{place}.url", f"names the port {port}; only the usual ones are asked: remove it")
        if source.official and parts.scheme != "https":
            yield Fault(FILE, f"{place}.url", "an official source is asked by https only; write https://, or official: false")
        for field, value in (("id", source.id), ("url", address_of(source.url))):
            if (first := known.setdefault((field, value), number)) != number:
                yield Fault(FILE, f"{place}.{field}", f"is that of $.sources[{first}]; merge the two")


class _Loader(yaml.SafeLoader):
    """Reads plain values only: no entry twice, and none that stands for others, which a few lines could blow up with."""

    def compose_node(self, parent: yaml.Node | None, index: int) -> yaml.Node | None:
        if self.check_event(yaml.AliasEvent):
            raise yaml.composer.ComposerError(None, None, "aliases are not read", self.peek_event().start_mark)  # type: ignore[no-untyped-call]
        return super().compose_node(parent, index)

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        keys: set[str] = set()
        for key, _ in node.value:
            if not isinstance(key, yaml.ScalarNode):
                raise yaml.constructor.ConstructorError(None, None, "a name must be a plain word", key.start_mark)
            if key.value in keys:
                raise yaml.constructor.ConstructorError(None, None, f"{key.value!r} is there twice", key.start_mark)
            keys.add(key.value)
        return super().construct_mapping(node, deep)


def _loaded(path: Path) -> Any:  # noqa: ANN401  anything, until the schema has seen it
    """Read a YAML file. Raises DataError."""
    try:
        text = path.read_text("utf-8")
    except OSError as error:
        raise DataError([Fault(FILE, "file", f"cannot be read ({error.strerror}); restore it from the repository")]) from error
    except UnicodeDecodeError as error:
        raise DataError([Fault(FILE, f"byte {error.start}", "not UTF-8; save the file as UTF-8")]) from error
    if len(text) > MOST_CHARACTERS:
        raise DataError([Fault(FILE, "file", f"has more than {MOST_CHARACTERS} characters; restore it from the repository")])
    try:
        return yaml.load(text, _Loader)  # noqa: S506  a SafeLoader
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark
        place = f"line {mark.line + 1}, column {mark.column + 1}" if mark else "file"
        raise DataError([Fault(FILE, place, f"not YAML ({error.problem}); mend it there")]) from error
    except yaml.YAMLError as error:
        raise DataError([Fault(FILE, "file", f"not YAML ({' '.join(str(error).split())}); mend it")]) from error
    except (RecursionError, ValueError) as error:  # a number or a day that only looks like one
        raise DataError([Fault(FILE, "file", f"not usable YAML ({error}); mend it")]) from error


HOSTS_FILE = "hosts.json"


def within(host: str | None, domain: str) -> bool:
    """Whether a host is the domain itself or lies below it."""
    name = (host or "").lower().rstrip(".")
    return name == domain or name.endswith(f".{domain}")


@dataclass(frozen=True, slots=True)
class Hosts:
    """The domains of public bodies with their names, and the domains that are never cited with what they do."""

    public: Mapping[str, str]
    refused: Mapping[str, str]

    def body_of(self, url: str) -> str | None:
        """Give the public body that publishes a page; None when none does."""
        return _named(self.public, url)

    def refusal_of(self, url: str) -> str | None:
        """Say why a page is never cited; None when it may be."""
        return _named(self.refused, url)


def read_hosts(folder: Path) -> Hosts:
    """Read `folder`/hosts.json. Raises DataError naming every fault."""
    document = read_data(folder, HOSTS_FILE, "hosts")
    return Hosts(document["public"], document["refused"])


def _named(domains: Mapping[str, str], url: str) -> str | None:
    host = urlsplit(url).hostname
    return next((name for domain, name in domains.items() if within(host, domain)), None)


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
        for section in procedure.sections:
            for fact in section.facts:
                faults += _of_fact(f"{procedure.id}.json", section.id, fact, hosts, hotlines)
    for source in registry:
        faults += _of_source(FILE, f"{source.id}.url", source.url, hosts, official=source.official, told=True)
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


def _of_fact(file: str, section: str, fact: Fact, hosts: Hosts, hotlines: Hotlines) -> Iterator[Fault]:
    told = fact.certainty is not Certainty.UNVERIFIED
    for source in fact.sources:
        yield from _of_source(file, fact.id, source.url, hosts, official=source.official, told=told)
    if not told:
        return
    yield from _of_phones(file, fact, hotlines)
    if any(source.official for source in fact.sources):
        return
    if fact.certainty is Certainty.OFFICIAL:
        yield Fault(file, fact.id, "has no official source; add it, or correct its certainty")
    elif _needs_official(section, fact, hotlines):
        remedy = "tells a phone, fee, form or address, and has no official source; find one, or withhold it (unverified)"
        yield Fault(file, fact.id, remedy)


def _of_source(file: str, place: str, url: str, hosts: Hosts, *, official: bool, told: bool) -> Iterator[Fault]:
    """Compare one source with its host. What is not told may point at a public page that nobody has read yet."""
    body = hosts.body_of(url)
    if (why := hosts.refusal_of(url)) is not None:
        yield Fault(file, place, f"{url} is never cited ({why}); find another source, or withhold the fact")
    elif official and body is None:
        yield Fault(file, place, f"no public body is known at {url}; remove 'official', or add its host to {HOSTS_FILE}")
    elif body is not None and told and not official:
        yield Fault(file, place, f"{url} is of a public body ({body}); set 'official' to true, or cite what was read")


def _needs_official(section: str, fact: Fact, hotlines: Hotlines) -> bool:
    """Whether a fact of a section may be told only with an official source.

    A fact that only mentions a line of the table rests on the source that stands there.
    """
    confirmed = {Figure(FigureKind.PHONE, line.digits) for line in hotlines.lines if line.unconfirmed is None}
    told = any(figure.kind in OFFICIAL_FIGURES for figure in fact.values - confirmed)
    return told or section == OFFICIAL_SECTION or fact.kind in OFFICIAL_KINDS


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
