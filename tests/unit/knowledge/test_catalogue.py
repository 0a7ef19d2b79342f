"""Tests of reading the catalogue: the real one is right, and everything wrong in a broken one is told at once."""

import json
import shutil
from collections.abc import Callable
from datetime import date
from pathlib import Path
from typing import Any

import pytest
from tests.languages import LANGUAGES, TAUGHT
from unit_builders import Document, edit, faults_of

from clara.data_files import DataError, package_folder
from clara.knowledge.catalogue import MARKS, Catalogue, mark_of, procedure_faults, read_catalogue, read_marks
from clara.knowledge.procedure import Certainty, Fact, FactKind, ProcedureKind
from clara.knowledge.questions import OUTSIDE
from clara.language.figures.figure import Figure, FigureKind

PROCEDURES = {
    "antecedentes_penales", "arraigo", "autonomos", "autorizacion_trabajo", "ayuda_alimentaria", "ayuda_alquiler",
    "becas_educacion", "bono_social_electrico", "canje_permiso_conducir", "certificado_discapacidad",
    "cita_previa_extranjeria", "ciudadanos_ue", "deduccion_maternidad_irpf", "denuncia", "dependencia", "desahucio",
    "despido", "deudas_cuenta_basica", "divorcio_custodia", "dni_pasaporte", "empadronamiento", "empleo_hogar",
    "escolarizacion", "familia_numerosa", "herencia_defuncion", "homologacion_titulos", "identidad_digital", "imv",
    "incapacidad", "jubilacion", "justicia_gratuita", "matrimonio_pareja_hecho", "nacimiento_registro",
    "nacionalidad_residencia", "nie", "numero_seguridad_social", "orden_expulsion", "pension_no_contributiva",
    "prestacion_desempleo", "prestacion_nacimiento", "proteccion_internacional", "proteccion_temporal_ucrania",
    "reagrupacion_familiar", "regularizacion_extraordinaria_2026", "renovacion_autorizacion", "rentas_minimas",
    "residencia_larga_duracion", "salarios_impagados", "subsidio_desempleo", "tarjeta_sanitaria", "tie",
    "transporte_y_tarjetas", "vida_laboral", "violencia_genero_urgencias", "viudedad_orfandad",
}  # fmt: skip


def facts(catalogue: Catalogue) -> list[Fact]:
    """Give every fact of every procedure."""
    return [fact for procedure in catalogue.procedures.values() for fact in procedure.facts]


def first_fact(document: Document) -> Document:
    """Give the first fact of the first section."""
    fact: Document = document["sections"][0]["facts"][0]
    return fact


def test_real_data_reads_clean(real: Any) -> None:
    """The data holds 55 procedures without a fault, each under its own id, in order."""
    assert len(PROCEDURES) == 55
    assert list(real.catalogue.procedures) == sorted(PROCEDURES)
    assert all(procedure.id == name for name, procedure in real.catalogue.procedures.items())


def test_real_figures_are_compared_and_marked(real: Any) -> None:
    """Whatever the marks say, every text is read again; and each mark is of its file as it is: `python tools/mark_facts.py`."""
    files = sorted((package_folder() / "data" / "tramites").glob("*.json"))
    assert [fault for path in files for fault in procedure_faults(path, real.catalogue.procedures[path.stem])] == []
    assert read_marks(package_folder() / "data") == {path.name: mark_of(path) for path in files}


@pytest.mark.parametrize("marks", ["{}", "[]", "{", '{"nie.json": "0"}', None])
def test_what_is_not_marked_is_compared(folder: Path, marks: str | None) -> None:
    """A figure that is not in its text is told, unless the file is marked just as it is."""
    wrong = [{"kind": "amount", "value": 7, "unit": "EUR"}]
    edit(folder / "tramites" / "nie.json", lambda document: first_fact(document).update(values=wrong))
    if marks is not None:
        (folder / MARKS).write_text(marks, "utf-8")
    with pytest.raises(DataError, match="'amount 7 EUR' is not in the text"):
        read_catalogue(folder)
    (folder / MARKS).write_text(json.dumps({"nie.json": mark_of(folder / "tramites" / "nie.json")}), "utf-8")
    assert read_catalogue(folder).procedures["nie"].facts[0].values


@pytest.mark.parametrize("language", LANGUAGES)
def test_real_names(real: Any, language: str) -> None:
    """In each served language every procedure has a name and words that people use for it."""
    for procedure in real.catalogue.procedures.values():
        assert procedure.name[language], procedure.id
        assert procedure.vocabulary[language], procedure.id


def test_real_fact_ids(real: Any) -> None:
    """No two facts of the catalogue share an id."""
    ids = [fact.id for fact in facts(real.catalogue)]
    assert len(ids) == len(set(ids))


