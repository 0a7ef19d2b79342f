"""Drift, decided: what differs, which facts that touches and by what, and what is proposed for them where it is certain."""

from dataclasses import replace

import pytest
from tests.unit.knowledge.law.law_samples import sample, written

from clara.data_files import partial_date
from clara.editorial.drift import DriftFinding, blast_radius, drift_of_norm, drift_of_page, proposal
from clara.knowledge.law.norm import Norm
from clara.knowledge.procedure import Certainty, Fact, LegalBasis, Procedure, Section, Source
from clara.language.figures.figure import Figure, FigureKind
from clara.language.figures.reader import spanish

NORM, PAGE = "BOE-A-2000-1", "https://sede.example.es/cita#inicio"
MONTHS = {number: Figure(FigureKind.PERIOD, float(number), "month") for number in (1, 3, 4, 6)}


def fact(name: str, text: str = "El plazo es de 3 meses.", basis: str | None = None, url: str = "", norm: str = NORM) -> Fact:
    bases = () if basis is None else (LegalBasis(norm, basis or None),)
    return Fact(
        name,
        text,
        Certainty.OFFICIAL,
        (Source(url, partial_date("2026-08")),),
        values=spanish().values_in(text),
        legal_basis=bases,
    )


def procedure(*facts: Fact) -> Procedure:
    return Procedure("uno", {"es": "Uno"}, "Alguien", (Section("plazos", "Plazos", facts),))


def law(text: str) -> Norm:
    return written("##### Artículo 1. Plazo.", text, "##### Artículo 2.", "Otra cosa.")


def finding(gone: str, new: str, kind: str = "article") -> DriftFinding:
    made = drift_of_norm(law(gone), law(new))[0]
    return replace(made, kind="page") if kind == "page" else made


def test_a_changed_norm_gives_a_finding_for_each_changed_provision() -> None:
    """The real change of the Social Security's law is six provisions, each with a digest that stays the same."""
    states = [sample("BOE-A-2015-11724", folder) for folder in ("legislation_2026-04-25", "legislation")]
    found = drift_of_norm(*states)
    assert [one.place for one in found] == ["da18", "da19", "danueva", "danueva-2", "dt46"]
    assert {one.digest for one in found} == {one.digest for one in drift_of_norm(*states)}
    assert len({one.digest for one in found}) == len(found)


def test_a_finding_touches_facts_by_provision_norm_or_source() -> None:
    """A fact about another article is not touched; one about the norm as a whole, or that only cites its address, is."""
    facts = (
        fact("by-provision", basis="arts. 1.2 y 9"),
        fact("another-article", basis="art. 2"),
        fact("whole-norm", basis=""),
        fact("by-source", url="https://www.boe.es/eli/es/l/2000/01/01/1"),
        fact("another-norm", basis="art. 1", norm="BOE-A-1999-1"),
    )
    addresses = frozenset({"www.boe.es/eli/es/l/2000/01/01/1"})
    radius = blast_radius(finding("Son 3 meses.", "Son 6 meses."), [procedure(*facts)], addresses)
    assert {touched.fact.id: touched.relation for touched in radius} == {
        "by-provision": "provision", "whole-norm": "norm", "by-source": "source",
    }  # fmt: skip
    assert {touched.procedure for touched in radius} == {"uno"}


def test_a_repealed_norm_touches_every_fact_on_it() -> None:
    """When the norm itself ends, all facts that cite any of its provisions are touched."""
    ended = replace(law("Son 3 meses."), repealed=sample("BOE-A-2010-12710").repealed)
    (end,) = drift_of_norm(law("Son 3 meses."), ended)
    assert {one.fact.id for one in blast_radius(end, [procedure(fact("a", basis="art. 2"), fact("b"))])} == {"a"}


def test_a_cosmetic_difference_touches_nothing() -> None:
    """No fact hangs on a comma."""
    cosmetic = finding("Son 3 meses.", "Son, 3 meses.")
    assert cosmetic.weight == "cosmetic"
    assert blast_radius(cosmetic, [procedure(fact("a", basis="art. 1"))]) == ()


