"""Tests of corrections laid over data/: applied, held to the rules of data/, and lost to a newer release."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from clara.data_files import DataError, Schema, read_schema
from clara.knowledge.catalogue import Catalogue, read_catalogue
from clara.knowledge.procedure import Fact, fact_from
from clara.knowledge.revisions import Revision, fact_digest, fact_document, revised
from clara.retrieval.validity import ALWAYS

FEE = "nie-cuantias-01"
TEXT = "La tasa por asignación del NIE a instancia del interesado es de 10,84 € (epígrafe 5.12, cuantía de 2025)."


@pytest.fixture(scope="session")
def catalogue(data: Path) -> Catalogue:
    return read_catalogue(data)


@pytest.fixture(scope="session")
def schema(data: Path) -> Schema:
    return read_schema(data / "schema" / "procedure.schema.json")


def fact_of(catalogue: Catalogue, name: str) -> Fact:
    return next(fact for one in catalogue.procedures.values() for fact in one.facts if fact.id == name)


def revision(catalogue: Catalogue, name: str = FEE, number: int = 1, **fields: Any) -> Revision:
    return Revision(number, name, fields, fact_digest(fact_of(catalogue, name)))


def new_fee(catalogue: Catalogue) -> Revision:
    """Raise the fee of the NIE by a euro, text and value."""
    values = fact_document(fact_of(catalogue, FEE))["values"]
    raised = [{**value, "value": 10.84} if value["kind"] == "amount" else value for value in values]
    return revision(catalogue, text=TEXT, values=raised)


def test_every_fact_of_data_survives_being_written_and_read(catalogue: Catalogue) -> None:
    """A fact as a document, read again, is the same fact with the same digest."""
    for procedure in catalogue.procedures.values():
        for fact in procedure.facts:
            again = fact_from(fact_document(fact))
            assert (again, fact_digest(again)) == (fact, fact_digest(fact))


def test_a_digest_tells_what_a_person_is_told(catalogue: Catalogue) -> None:
    """Text, values, sources, days, territory and conditions change it; the kind of statement does not."""
    fact = fact_of(catalogue, FEE)
    others = [
        replace(fact, text="Otra."),
        replace(fact, values=frozenset()),
        replace(fact, sources=()),
        replace(fact, territory="ES-MD"),
        replace(fact, conditions=("nie-plazos-01",)),
        replace(fact, validity=ALWAYS, id="nie-cuantias-02"),
    ]
    assert len({fact_digest(one) for one in (fact, *others)}) == 1 + len(others)
    assert fact_digest(replace(fact, legal_basis=())) == fact_digest(fact)


def test_a_correction_changes_its_fact_and_nothing_else(catalogue: Catalogue, schema: Schema) -> None:
    """Of all procedures one is another object; in it one fact says something else."""
    done = revised(catalogue, [new_fee(catalogue)], schema)
    assert fact_of(done.catalogue, FEE).text == TEXT
    assert done.procedures == {"nie"}
    same = {name for name, one in done.catalogue.procedures.items() if one is catalogue.procedures[name]}
    assert same == catalogue.procedures.keys() - {"nie"}
    changed = [
        one.id
        for one, before in zip(done.catalogue.procedures["nie"].facts, catalogue.procedures["nie"].facts, strict=True)
        if one != before
    ]
    assert (changed, [one.id for one in done.applied], done.lost) == ([FEE], [1], ())


def test_without_corrections_the_catalogue_is_the_same(catalogue: Catalogue, schema: Schema) -> None:
    """Nothing is copied or checked where nobody corrected anything."""
    assert revised(catalogue, [], schema).catalogue is catalogue


def test_a_newer_release_wins(catalogue: Catalogue, schema: Schema) -> None:
    """A correction made for other words, or for a fact that is gone, is not applied, and is named with what to do."""
    made_for_others = replace(new_fee(catalogue), base_digest="0" * 64)
    gone = replace(new_fee(catalogue), id=2, fact_id="nie-cuantias-99")
    done = revised(catalogue, [made_for_others, gone], schema)
    assert done.catalogue is catalogue
    assert [str(one) for one in done.lost] == [
        f"revision 1 of {FEE}: data/ says this fact otherwise since it was made, and wins; make it anew, or withdraw it",
        "revision 2 of nie-cuantias-99: data/ has no such fact any more; withdraw it",
    ]


def test_the_later_of_two_corrections_holds(catalogue: Catalogue, schema: Schema) -> None:
    """What the later one does not say stays as the earlier one said it."""
    first = new_fee(catalogue)
    source = [{"url": "https://example.org/tasas", "seen_on": "2026-11-20", "official": True}]
    done = revised(catalogue, [first, revision(catalogue, number=2, sources=source)], schema)
    fact = fact_of(done.catalogue, FEE)
    assert (fact.text, fact.sources[0].url) == (TEXT, "https://example.org/tasas")


def test_a_field_can_be_taken_away(catalogue: Catalogue, schema: Schema) -> None:
    """None removes what a fact said: a last day that is no longer one."""
    ended = revised(catalogue, [revision(catalogue, valid={"until": "2026-12-31"})], schema).catalogue
    assert str(fact_of(ended, FEE).validity.last) == "2026-12-31"
    both = [revision(catalogue, valid={"until": "2026-12-31"}), revision(catalogue, number=2, valid=None)]
    assert fact_of(revised(catalogue, both, schema).catalogue, FEE).validity.last is None


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        pytest.param({"text": TEXT}, "the text says 'amount 10.84 EUR' and the values do not", id="figure-not-among-values"),
        pytest.param({"text": ""}, "is shorter than", id="schema"),
        pytest.param({"id": "nie-cuantias-77"}, "id cannot be corrected so", id="id"),
        pytest.param({"place": 1}, "place cannot be corrected so", id="unknown-field"),
        pytest.param({"valid": {"from": "2027-01-01", "until": "2026-01-01"}}, "ends before it begins", id="days"),
        pytest.param({"conditions": ["imv-plazos-01"]}, "no fact 'imv-plazos-01' in this procedure", id="condition"),
        pytest.param({"territory": "ES-ZZ"}, "unknown territory 'ES-ZZ'", id="territory"),
        pytest.param({"sources": []}, "sources", id="no-source"),
        pytest.param({"kind": "phone"}, "needs a value of kind phone", id="kind"),
    ],
)
def test_the_rules_of_data_hold(catalogue: Catalogue, schema: Schema, fields: dict[str, Any], said: str) -> None:
    """A correction that breaks a rule of data/ is refused with the place and what to do; nothing is applied."""
    with pytest.raises(DataError) as raised:
        revised(catalogue, [revision(catalogue, **fields)], schema)
    assert said in str(raised.value)
    assert str(raised.value).startswith(f"nie: revision of {FEE}")


def test_what_other_facts_hang_on_stays_sound(catalogue: Catalogue, schema: Schema) -> None:
    """A fact that limits another cannot lose its sources: the other would be told without it."""
    limited = next(
        (fact, name)
        for one in catalogue.procedures.values()
        for fact in one.facts
        for name in fact.conditions
        if fact.certainty != "unverified"
    )
    unverified = revision(catalogue, limited[1], certainty="unverified")
    with pytest.raises(DataError, match=f"revision of {limited[0].id}.*'{limited[1]}' is unverified"):
        revised(catalogue, [unverified], schema)