def test_real_facts_have_sources(real: Any) -> None:
    """Every fact that may ever be told has a source, and one that is called official has an official source."""
    for fact in facts(real.catalogue):
        assert fact.sources or fact.certainty is Certainty.UNVERIFIED, fact.id
        assert fact.certainty is not Certainty.OFFICIAL or any(source.official for source in fact.sources), fact.id


def test_real_territories(real: Any) -> None:
    """Every territory in which a fact holds is a known place, and some facts hold in a part of Spain only."""
    territories = {fact.territory for fact in facts(real.catalogue)}
    assert territories <= real.catalogue.places.by_code.keys()
    assert "ES" in territories
    assert len(territories) > 1


def test_real_days(real: Any) -> None:
    """A fact is withheld the day before its first day and the day after its last, and told on both unless unverified."""
    bounded = [fact for fact in facts(real.catalogue) if fact.validity.first or fact.validity.last]
    assert bounded
    for fact in bounded:
        told = fact.certainty is not Certainty.UNVERIFIED
        if fact.validity.first:
            assert not fact.published(date.fromordinal(fact.validity.first.toordinal() - 1)), fact.id
            assert fact.published(fact.validity.first) is told, fact.id
        if fact.validity.last:
            assert not fact.published(date.fromordinal(fact.validity.last.toordinal() + 1)), fact.id
            assert fact.published(fact.validity.last) is told, fact.id


def test_real_unverified_is_withheld(real: Any) -> None:
    """The data holds unverified facts, and none of them becomes a passage."""
    unverified = {fact.id for fact in facts(real.catalogue) if fact.certainty is Certainty.UNVERIFIED}
    assert unverified
    assert not unverified & {passage.id for passage in real.passages}


def test_real_conditions(real: Any) -> None:
    """Facts that would mislead alone name others of their own procedure, and nothing that may be told needs what may not."""
    limited = [(procedure, fact) for procedure in real.catalogue.procedures.values() for fact in procedure.facts]
    assert sum(bool(fact.conditions) for _, fact in limited) > 100
    for procedure, fact in limited:
        by_id = {other.id: other for other in procedure.facts}
        for condition in fact.conditions:
            assert condition != fact.id
            told_alone = by_id[condition].certainty is Certainty.UNVERIFIED and fact.certainty is not Certainty.UNVERIFIED
            assert not told_alone, fact.id


def test_real_questions(real: Any) -> None:
    """Every procedure has questions in all ten languages, and so has what lies outside; only the latter may lack letters."""
    asked = {(question.procedure, question.language) for question in real.catalogue.questions}
    assert asked == {(procedure, language) for procedure in (*PROCEDURES, OUTSIDE) for language in TAUGHT}
    assert all(question.text.strip() for question in real.catalogue.questions)
    assert all(any(map(str.isalpha, question.text)) for question in real.catalogue.questions if question.inside)


def test_copy_reads_clean(folder: Path) -> None:
    """The copy that the tests break is right before they break it."""
    catalogue = read_catalogue(folder, with_questions=True)
    assert set(catalogue.procedures) == {"nie", "tie"}
    assert catalogue.questions == ()
    assert "ES-M/28079" in catalogue.places.by_code


def test_values(folder: Path) -> None:
    """What stands in the file is what is read: texts, figures, conditions, sources, days."""

    def change(document: Document) -> None:
        document["closed_on"] = "2026-01-31"
        document["kind"] = "help_line"
        first_fact(document).update(
            text="La tasa es de 9,84 € al mes.",
            kind="fee",
            values=[{"kind": "amount", "value": 9.84, "unit": "EUR/month"}],
            conditions=["nie-identidad-02"],
            certainty="secondary",
            territory="ES-MD",
            valid={"from": "2026-01-01", "until": "2026-12-31"},
            legal_basis=[{"norm": "BOE-A-2000-544", "provision": "artículo 4"}],
            sources=[{"url": "https://ejemplo.es/a", "seen_on": "2026-07"}],
        )

    edit(folder / "tramites" / "nie.json", change)
    procedure = read_catalogue(folder).procedures["nie"]
    fact = procedure.facts[0]
    assert (procedure.closed_on, procedure.kind) == (date(2026, 1, 31), ProcedureKind.HELP_LINE)
    assert (fact.text, fact.certainty, fact.territory) == ("La tasa es de 9,84 € al mes.", Certainty.SECONDARY, "ES-MD")
    assert (fact.kind, fact.values) == (FactKind.FEE, {Figure(FigureKind.AMOUNT, 9.84, "EUR/month")})
    assert fact.conditions == ("nie-identidad-02",)
    assert (fact.validity.first, fact.validity.last) == (date(2026, 1, 1), date(2026, 12, 31))
    assert [(basis.norm, basis.provision) for basis in fact.legal_basis] == [("BOE-A-2000-544", "artículo 4")]
    (source,) = fact.sources
    assert (source.url, str(source.seen_on), source.dated, source.official) == ("https://ejemplo.es/a", "2026-07", None, False)


