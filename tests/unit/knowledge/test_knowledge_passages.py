"""Tests of cutting procedures into passages."""

import json
from dataclasses import replace
from datetime import date, timedelta
from typing import Any

from clara.knowledge.passages import CORPUS, passages_of
from clara.knowledge.procedure import Certainty, Fact, LegalBasis, Procedure, Section, Source

TODAY = date(2026, 11, 21)
SOURCE = Source("https://sede.example/nie", "2026-07", "sin fecha", official=True)


def fact(place: int, **changes: object) -> Fact:
    """Make a fact of the section on deadlines."""
    plain = Fact(f"nie-plazos-{place:02}", f"Hecho número {place}.", Certainty.OFFICIAL, (SOURCE,))
    return replace(plain, **changes)


def procedure_of(*facts: Fact) -> Procedure:
    """Make a procedure with one section."""
    return Procedure("nie", {"es": "NIE", "en": "the NIE"}, "Policía", (Section("plazos", "Plazos y fechas", facts),))


def test_one_for_each_published_fact() -> None:
    """Each fact that may be told is one passage, in the editor's order; the others are left out."""
    made = passages_of(
        procedure_of(
            fact(1),
            fact(2, certainty=Certainty.UNVERIFIED),
            fact(3, valid_from=TODAY + timedelta(1)),
            fact(4, valid_until=TODAY - timedelta(1)),
            fact(5, valid_from=TODAY, valid_until=TODAY),
            fact(6, certainty=Certainty.SECONDARY),
        ),
        TODAY,
    )
    assert [passage.id for passage in made] == ["nie-plazos-01", "nie-plazos-05", "nie-plazos-06"]


def test_everything_a_passage_says() -> None:
    """A passage has its fact's text under the Spanish name and the section's title, with evidence and territory."""
    basis = LegalBasis("BOE-A-2000-544", "artículo 4")
    (passage,) = passages_of(procedure_of(fact(1, legal_basis=(basis,), territory="ES-MD")), TODAY)
    assert (passage.corpus, passage.document_id, passage.section) == (CORPUS, "nie", "plazos")
    assert passage.heading == ("NIE", "Plazos y fechas")
    assert (passage.text, passage.language, passage.territory) == ("Hecho número 1.", "es", "ES-MD")
    assert passage.metadata["certainty"] == "official"
    assert passage.metadata["legal_basis"] == [{"norm": "BOE-A-2000-544", "provision": "artículo 4"}]
    assert passage.metadata["sources"] == [
        {"url": "https://sede.example/nie", "seen_on": "2026-07", "dated": "sin fecha", "official": True}
    ]


def test_place_is_the_editors() -> None:
    """A fact keeps its place in the section when the one before it is left out."""
    first, second = passages_of(procedure_of(fact(1), fact(2, certainty=Certainty.UNVERIFIED), fact(3)), TODAY)
    assert (first.metadata["place"], second.metadata["place"]) == (1, 3)


def test_ids_do_not_depend_on_the_neighbours() -> None:
    """A fact that is put before the others changes no id."""
    before = {passage.id for passage in passages_of(procedure_of(fact(1), fact(2)), TODAY)}
    after = {passage.id for passage in passages_of(procedure_of(fact(9), fact(1), fact(2)), TODAY)}
    assert after == before | {"nie-plazos-09"}


def test_nothing_published() -> None:
    """A procedure without a fact to tell has no passages."""
    assert passages_of(procedure_of(fact(1, certainty=Certainty.UNVERIFIED)), TODAY) == []


def test_real_passages(real: Any) -> None:
    """In the real data there is one passage for each published fact, its metadata is JSON, and all show a source."""
    published = {
        fact.id
        for procedure in real.catalogue.procedures.values()
        for section in procedure.sections
        for fact in section.facts
        if fact.published(TODAY)
    }
    assert sorted(passage.id for passage in real.passages) == sorted(published)
    for passage in real.passages:
        assert json.loads(json.dumps(passage.metadata)) == passage.metadata
        assert passage.metadata["sources"], passage.id
        assert passage.heading[0] == real.names[passage.document_id]["es"]
