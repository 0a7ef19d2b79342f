"""Corrections of facts that people made since the release: laid over data/, held to the same rules, and lost to a newer one.

A revision was made for a fact as data/ has it. When a release brings that fact in other words, whoever wrote the release saw
more than the revision did: the release wins, and the revision is named as lost.
"""

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any, Final

from clara.data_files import DataError, Fault, Schema
from clara.knowledge.catalogue import Catalogue
from clara.knowledge.places import STATE
from clara.knowledge.procedure import Fact, Procedure, fact_from
from clara.knowledge.rules import Document, condition_faults, fact_faults
from clara.language.figures.figure import as_json

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
        "values": [json.loads(as_json(figure)) for figure in sorted(fact.values, key=str)],
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
    documents = _corrected(applied, facts)
    changed = frozenset(owners[name] for name in documents)
    names = frozenset(catalogue.places.by_code)
    faults = [fault for name in sorted(changed) for fault in _faults(catalogue.procedures[name], documents, schema, names)]
    if faults:
        raise DataError(faults)
    procedures = {
        name: _with(procedure, documents) if name in changed else procedure for name, procedure in catalogue.procedures.items()
    }
    return Revised(replace(catalogue, procedures=procedures), applied, tuple(lost), changed)


def _losing(revision: Revision, fact: Fact | None) -> str:
    """Say why a revision is not applied; nothing when it is."""
    if fact is None:
        return "data/ has no such fact any more; withdraw it"
    if fact_digest(fact) != revision.base_digest:
        return "data/ says this fact otherwise since it was made, and wins; make it anew, or withdraw it"
    return ""


def _corrected(revisions: Iterable[Revision], facts: Mapping[str, Fact]) -> dict[str, Document]:
    """Give the corrected facts as they would stand in data/."""
    documents: dict[str, Document] = {}
    for revision in revisions:
        before = documents.get(revision.fact_id) or fact_document(facts[revision.fact_id])
        told = {**before, **revision.fields}
        documents[revision.fact_id] = {name: value for name, value in told.items() if value is not None}
    for name, document in documents.items():
        document.setdefault("id", name)
    return documents


def _faults(
    procedure: Procedure, documents: Mapping[str, Document], schema: Schema, territories: frozenset[str]
) -> Iterator[Fault]:
    """Find what is wrong with a procedure once it is corrected. What breaks the schema is not looked at further."""
    facts = {fact.id: documents.get(fact.id) or fact_document(fact) for fact in procedure.facts}
    broken = [fault for name in facts if name in documents for fault in _misshapen(procedure, name, documents[name], schema)]
    if broken:
        yield from broken
        return
    for name, document in facts.items():
        if name not in documents:  # as released, but for what it must be told with
            yield from condition_faults(procedure.id, f"revision of {name}", document, facts)
            continue
        yield from fact_faults(procedure.id, f"revision of {name}", document, facts)
        if document.get("territory", STATE) not in territories:
            remedy = f"unknown territory '{document['territory']}'; use a code of data/places.json"
            yield Fault(procedure.id, f"revision of {name}", remedy)


def _misshapen(procedure: Procedure, name: str, document: Document, schema: Schema) -> list[Fault]:
    place = f"revision of {name}"
    strange = sorted(document.keys() - FIELDS - {"id"})
    if strange or document["id"] != name:
        return [Fault(procedure.id, place, f"{', '.join(strange) or 'id'} cannot be corrected so; change data/ instead")]
    return schema.faults(_alone(procedure, name, document), procedure.id, f"{place} ")


def _alone(procedure: Procedure, name: str, document: Document) -> Document:
    """Give a procedure that holds nothing but one fact, to be held against the schema."""
    section = next(section for section in procedure.sections if any(fact.id == name for fact in section.facts))
    return {
        "id": procedure.id,
        "name": dict(procedure.name),
        "authority": procedure.authority,
        "vocabulary": {},
        "sections": [{"id": section.id, "title": section.title, "facts": [document]}],
    }


def _with(procedure: Procedure, documents: Mapping[str, Document]) -> Procedure:
    sections = tuple(
        replace(
            section,
            facts=tuple(fact_from(documents[fact.id]) if fact.id in documents else fact for fact in section.facts),
        )
        for section in procedure.sections
    )
    return replace(procedure, sections=sections)


def _told(document: Mapping[str, Any]) -> Document:
    """Leave out what says nothing."""
    return {name: value for name, value in document.items() if value not in (None, False)}
