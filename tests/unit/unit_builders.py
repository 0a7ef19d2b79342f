"""Small passages, hits, facts and procedures with sensible values, for tests that care about one or two of them."""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest

from clara.answering.message import Citation
from clara.answering.texts import Texts
from clara.answering.writing.extractive import ExtractiveWriter
from clara.answering.writing.frame import Framing, Written
from clara.data_files import DataError, Fault, partial_date
from clara.knowledge.catalogue import read_catalogue
from clara.knowledge.passages import FactPassage
from clara.knowledge.procedure import Certainty, Fact, Procedure, Section, Source, fact_from
from clara.retrieval.passage import COLUMNS, Hit, Passage, stored_passage
from clara.retrieval.validity import Validity, stored_validity

SOURCE = {"url": "https://sede.example/tramite", "seen_on": "2026-07-08", "dated": None, "official": True}
FACT = {"kind": "statement", "certainty": "official", "sources": [SOURCE], "legal_basis": [], "conditions": [], "values": []}
DAYS = ("valid_from", "valid_until")

Document = dict[str, Any]


def passage_of(name: str = "nie-plazos-01", text: str = "La cita dura diez minutos.", **changes: object) -> FactPassage:
    """Make a passage whose id tells document, section and place: "nie-plazos-01"."""
    document, section, place = name.split("-")
    told = FACT | {field: changes.pop(field) for field in list(changes) if field in FACT}
    days = stored_validity({field: changes.pop(field, None) for field in DAYS})
    territory = changes.get("territory", "ES")
    values = {
        "id": name,
        "corpus": "clara",
        "collection": "curado",
        "document_id": document,
        "section": section,
        "heading": (document.upper(), section),
        "text": text,
        "language": "es",
        "validity": days,
        "fact": replace(fact_from({**told, "id": name, "text": text, "territory": territory}), validity=days),
        "place": int(place),
    }
    return FactPassage(**{**values, **changes})


def row_of(name: str = "nie-plazos-01", text: str = "La cita dura diez minutos.", **changes: object) -> Passage:
    """Make such a passage as an index brings it: what is known of its fact is metadata."""
    told = passage_of(name, text)
    stored = stored_passage({**{column: getattr(told, column) for column in COLUMNS}, "metadata": told.stored_metadata})
    return replace(stored, **changes)


def hit_of(name: str = "nie-plazos-01", score: float = 1.0, text: str = "La cita dura diez minutos.", **changes: object) -> Hit:
    """Make a hit on such a passage."""
    return Hit(passage_of(name, text, **changes), score)


def fact_of(name: str = "nie-plazos-01", text: str = "La cita dura diez minutos.", **changes: object) -> Fact:
    """Make a fact with an official source."""
    days = Validity(changes.pop("valid_from", None), changes.pop("valid_until", None))
    source = Source("https://sede.example/nie", partial_date("2026-07-08"), official=True)
    values = {"certainty": Certainty.OFFICIAL, "sources": (source,), "validity": days}
    return Fact(name, text, **{**values, **changes})


def procedure_of(identifier: str, /, *facts: Fact, **changes: object) -> Procedure:
    """Make a procedure from facts whose ids tell their sections: "nie-plazos-01"."""
    sections: dict[str, list[Fact]] = {}
    for fact in facts:
        sections.setdefault(fact.id.split("-")[1], []).append(fact)
    values = {
        "name": {"es": f"trámite {identifier}"},
        "authority": "Policía Nacional",
        "sections": tuple(Section(section, section.capitalize(), tuple(held)) for section, held in sections.items()),
    }
    return Procedure(identifier, **{**values, **changes})


def edit(file: Path, change: Callable[[Document], object]) -> None:
    """Change a JSON file in place."""
    document = json.loads(file.read_text("utf-8"))
    change(document)
    file.write_text(json.dumps(document, ensure_ascii=False), "utf-8")


def faults_of(folder: Path) -> list[Fault]:
    """Read a broken catalogue and give its faults, each of them a line of the message."""
    with pytest.raises(DataError) as caught:
        read_catalogue(folder, with_questions=True)
    assert str(caught.value).splitlines() == [str(fault) for fault in caught.value.faults]
    return caught.value.faults


@dataclass(frozen=True, slots=True)
class Catalogued:
    """An extractive writer whose catalogue holds the hits that it is given, besides its own passages."""

    texts: Texts
    names: Mapping[str, Mapping[str, str]]
    passages: Iterable[Passage] = ()
    told: Mapping[str, Any] = field(default_factory=dict)

    @property
    def framing(self) -> Framing:
        """What stands around the facts of its own catalogue."""
        return Framing(self.texts, self.names, self.passages, **self.told)

    def write(self, hits: Sequence[Hit], language: str, room: int) -> tuple[str, tuple[Citation, ...]]:
        """Write as the real one."""
        held = [*self.passages, *(hit.passage for hit in hits)]
        return ExtractiveWriter(Framing(self.texts, self.names, held, **self.told)).write(hits, language, room)

    def answer(self, question: str, hits: Sequence[Hit], language: str, room: int) -> Written:
        """Answer as the real one."""
        del question
        return Written(*self.write(hits, language, room), {"writer": "extractive"})
