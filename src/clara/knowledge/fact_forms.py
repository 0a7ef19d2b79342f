"""Changing one fact of data/: as a form that a person fills in, checked like all of data/, and written back in its place."""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import Any, Final

import yaml

from clara.data_files import DataError, Fault, read_schema
from clara.errors import NotFound
from clara.knowledge.catalogue import Catalogue, fact_faults, figure_faults
from clara.knowledge.contradictions import contradicting
from clara.knowledge.derivations import Derivations, current, names_in, shown, worked_out
from clara.knowledge.hotlines import read_hotlines
from clara.knowledge.procedure import Fact, Procedure, procedure_from
from clara.knowledge.provisions import Provisions, provision_faults, read_known, unsupported_in
from clara.knowledge.sources import provenance_faults, read_hosts
from clara.language.figures.figure import as_json, figures_as_json
from clara.language.figures.reader import spanish

Document = dict[str, Any]

ORDER: Final = (
    "id",
    "text",
    "kind",
    "values",
    "conditions",
    "certainty",
    "territory",
    "valid",
    "legal_basis",
    "sources",
    "reviewed",
)
# Read off the text, or kept with it: nobody fills them in.
NOT_FILLED: Final = frozenset({"id", "values", "reviewed"})
BLANK: Final[Document] = {
    "text": "",
    "kind": "statement",
    "certainty": "official",
    "legal_basis": [{"norm": "BOE-A-", "provision": "art. "}],
    "sources": [
        {"url": "https://www.boe.es/buscar/act.php?id=", "seen_on": "", "dated": "texto consolidado a ", "official": True}
    ],
}
WIDTH: Final = 1000


class UnknownFactError(NotFound):
    """There is no such fact, section or procedure. The message names what is near."""


@dataclass(frozen=True, slots=True)
class FactFile:
    """A file of a procedure as it stands on disk, and as read."""

    path: Path
    text: str
    document: Document

    def section_of(self, fact_id: str) -> tuple[int, int] | None:
        """Give the places of a fact: of its section, and in it."""
        for place, section in enumerate(self.document["sections"]):
            for number, fact in enumerate(section["facts"]):
                if fact["id"] == fact_id:
                    return place, number
        return None


def fact_file(folder: Path, procedure: str) -> FactFile:
    """Read the file of a procedure. Raises UnknownFactError."""
    path = folder / "tramites" / f"{procedure}.json"
    if not path.is_file():
        known = ", ".join(sorted(other.stem for other in path.parent.glob("*.json")))
        raise UnknownFactError(f"there is no procedure '{procedure}'; the procedures are: {known}")
    text = path.read_text("utf-8")
    return FactFile(path, text, json.loads(text))


def form_of(fact: Mapping[str, Any]) -> str:
    """Write a fact as a form in YAML; its figures stand above as they are read off the text now."""
    values = ", ".join(sorted(as_json(figure) for figure in spanish().values_in(str(fact["text"]))))
    told = {name: fact[name] for name in ORDER if name in fact and name not in NOT_FILLED}
    filled = yaml.safe_dump(told, allow_unicode=True, sort_keys=False, width=WIDTH)
    return (
        "# Fields are explained in data/schema/procedure.schema.json. The figures are read off the text; now they are:\n"
        f"# {values or 'none'}\n"
        "# Optional: conditions: [ids], territory: ES-MD, valid: {from: '2027-01-01', until: '2027-12-31'}.\n"
        "# An empty file changes nothing.\n"
        f"{filled}"
    )


def filled_in(form: str, name: str) -> Document | None:
    """Read a form; None when it is empty. Raises DataError with line and remedy."""
    try:
        told = yaml.safe_load(form)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        place = f"line {mark.line + 1}" if mark else "form"
        raise DataError([Fault(name, place, f"cannot be read ({getattr(error, 'problem', error)}); quote the text")]) from error
    if told is None:
        return None
    if not isinstance(told, dict):
        raise DataError([Fault(name, "form", "is no list of fields; keep 'text: …' and the others")])
    if strange := sorted(map(str, told.keys() & NOT_FILLED)):
        raise DataError([Fault(name, ", ".join(strange), "is not filled in: it follows from the text; remove it")])
    return {str(field): _plain(value) for field, value in told.items()}


def _plain(value: object) -> Any:  # noqa: ANN401  JSON
    """Make JSON of YAML, which reads an unquoted day as a day."""
    match value:
        case date():
            return value.isoformat()
        case dict():
            return {str(name): _plain(told) for name, told in value.items()}
        case list():
            return [_plain(told) for told in value]
    return value


def changed(before: Mapping[str, Any], told: Document) -> Document:
    """Give the fact as it would stand in data/. A text that changes loses who read it: they read another one."""
    values = figures_as_json(spanish().values_in(str(told.get("text", ""))))
    fact = {"id": before["id"], **told, **({"values": values} if values else {})}
    if "reviewed" in before and before.get("text") == told.get("text"):
        fact["reviewed"] = before["reviewed"]
    return {name: fact[name] for name in sorted(fact, key=lambda name: ORDER.index(name) if name in ORDER else len(ORDER))}


