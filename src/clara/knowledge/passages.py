"""The passages of a procedure: one for each fact that is known today, under the heading path of its section.

A fact is the smallest thing with evidence of its own, so a citation points at exactly what was said. It is also what is
found best: docs/decisions/0003 has the figures against groups of 300, 600 and 1,000 characters.
"""

import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict
from datetime import date, timedelta
from typing import Any, Final

from clara.knowledge.procedure import Certainty, Fact, Procedure, Section
from clara.language.figures.figure import FigureKind, as_json
from clara.retrieval.passage import Passage

CORPUS = "clara"
COLLECTION = "curado"
# How this corpus is searched: a name of data/profiles.json.
PROFILE = "procedures"
# What ended longer ago than this is forgotten. By the middle of the year after next, nobody asks for a year's figures.
KEPT: Final = timedelta(days=548)


def passages_of(procedure: Procedure, today: date) -> list[Passage]:
    """Cut a procedure into passages, in the editor's order; unverified facts, and those that ended long ago, are left out.

    Facts that become true later and facts that have ended are in, with their days: the search leaves out the former until
    then, and gives the latter apart.
    """
    return [
        _passage(procedure, section, fact, place)
        for section in procedure.sections
        for place, fact in enumerate(section.facts, 1)
        if fact.certainty is not Certainty.UNVERIFIED and not fact.expired(today - KEPT)
    ]


def compares(passage: Passage) -> bool:
    """Whether a fact only sets an earlier year beside the one in which it is told."""
    return only_earlier(passage.metadata.get("valid_from"), passage.metadata.get("values", ()))


def only_earlier(begins: str | None, values: Iterable[Mapping[str, Any]]) -> bool:
    """Whether a fact tells amounts and names years, all of them before the one of its first day (ISO 8601)."""
    known = list(values)
    if not any(value["kind"] == FigureKind.AMOUNT for value in known):
        return False
    named = (str(value["value"])[:4] for value in known if value["kind"] == FigureKind.DATE)
    years = [int(year) for year in named if year.isdigit()]
    return begins is not None and bool(years) and max(years) < int(begins[:4])


def _passage(procedure: Procedure, section: Section, fact: Fact, place: int) -> Passage:
    return Passage(
        id=fact.id,
        corpus=CORPUS,
        collection=COLLECTION,
        document_id=procedure.id,
        section=section.id,
        heading=(procedure.name["es"], section.title),
        text=fact.text,
        language="es",
        territory=fact.territory,
        metadata={
            "place": place,
            "kind": fact.kind.value,
            "certainty": fact.certainty.value,
            "values": [json.loads(as_json(figure)) for figure in sorted(fact.values, key=str)],
            "conditions": list(fact.conditions),
            "valid_from": fact.valid_from.isoformat() if fact.valid_from else None,
            "valid_until": fact.valid_until.isoformat() if fact.valid_until else None,
            "sources": [asdict(source) for source in fact.sources],
            "legal_basis": [asdict(basis) for basis in fact.legal_basis],
        },
    )
