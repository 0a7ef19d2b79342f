"""Tests of cutting procedures into passages."""

import json
from datetime import date, timedelta
from typing import Any

from unit_builders import fact_of
from unit_builders import procedure_of as made_of

from clara.data_files import partial_date
from clara.knowledge.passages import CORPUS, KEPT, passages_of
from clara.knowledge.procedure import Certainty, Fact, FactKind, LegalBasis, Procedure, Section, Source
from clara.language.figures.figure import Figure, FigureKind

TODAY = date(2026, 11, 21)


def fact(place: int, **changes: object) -> Fact:
    """Make a fact of the section on deadlines."""
    return fact_of(f"nie-plazos-{place:02}", f"Hecho número {place}.", **changes)


def procedure_of(*facts: Fact) -> Procedure:
    """Make a procedure with one section."""
    return made_of("nie", name={"es": "NIE", "en": "the NIE"}, sections=(Section("plazos", "Plazos y fechas", facts),))


def test_one_for_each_fact_to_tell() -> None:
    """Each fact that may be told is one passage, in the editor's order: today, later, or as one that held not long ago."""
    made = passages_of(
        procedure_of(
            fact(1),
            fact(2, certainty=Certainty.UNVERIFIED),
            fact(3, valid_from=TODAY + timedelta(1)),
            fact(4, valid_until=TODAY - timedelta(1)),
            fact(5, valid_from=TODAY, valid_until=TODAY),
            fact(6, certainty=Certainty.SECONDARY),
            fact(7, certainty=Certainty.UNVERIFIED, valid_from=TODAY + timedelta(1)),
            fact(8, valid_until=TODAY - KEPT),
            fact(9, valid_until=TODAY - KEPT - timedelta(1)),
        ),
        TODAY,
    )
    assert [passage.id for passage in made] == [f"nie-plazos-{place:02}" for place in (1, 3, 4, 5, 6, 8)]


def test_everything_a_passage_says() -> None:
    """A passage has its fact's text under the Spanish name and the section's title, with evidence, days and territory."""
    told = fact(
        1,
        kind=FactKind.FEE,
        values=frozenset({Figure(FigureKind.PERIOD, 2.0, "month"), Figure(FigureKind.AMOUNT, 9.84, "EUR")}),
        conditions=("nie-plazos-02",),
        legal_basis=(LegalBasis("BOE-A-2000-544", "artículo 4"),),
        sources=(Source("https://sede.example/nie", partial_date("2026-07"), "sin fecha", official=True),),
        territory="ES-MD",
        valid_until=date(2026, 12, 31),
    )
    (passage,) = passages_of(procedure_of(told), TODAY)
    assert (passage.corpus, passage.document_id, passage.section) == (CORPUS, "nie", "plazos")
    assert passage.heading == ("NIE", "Plazos y fechas")
    assert (passage.text, passage.language, passage.territory) == ("Hecho número 1.", "es", "ES-MD")
    assert passage.stored_metadata == {
        "place": 1,
        "kind": "fee",
        "certainty": "official",
        "values": [{"kind": "amount", "value": 9.84, "unit": "EUR"}, {"kind": "period", "value": 2, "unit": "month"}],
        "conditions": ["nie-plazos-02"],
        "valid_from": None,
        "valid_until": "2026-12-31",
        "sources": [{"url": "https://sede.example/nie", "seen_on": "2026-07", "dated": "sin fecha", "official": True}],
        "legal_basis": [{"norm": "BOE-A-2000-544", "provision": "artículo 4"}],
    }


def test_place_is_the_editors() -> None:
    """A fact keeps its place in the section when the one before it is left out."""
    first, second = passages_of(procedure_of(fact(1), fact(2, certainty=Certainty.UNVERIFIED), fact(3)), TODAY)
    assert (first.place, second.place) == (1, 3)


def test_ids_do_not_depend_on_the_neighbours() -> None:
    """A fact that is put before the others changes no id."""
    before = {passage.id for passage in passages_of(procedure_of(fact(1), fact(2)), TODAY)}
    after = {passage.id for passage in passages_of(procedure_of(fact(9), fact(1), fact(2)), TODAY)}
    assert after == before | {"nie-plazos-09"}


def test_nothing_published() -> None:
    """A procedure without a fact to tell has no passages."""
    assert passages_of(procedure_of(fact(1, certainty=Certainty.UNVERIFIED)), TODAY) == []


def test_real_passages(real: Any) -> None:
    """In the real data there is a passage for each fact with a source that has not expired; all show one, and are JSON."""
    told = {
        fact.id
        for procedure in real.catalogue.procedures.values()
        for fact in procedure.facts
        if fact.certainty is not Certainty.UNVERIFIED and not fact.validity.ended(TODAY)
    }
    assert sorted(passage.id for passage in real.passages) == sorted(told)
    for passage in real.passages:
        assert json.loads(json.dumps(passage.stored_metadata)) == passage.stored_metadata
        assert passage.fact.sources, passage.id
        assert passage.heading[0] == real.names[passage.document_id]["es"]