def test_defaults(folder: Path) -> None:
    """What a file leaves out: an open procedure to apply for, and a fact that holds in all Spain, always, on its own."""

    def change(document: Document) -> None:
        kept = {field: first_fact(document)[field] for field in ("id", "certainty", "sources")}
        document["sections"][0]["facts"][0] = {**kept, "text": "Un texto de ejemplo.", "kind": "statement"}

    edit(folder / "tramites" / "nie.json", change)
    procedure = read_catalogue(folder).procedures["nie"]
    fact = procedure.facts[0]
    assert (procedure.closed_on, procedure.kind) == (None, ProcedureKind.PROCEDURE)
    assert (fact.territory, fact.validity.first, fact.validity.last) == ("ES", None, None)
    assert (fact.values, fact.conditions, fact.legal_basis) == (frozenset(), (), ())


def break_nie(document: Document) -> None:
    """Make three faults."""
    document.pop("authority")
    document["extra"] = 1
    first_fact(document)["certainty"] = "sure"


def break_tie(document: Document) -> None:
    """Make three other faults."""
    document["id"] = "tia"
    first_fact(document)["valid"] = {"from": "2026-02-30", "until": "2026-04-31"}


def test_all_faults_at_once(folder: Path) -> None:
    """Several faults in several files, of places and questions too, are all reported by one reading."""
    edit(folder / "tramites" / "nie.json", break_nie)
    edit(folder / "tramites" / "tie.json", break_tie)
    (folder / "tramites" / "zzz.json").write_text("{", "utf-8")
    (folder / "tramites" / "aaa.json").write_bytes(b"\xff")
    (folder / "questions" / "tie.json").write_text("[]", "utf-8")
    places = {(fault.file, fault.place) for fault in faults_of(folder)}
    expected = {
        ("aaa.json", "byte 0"),
        ("nie.json", "$"),
        ("nie.json", "$.sections[0].facts[0].certainty"),
        ("questions/tie.json", "$"),
        ("tie.json", "$.id"),
        ("tie.json", "$.sections[0].facts[0].valid.from"),
        ("tie.json", "$.sections[0].facts[0].valid.until"),
        ("zzz.json", "line 1, column 2"),
    }
    assert places == expected


def test_faults_of_places_do_not_hide_others(folder: Path) -> None:
    """A broken file of places is reported together with the broken procedures."""
    edit(folder / "tramites" / "tie.json", break_tie)
    (folder / "places.json").write_text("{", "utf-8")
    assert {fault.file for fault in faults_of(folder)} == {"places.json", "tie.json"}


def test_broken_procedure_does_not_blame_its_questions(folder: Path) -> None:
    """The typical questions of a procedure that cannot be read are not blamed for naming facts that nobody could read."""
    (folder / "questions" / "nie.json").write_text(
        '{"procedure": "nie", "sections": {"plazos": {"es": ["¿cuánto tarda?"]}}}', "utf-8"
    )
    edit(folder / "tramites" / "nie.json", lambda document: document.pop("authority"))
    (fault,) = faults_of(folder)
    assert fault.file == "nie.json"


def test_message_shows_every_fault(folder: Path) -> None:
    """The error's message has one line for each fault: file, place, remedy."""
    edit(folder / "tramites" / "nie.json", lambda document: document.update(id="nia"))
    edit(folder / "tramites" / "tie.json", lambda document: document.pop("authority"))
    lines = [str(fault) for fault in faults_of(folder)]
    assert any(line.startswith("nie.json: $.id: ") for line in lines)
    assert any(line.startswith('tie.json: $: "authority"') for line in lines)


@pytest.mark.parametrize("schema", ["procedure", "places", "questions", "outside"])
def test_no_schema(folder: Path, schema: str) -> None:
    """Without one of its schemas nothing is read, and the message says what cannot be read and what to do."""
    (folder / "schema" / f"{schema}.schema.json").unlink()
    (fault,) = faults_of(folder)
    assert fault.file == str(folder / "schema" / f"{schema}.schema.json")
    assert fault.remedy == "cannot be read (No such file or directory); restore data/ from the repository"


def hide_places(folder: Path) -> None:
    """Take the file of places away."""
    (folder / "places.json").unlink()


@pytest.mark.parametrize(
    ("hide", "file"),
    [
        pytest.param(shutil.rmtree, "{folder}/schema/procedure.schema.json", id="everything"),
        pytest.param(lambda folder: shutil.rmtree(folder / "schema"), "{folder}/schema/procedure.schema.json", id="schemas"),
        pytest.param(lambda folder: shutil.rmtree(folder / "tramites"), "{folder}/tramites", id="procedures"),
        pytest.param(hide_places, "places.json", id="places"),
    ],
)
def test_missing(folder: Path, hide: Callable[[Path], None], file: str) -> None:
    """Data that is not there at all is one fault with a remedy, not an empty catalogue."""
    hide(folder)
    (fault,) = faults_of(folder)
    assert fault.file == file.format(folder=folder)
    assert "from the repository" in fault.remedy
