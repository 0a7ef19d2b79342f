"""What must hold in data/ beyond its schemas: ids, days, figures, conditions and references."""

from collections.abc import Collection, Iterator, Mapping
from pathlib import PurePath
from typing import Any

from clara.data_files import Fault, day
from clara.knowledge.procedure import NEEDED_FIGURES, Certainty, FactKind, only_earlier
from clara.language.figures.figure import Figure, as_json, figure_from
from clara.language.figures.reader import spanish
from clara.language.tokens import words

Document = dict[str, Any]


def procedure_faults(file: str, document: Document) -> Iterator[Fault]:
    """Check one procedure on its own."""
    if "closed_on" in document and day(document["closed_on"]) is None:
        yield Fault(file, "$.closed_on", f"'{document['closed_on']}' is no day of the calendar; correct it")
    stem = PurePath(file).stem
    if document["id"] != stem:
        yield Fault(file, "$.id", f"is '{document['id']}' but the file is named '{stem}'; make them equal")
    sections = [section["id"] for section in document["sections"]]
    for section in sorted({name for name in sections if sections.count(name) > 1}):
        yield Fault(file, "$.sections", f"section '{section}' appears twice; merge the two")
    facts = {fact["id"]: fact for section in document["sections"] for fact in section["facts"]}
    for place, section in enumerate(document["sections"]):
        for number, fact in enumerate(section["facts"]):
            where = f"$.sections[{place}].facts[{number}]"
            # Where id and file name differ, that is the fault: not also every fact under one of the two.
            if not fact["id"].startswith((f"{document['id']}-{section['id']}-", f"{stem}-{section['id']}-")):
                yield Fault(file, f"{where}.id", f"'{fact['id']}' must start with '{document['id']}-{section['id']}-'")
            yield from fact_faults(file, where, fact, facts)


def unnamed(documents: Mapping[str, Document], languages: Collection[str]) -> Iterator[Fault]:
    """Find procedures that have no name in a served language."""
    for file, document in documents.items():
        for language in languages:
            if language not in document["name"]:
                yield Fault(file, "$.name", f'"{language}" is a required property; add it')


def fact_faults(file: str, where: str, fact: Document, facts: Mapping[str, Document]) -> Iterator[Fault]:
    """Check one fact among all facts of its procedure, by id."""
    yield from _days(file, where, fact)
    yield from _figures(file, where, fact)
    yield from condition_faults(file, where, fact, facts)
    first, figures = day(fact.get("valid", {}).get("from")), [figure_from(value) for value in fact.get("values", [])]
    if only_earlier(first, figures) and not fact.get("conditions"):
        remedy = "names only years before its first day and would pass for today's; give it the fact of today as a condition"
        yield Fault(file, f"{where}.conditions", remedy)


def _days(file: str, where: str, fact: Document) -> Iterator[Fault]:
    valid = fact.get("valid", {})
    for number, source in enumerate(fact["sources"]):
        seen = source["seen_on"]
        if day(seen if len(seen) == len("2026-01-01") else f"{seen}-01") is None:
            yield Fault(file, f"{where}.sources[{number}].seen_on", f"'{seen}' is no day of the calendar; correct it")
    for name, value in valid.items():
        if day(value) is None:
            yield Fault(file, f"{where}.valid.{name}", f"'{value}' is no day of the calendar; correct it")
    if day(valid.get("from")) and day(valid.get("until")) and valid["from"] > valid["until"]:
        yield Fault(file, f"{where}.valid", "ends before it begins; swap or correct the days")


def _figures(file: str, where: str, fact: Document) -> Iterator[Fault]:
    told, stored = spanish().values_in(fact["text"]), {figure_from(value) for value in fact.get("values", [])}
    for figure in _sorted(told - stored):
        yield Fault(file, f"{where}.values", f"the text says '{figure}' and the values do not; add {as_json(figure)}")
    for figure in _sorted(stored - told):
        yield Fault(file, f"{where}.values", f"'{figure}' is not in the text; correct the text or remove the value")
    kind = FactKind(fact["kind"])
    needed = NEEDED_FIGURES.get(kind)
    if needed and not any(figure.kind in needed for figure in told):
        wanted = " or ".join(sorted(needed))
        yield Fault(file, f"{where}.kind", f"a fact of kind '{kind}' needs a value of kind {wanted}; correct kind or text")


def _sorted(figures: set[Figure] | frozenset[Figure]) -> list[Figure]:
    return sorted(figures, key=str)


def condition_faults(file: str, where: str, fact: Document, facts: Mapping[str, Document]) -> Iterator[Fault]:
    """Check what a fact says must be told with it, among all facts of its procedure, by id."""
    for number, name in enumerate(fact.get("conditions", [])):
        place = f"{where}.conditions[{number}]"
        if name == fact["id"]:
            yield Fault(file, place, "a fact cannot be its own condition; remove it")
        elif name not in facts:
            yield Fault(file, place, f"no fact '{name}' in this procedure; correct the id or remove it")
        elif facts[name]["certainty"] == Certainty.UNVERIFIED != fact["certainty"]:
            yield Fault(file, place, f"fact '{name}' is unverified and is never said; find its source or remove the condition")


def shared_ids(documents: Mapping[str, Document]) -> Iterator[Fault]:
    """Find fact ids that are used twice in the whole catalogue."""
    seen: dict[str, str] = {}
    for name, document in documents.items():
        for section in document["sections"]:
            for fact in section["facts"]:
                if fact["id"] in seen:
                    yield Fault(name, fact["id"], f"this fact id is already used in {seen[fact['id']]}; give it its own")
                seen[fact["id"]] = name


def shared_phrases(documents: Mapping[str, Document]) -> Iterator[Fault]:
    """Find words that stand for two procedures, in whatever languages: a name that means both means neither."""
    owner: dict[tuple[str, ...], str] = {}
    for file, document in documents.items():
        for place, phrase in _phrases(document):
            other = owner.setdefault(tuple(words(phrase)), file)
            if other != file:
                yield Fault(file, place, f"'{phrase}' also stands in {other}; keep it in one of them")


def _phrases(document: Document) -> Iterator[tuple[str, str]]:
    for language, name in document["name"].items():
        yield f"$.name.{language}", name
    for language, phrases in document["vocabulary"].items():
        for number, phrase in enumerate(phrases):
            yield f"$.vocabulary.{language}[{number}]", phrase


def unknown_territories(documents: Mapping[str, Document], known: frozenset[str]) -> Iterator[Fault]:
    """Find facts that hold in a place which data/places.json does not know."""
    for name, document in documents.items():
        for section in document["sections"]:
            for fact in section["facts"]:
                if fact.get("territory", "ES") not in known:
                    remedy = f"unknown territory '{fact['territory']}'; use a code of data/places.json or add the place there"
                    yield Fault(name, fact["id"], remedy)