def new_id(file: FactFile, section: str) -> str:
    """Give the id of a new fact: the number after the highest that the section ever had. Raises UnknownFactError."""
    there = {one["id"]: one for one in file.document["sections"]}
    if section not in there:
        raise UnknownFactError(f"{file.path.name} has no section '{section}'; it has: {', '.join(there)}")
    start = f"{file.document['id']}-{section}-"
    numbers = [int(number) for number in re.findall(rf"{re.escape(start)}(\d\d)\b", file.text)]
    return f"{start}{max(numbers, default=0) + 1:02}"


def with_fact(file: FactFile, fact: Document, section: str) -> str:
    """Give the file's text with a fact in its place, or at the end of its section; the rest stays letter for letter."""
    where = file.section_of(fact["id"])
    if where is not None:
        start, end = _span(file.text, fact["id"])
        return file.text[:start] + _written(fact) + file.text[end:]
    last = next(one for one in file.document["sections"] if one["id"] == section)["facts"][-1]["id"]
    _, end = _span(file.text, last)
    return f"{file.text[:end]},\n        {_written(fact)}{file.text[end:]}"


def _span(text: str, fact_id: str) -> tuple[int, int]:
    named = re.search(rf'\{{\s*"id":\s*"{re.escape(fact_id)}"', text)
    if named is None:
        raise UnknownFactError(f"'{fact_id}' does not begin with its id in its file; put 'id' first")
    _, end = json.JSONDecoder().raw_decode(text, named.start())
    return named.start(), end


def _written(fact: Document) -> str:
    """Write a fact as data/ has them: a field a line, and of lists an entry a line."""

    def shown_value(value: object) -> str:
        if isinstance(value, list) and value and isinstance(value[0], dict):
            return (
                "[\n" + ",\n".join(f"            {json.dumps(entry, ensure_ascii=False)}" for entry in value) + "\n          ]"
            )
        return json.dumps(value, ensure_ascii=False)

    return "{\n" + ",\n".join(f'          "{name}": {shown_value(value)}' for name, value in fact.items()) + "\n        }"


def faults_of(
    folder: Path, catalogue: Catalogue, text: str, fact_id: str, provisions: Provisions, derivations: Derivations
) -> list[Fault]:
    """Check a file's text with a changed fact as `clara knowledge check` would: all that is wrong, at once."""
    document = json.loads(text)
    name = f"{document['id']}.json"
    if faults := read_schema(folder / "schema" / "procedure.schema.json").faults(document, name):
        return faults
    procedure = procedure_from(document)
    facts = {fact.id: fact for fact in procedure.facts}
    fact = facts[fact_id]
    faults = [*figure_faults(name, fact_id, fact), *fact_faults(name, fact_id, fact, facts)]
    if fact.territory not in catalogue.places.by_code:
        faults.append(Fault(name, fact_id, f"unknown territory '{fact.territory}'; use a code of data/places.json"))
    alone = Catalogue({procedure.id: procedure}, (), catalogue.places)
    faults += [one for one in provenance_faults(alone, (), read_hosts(folder), read_hotlines(folder)) if one.place == fact_id]
    faults += _contradictions(name, procedure, fact_id)
    faults += _derivations(name, fact, derivations)
    return [*faults, *provision_faults(unsupported_in(fact, provisions, derivations), read_known(folder))]


def _contradictions(name: str, procedure: Procedure, fact_id: str) -> Iterator[Fault]:
    for one, other in contradicting(procedure):
        if fact_id in (one.id, other.id):
            yield Fault(name, fact_id, f"contradicts {({one.id, other.id} - {fact_id}).pop()}; correct one of the two")


def _derivations(name: str, fact: Fact, derivations: Derivations) -> Iterator[Fault]:
    stated = {Decimal(repr(figure.value)) for figure in fact.values if isinstance(figure.value, float)}
    for one in derivations.derived.get(fact.id, ()):
        if one.value not in stated:
            yield Fault(
                name, fact.id, f"derivations.json says that it states {shown(one.value)} ({one.formula}); correct it there too"
            )


def cited_by(catalogue: Catalogue, before: Fact | None, after: Fact, derivations: Derivations) -> Iterator[str]:
    """Say what rests on a fact: facts that are told with it, questions that it answers, figures that follow from its own."""
    facts = [fact for procedure in catalogue.procedures.values() for fact in procedure.facts]
    yield from (f"{fact.id} is told only together with it" for fact in facts if after.id in fact.conditions)
    if number := sum(question.fact == after.id for question in catalogue.questions):
        yield f"{number} typical questions point at it"
    for base in derivations.bases.values():
        now = current(base, after) if base.fact == after.id and before is not None else None
        if now is not None and now != base.value:
            yield from _following(base.name, now, derivations)


def _following(name: str, now: Decimal, derivations: Derivations) -> Iterator[str]:
    """Say what each figure that derives from a base becomes with its new value."""
    values = {base: one.value for base, one in derivations.bases.items()} | {name: now}
    for fact_id, formulas in derivations.derived.items():
        for one in formulas:
            if name in names_in(one.formula):
                follows = shown(worked_out(one.formula, values))
                yield f"{fact_id} states {shown(one.value)} = {one.formula}: with the new {name} it is {follows}"
