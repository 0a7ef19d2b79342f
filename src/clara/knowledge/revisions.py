"""Corrections of facts that people made since the release: laid over data/, held to the same rules, and lost to a newer one.

A revision was made for a fact as data/ has it. When a release brings that fact in other words, whoever wrote the release saw
more than the revision did: the release wins, and the revision is named as lost.
"""

import hashlib
import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any, Final

from clara.data_files import DataError, Fault, Schema
from clara.knowledge.catalogue import Catalogue, condition_faults, fact_faults, figure_faults
from clara.knowledge.places import STATE
from clara.knowledge.procedure import Fact, Procedure, fact_from
from clara.language.figures.figure import figures_as_json

Document = dict[str, Any]
# What a revision may say anew. The id is what it is about; what kind of statement a fact is belongs to its text.
FIELDS: Final = frozenset({"text", "values", "sources", "valid", "territory", "conditions", "kind", "certainty", "legal_basis"})
# What makes two facts the same to whoever corrects one: everything that a person is told or that decides whether they are.
DIGESTED: Final = ("id", "text", "values", "sources", "valid", "territory", "conditions")


@dataclass(frozen=True, slots=True)
class Revision:
    """What one correction says anew of a fact: `fields` as they stand in data/; None takes a field away.

    `base_digest` is the `fact_digest` of the fact in data/ that it was made for.
    """

    id: int
    fact_id: str
    fields: Mapping[str, Any]
    base_digest: str
    reason: str = ""
    made_by: str = ""


@dataclass(frozen=True, slots=True)
class Lost:
    """A revision that is not applied, and why."""

    revision: Revision
    why: str

    def __str__(self) -> str:
        return f"revision {self.revision.id} of {self.revision.fact_id}: {self.why}"


@dataclass(frozen=True, slots=True)
class Revised:
    """The catalogue with what was applied to it. `procedures` are the ids of those that are not as in data/."""

    catalogue: Catalogue
    applied: tuple[Revision, ...] = ()
    lost: tuple[Lost, ...] = ()
    procedures: frozenset[str] = field(default_factory=frozenset)


def fact_digest(fact: Fact) -> str:
    """Digest what a fact says: its id, text, values, sources, days, territory and conditions."""
    document = fact_document(fact)
    told = {name: document.get(name) for name in DIGESTED}
    return hashlib.sha256(json.dumps(told, ensure_ascii=True, sort_keys=True).encode()).hexdigest()


def fact_document(fact: Fact) -> Document:
    """Write a fact as it stands in data/; fields that say nothing are left out."""
    days = {"from": fact.validity.first, "until": fact.validity.last}
    document: Document = {
        "id": fact.id,
        "text": fact.text,
        "kind": fact.kind.value,
        "certainty": fact.certainty.value,
        "values": figures_as_json(fact.values),
        "conditions": list(fact.conditions),
        "territory": fact.territory if fact.territory != STATE else None,
        "valid": {name: day.isoformat() for name, day in days.items() if day is not None},
        "legal_basis": [_told(asdict(basis)) for basis in fact.legal_basis],
    }
    told = {name: value for name, value in document.items() if value}
    return {**told, "sources": [_told(source.document) for source in fact.sources]}


def revised(catalogue: Catalogue, revisions: Sequence[Revision], schema: Schema) -> Revised:
    """Lay revisions over data/, in order: of two that say the same field of a fact, the later one holds.

    `schema` is that of a procedure. Raises DataError naming every rule of data/ that the corrected facts break.
    """
    owners = {fact.id: procedure.id for procedure in catalogue.procedures.values() for fact in procedure.facts}
    facts = {fact.id: fact for procedure in catalogue.procedures.values() for fact in procedure.facts}
    lost = [Lost(one, why) for one in revisions if (why := _losing(one, facts.get(one.fact_id)))]
    gone = {one.revision.id for one in lost}
    applied = tuple(one for one in revisions if one.id not in gone)
    if not applied:
        return Revised(catalogue, (), tuple(lost))
    corrected: dict[str, dict[str, Document]] = {}  # as they would stand in data/, by procedure
    for one in applied:
        documents = corrected.setdefault(owners[one.fact_id], {})
        told = {**(documents.get(one.fact_id) or fact_document(facts[one.fact_id])), **one.fields}
        documents[one.fact_id] = {"id": one.fact_id, **{name: value for name, value in told.items() if value is not None}}
    faults: list[Fault] = []
    procedures = dict(catalogue.procedures)
    for name, documents in sorted(corrected.items()):
        if broken := [fault for document in documents.items() for fault in _misshapen(procedures[name], *document, schema)]:
            faults += broken  # it is not looked at further
            continue
        procedures[name] = _with(procedures[name], {fact: fact_from(document) for fact, document in documents.items()})
        faults += _faults(procedures[name], documents, catalogue.places.by_code)
    if faults:
        raise DataError(faults)
    return Revised(replace(catalogue, procedures=procedures), applied, tuple(lost), frozenset(corrected))


def _losing(revision: Revision, fact: Fact | None) -> str:
    """Say why a revision is not applied; nothing when it is."""
    if fact is None:
        return "data/ has no such fact any more; withdraw it"
    if fact_digest(fact) != revision.base_digest:
        return "data/ says this fact otherwise since it was made, and wins; make it anew, or withdraw it"
    return ""


def _faults(procedure: Procedure, corrected: Collection[str], territories: Collection[str]) -> Iterator[Fault]:
    """Find what is wrong with a procedure once it is corrected; of other facts what they must be told with."""
    facts = {fact.id: fact for fact in procedure.facts}
    for name, fact in facts.items():
        place = f"revision of {name}"
        if name not in corrected:
            yield from condition_faults(procedure.id, place, fact, facts)
            continue
        yield from figure_faults(procedure.id, place, fact)
        yield from fact_faults(procedure.id, place, fact, facts)
        if fact.territory not in territories:
            yield Fault(procedure.id, place, f"unknown territory '{fact.territory}'; use a code of data/places.json")


def _misshapen(procedure: Procedure, name: str, document: Document, schema: Schema) -> list[Fault]:
    """Hold a procedure that has nothing but one fact against the schema."""
    place = f"revision of {name}"
    strange = sorted(document.keys() - FIELDS - {"id"})
    if strange or document["id"] != name:
        return [Fault(procedure.id, place, f"{', '.join(strange) or 'id'} cannot be corrected so; change data/ instead")]
    section = next(section for section in procedure.sections if any(fact.id == name for fact in section.facts))
    alone = {
        "id": procedure.id,
        "name": dict(procedure.name),
        "authority": procedure.authority,
        "vocabulary": {},
        "sections": [{"id": section.id, "title": section.title, "facts": [document]}],
    }
    return schema.faults(alone, procedure.id, f"{place} ")


def _with(procedure: Procedure, facts: Mapping[str, Fact]) -> Procedure:
    sections = (
        replace(section, facts=tuple(facts.get(fact.id, fact) for fact in section.facts)) for section in procedure.sections
    )
    return replace(procedure, sections=tuple(sections))


def _told(document: Mapping[str, Any]) -> Document:
    """Leave out what says nothing."""
    return {name: value for name, value in document.items() if value not in (None, False)}