@pytest.mark.parametrize(
    ("text", "gone", "new", "expected"),
    [
        ("El plazo es de 3 meses.", "Son tres meses.", "Son cuatro meses.", "El plazo es de 4 meses."),
        ("El plazo es de tres meses.", "Son tres meses.", "Son 6 meses.", "El plazo es de 6 meses."),
        ("La tasa es de 1.234,50 €.", "Son 1.234,50 euros.", "Son 2.000,75 euros.", "La tasa es de 2.000,75 €."),
        ("Sube el 2,7 %.", "El 2,7 por ciento.", "El 3,5 por ciento.", "Sube el 3,5 %."),
        ("El 30 de junio de 2026.", "Es el 30 de junio de 2026.", "Es el 15 de julio de 2026.", "El 15 de julio de 2026."),
        ("Llama al 900 123 456.", "Teléfono 900123456.", "Teléfono 900 654 321.", "Llama al 900 654 321."),
        ("El plazo es de 3 meses.", "Son 3 meses.", "Son 3 meses y otros 6 días.", None),
        ("El plazo es de 3 meses.", "Son 3 meses o 5 meses.", "Son 4 meses.", None),
        ("El plazo es de 3 meses.", "Son 3 meses.", "Son 4 o 6 meses.", None),
        ("El plazo es de 3 meses.", "Son 3 meses.", "Son 90 días.", None),
        ("Son 3 meses, o 3 meses más.", "Son 3 meses.", "Son 4 meses.", None),
        ("El plazo es de 3 meses.", "Son 3 meses.", "Es 1 mes.", None),
        ("El plazo es de 2 meses.", "Son 3 meses.", "Son 4 meses.", None),
        ("De 3 a 4 meses.", "Son 3 meses.", "Son 4 meses.", None),
    ],
)  # fmt: skip
def test_a_new_figure_is_proposed_only_where_it_is_certain(text: str, gone: str, new: str, expected: str | None) -> None:
    """One figure went, one of its kind and unit came, and the fact states it once: else a person has to write."""
    proposed = proposal(fact("a", text), finding(gone, new))
    assert (proposed and proposed["text"]) == expected


def test_a_proposal_brings_text_and_values_together() -> None:
    """The values that are proposed are those of the proposed text."""
    proposed = proposal(fact("a", "Son 3 meses y 20 €."), finding("Son 3 meses.", "Son 6 meses."))
    assert proposed == {
        "text": "Son 6 meses y 20 €.",
        "values": [{"kind": "amount", "value": 20, "unit": "EUR"}, {"kind": "period", "value": 6, "unit": "month"}],
    }


def test_pages_are_compared_block_by_block() -> None:
    """Lines that changed together are one finding, with the figures that went and came; the rest of the page is none."""
    before = "Cita previa\nLlama al 900 123 456.\nEl plazo es de 3 meses.\nHorario de mañana."
    after = "Cita previa\nLlama al 900 654 321.\nEl plazo es de 3 meses.\nHorario de tarde.\nTraiga su NIE."
    first, second = drift_of_page("citas", before, after)
    assert (first.before, first.after) == ("Llama al 900 123 456.", "Llama al 900 654 321.")
    assert {str(figure) for figure in first.figures_gone} == {"phone 900123456"}
    assert second.after == "Horario de tarde.\nTraiga su NIE."
    assert {one.weight for one in (first, second)} == {"substantive"}


@pytest.mark.parametrize(
    ("before", "after"),
    [("Última actualización: 3 de mayo de 2026", "Última actualización: 9 de julio de 2026"), ("Llama  ya.", "«Llama» ya")],
)
def test_stamps_and_typography_of_pages_are_cosmetic(before: str, after: str) -> None:
    """When a page was made, and how it is typeset, is not what it says."""
    assert {one.weight for one in drift_of_page("citas", f"Uno\n{before}", f"Uno\n{after}")} == {"cosmetic"}


def test_a_block_touches_the_facts_that_it_spoke_of() -> None:
    """A fact of the page is touched when its figure went or most of its words stood there; one of another page is not."""
    facts = (
        fact("figure", "Teléfono de citas: 900 123 456.", url=PAGE),
        fact("words", "Atención presencial únicamente mediante cita previa obligatoria.", url=PAGE),
        fact("other-words", "La tarjeta cuesta 16,08 €.", url=PAGE),
        fact("other-page", "Teléfono: 900 123 456.", url="https://sede.example.es/otra"),
    )
    before = "Teléfono 900 123 456. Atención presencial mediante cita previa obligatoria."
    (found,) = drift_of_page("citas", before, "Teléfono 900 654 321.")
    radius = blast_radius(found, [procedure(*facts)], frozenset({"sede.example.es/cita"}))
    assert [(touched.fact.id, touched.relation) for touched in radius] == [("figure", "source"), ("words", "source")]
    assert radius[0].proposal is not None
    assert radius[0].proposal["text"] == "Teléfono de citas: 900 654 321."


def test_very_long_pages_are_compared_between_their_ends() -> None:
    """A page of many thousand lines takes no square of time: all between its common ends is one block."""
    lines = [f"Línea {chr(97 + number % 26)}" for number in range(30_000)]
    changed = [*lines[:100], "Nueva cuantía: 10 €", *lines[101:20_000], "Otra", *lines[20_001:]]
    (found,) = drift_of_page("larga", "\n".join(lines), "\n".join(changed))
    assert found.weight == "substantive"
    assert found.before is not None
    assert len(found.before.split("\n")) == 19_901
