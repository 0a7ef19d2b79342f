"""Tests of reading the catalogue: the real one is right, and every fault of a broken one is named."""

import json
import shutil
from collections.abc import Callable
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from clara.conversation.texts import LANGUAGES
from clara.knowledge.catalogue import Catalogue, CatalogueError, Fault, read_catalogue
from clara.knowledge.procedure import Certainty, Fact

PROCEDURES = {
    "ayuda_alquiler", "certificado_discapacidad", "empadronamiento", "imv", "justicia_gratuita", "nie",
    "prestacion_desempleo", "tarjeta_sanitaria", "tie",
}  # fmt: skip

Document = dict[str, Any]


@pytest.fixture
def folder(tmp_path: Path, data: Path) -> Path:
    """A copy of the data with two procedures."""
    shutil.copytree(data / "schema", tmp_path / "schema")
    (tmp_path / "tramites").mkdir()
    for name in ("nie", "tie"):
        shutil.copy(data / "tramites" / f"{name}.json", tmp_path / "tramites")
    return tmp_path


def edit(folder: Path, name: str, change: Callable[[Document], object]) -> Document:
    """Change one procedure in place."""
    path = folder / "tramites" / f"{name}.json"
    document = json.loads(path.read_text("utf-8"))
    change(document)
    path.write_text(json.dumps(document, ensure_ascii=False), "utf-8")
    return document


def faults_of(folder: Path) -> list[Fault]:
    """Read a broken catalogue and give its faults."""
    with pytest.raises(CatalogueError) as caught:
        read_catalogue(folder)
    assert str(caught.value).splitlines() == [str(fault) for fault in caught.value.faults]
    return caught.value.faults


def first_fact(document: Document) -> Document:
    """Give the first fact of the first section."""
    fact: Document = document["sections"][0]["facts"][0]
    return fact


def facts(catalogue: Catalogue) -> list[Fact]:
    """Give every fact of every procedure."""
    return [fact for procedure in catalogue.procedures.values() for section in procedure.sections for fact in section.facts]


def test_real_data_reads_clean(real: Any) -> None:
    """The data holds nine procedures without a fault, each under its own id."""
    assert set(real.catalogue.procedures) == PROCEDURES
    assert all(procedure.id == name for name, procedure in real.catalogue.procedures.items())


def test_real_names(real: Any) -> None:
    """Every procedure has a name in each of the ten languages."""
    for procedure in real.catalogue.procedures.values():
        assert set(LANGUAGES) <= set(procedure.name)


def test_real_fact_ids(real: Any) -> None:
    """No two facts of the catalogue share an id."""
    ids = [fact.id for fact in facts(real.catalogue)]
    assert len(ids) == len(set(ids))


def test_real_facts_have_sources(real: Any) -> None:
    """Every fact that may ever be told has a source, and one that is called official has an official source."""
    for fact in facts(real.catalogue):
        assert fact.sources or fact.certainty is Certainty.UNVERIFIED, fact.id
        assert fact.certainty is not Certainty.OFFICIAL or any(source.official for source in fact.sources), fact.id


def test_real_days(real: Any) -> None:
    """A fact is withheld the day before its first day and the day after its last, and told on both unless unverified."""
    bounded = [fact for fact in facts(real.catalogue) if fact.valid_from or fact.valid_until]
    assert bounded
    for fact in bounded:
        told = fact.certainty is not Certainty.UNVERIFIED
        if fact.valid_from:
            assert not fact.published(date.fromordinal(fact.valid_from.toordinal() - 1)), fact.id
            assert fact.published(fact.valid_from) is told, fact.id
        if fact.valid_until:
            assert not fact.published(date.fromordinal(fact.valid_until.toordinal() + 1)), fact.id
            assert fact.published(fact.valid_until) is told, fact.id


def test_real_unverified_is_withheld(real: Any) -> None:
    """The data holds unverified facts, and none of them becomes a passage."""
    unverified = {fact.id for fact in facts(real.catalogue) if fact.certainty is Certainty.UNVERIFIED}
    assert unverified
    assert not unverified & {passage.id for passage in real.passages}


def test_copy_reads_clean(folder: Path) -> None:
    """The copy that the following tests break is right before they break it."""
    assert set(read_catalogue(folder).procedures) == {"nie", "tie"}


def test_values(folder: Path) -> None:
    """What stands in the file is what is read: texts, sources, days, defaults."""

    def change(document: Document) -> None:
        document["closed_on"] = "2026-01-31"
        first_fact(document).update(
            text="Un texto de ejemplo.",
            certainty="secondary",
            valid={"from": "2026-01-01", "until": "2026-12-31"},
            legal_basis=[{"norm": "BOE-A-2000-544", "provision": "artículo 4"}],
            sources=[{"url": "https://ejemplo.es/a", "seen_on": "2026-07"}],
        )
        first_fact(document).pop("territory", None)

    edit(folder, "nie", change)
    procedure = read_catalogue(folder).procedures["nie"]
    fact = procedure.sections[0].facts[0]
    assert procedure.closed_on == date(2026, 1, 31)
    assert (fact.text, fact.certainty, fact.territory) == ("Un texto de ejemplo.", Certainty.SECONDARY, "ES")
    assert (fact.valid_from, fact.valid_until) == (date(2026, 1, 1), date(2026, 12, 31))
    assert [(basis.norm, basis.provision) for basis in fact.legal_basis] == [("BOE-A-2000-544", "artículo 4")]
    (source,) = fact.sources
    assert (source.url, source.seen_on, source.dated, source.official) == ("https://ejemplo.es/a", "2026-07", None, False)


@pytest.mark.parametrize(
    ("change", "place", "remedy"),
    [
        pytest.param(lambda document: document.update(vocabluary={}), "$", "vocabluary", id="unknown-field"),
        pytest.param(
            lambda document: first_fact(document).update(txt="x"), "$.sections[0].facts[0]", "txt", id="unknown-field-of-fact"
        ),
        pytest.param(lambda document: document.pop("authority"), "$", "'authority' is a required", id="missing-field"),
        pytest.param(
            lambda document: first_fact(document).pop("text"), "$.sections[0].facts[0]", "'text'", id="missing-field-of-fact"
        ),
        pytest.param(lambda document: document["name"].pop("uk"), "$.name", "'uk'", id="missing-name"),
        pytest.param(
            lambda document: first_fact(document).update(sources=[]),
            "$.sections[0].facts[0].sources",
            "non-empty",
            id="no-source",
        ),
        pytest.param(
            lambda document: first_fact(document).update(certainty="sure"),
            "$.sections[0].facts[0].certainty",
            "two_sources",
            id="unknown-certainty",
        ),
        pytest.param(
            lambda document: first_fact(document).update(text="corto"), "$.sections[0].facts[0].text", "corto", id="short-text"
        ),
        pytest.param(
            lambda document: document["sections"][0].update(id="varios"), "$.sections[0].id", "varios", id="unknown-section"
        ),
        pytest.param(lambda document: document.update(sections=[]), "$.sections", "non-empty", id="no-sections"),
        pytest.param(
            lambda document: first_fact(document).update(valid={"from": "01/02/2026"}),
            "$.sections[0].facts[0].valid.from",
            "01/02/2026",
            id="day-in-another-form",
        ),
        pytest.param(
            lambda document: document["sections"].append(
                {
                    **document["sections"][0],
                    "facts": [
                        {**first_fact(document), "id": f"nie-{document['sections'][0]['id']}-99"},
                    ],
                }
            ),
            "$.sections",
            "appears twice",
            id="duplicate-section",
        ),
        pytest.param(
            lambda document: first_fact(document).update(id="tie-identidad-77"),
            "$.sections[0].facts[0].id",
            "must start with 'nie-",
            id="fact-id-of-another-procedure",
        ),
        pytest.param(
            lambda document: first_fact(document).update(id="nie-plazos-77"),
            "$.sections[0].facts[0].id",
            "must start with 'nie-identidad-",
            id="fact-id-of-another-section",
        ),
        pytest.param(
            lambda document: first_fact(document).update(valid={"from": "2026-02-30"}),
            "$.sections[0].facts[0].valid.from",
            "2026-02-30",
            id="impossible-first-day",
        ),
        pytest.param(
            lambda document: first_fact(document).update(valid={"until": "2025-02-29"}),
            "$.sections[0].facts[0].valid.until",
            "2025-02-29",
            id="impossible-last-day",
        ),
        pytest.param(lambda document: document.update(closed_on="2026-02-29"), "$.closed_on", "2026-02-29", id="closed-on"),
        pytest.param(lambda document: document.update(closed_on="soon"), "$.closed_on", "soon", id="closed-on-in-another-form"),
        pytest.param(
            lambda document: first_fact(document)["sources"][0].update(seen_on="2026-04-31"),
            "$.sections[0].facts[0].sources[0].seen_on",
            "2026-04-31",
            id="impossible-seen-on",
        ),
        pytest.param(
            lambda document: first_fact(document)["sources"].append({"url": "https://b.es", "seen_on": "2025-02-29"}),
            "$.sections[0].facts[0].sources[1].seen_on",
            "2025-02-29",
            id="impossible-seen-on-of-another-source",
        ),
        pytest.param(
            lambda document: first_fact(document)["sources"][0].update(seen_on="2026-13"),
            "$.sections[0].facts[0].sources[0].seen_on",
            "2026-13",
            id="seen-on-in-the-thirteenth-month",
        ),
        pytest.param(
            lambda document: first_fact(document).update(valid={"from": "2026-03-02", "until": "2026-03-01"}),
            "$.sections[0].facts[0].valid",
            "ends before it begins",
            id="until-before-from",
        ),
    ],
)
def test_fault(folder: Path, change: Callable[[Document], object], place: str, remedy: str) -> None:
    """A single fault is named with its file, its place and what to do, and there is no other."""
    edit(folder, "nie", change)
    (fault,) = faults_of(folder)
    assert (fault.file, fault.place) == ("nie.json", place)
    assert remedy in fault.remedy


def test_id_is_not_the_file_name(folder: Path) -> None:
    """A procedure whose id differs from its file's name is named with both."""
    (folder / "tramites" / "nie.json").rename(folder / "tramites" / "nia.json")
    (fault,) = faults_of(folder)
    assert (fault.file, fault.place) == ("nia.json", "$.id")
    assert "'nie'" in fault.remedy
    assert "'nia'" in fault.remedy


@pytest.mark.parametrize(
    ("closed_on", "seen_on"),
    [
        pytest.param("2024-02-29", "2024-02-29", id="leap-day"),
        pytest.param("2026-12-31", "2026-12", id="month"),
        pytest.param("2000-01-01", "2000-02", id="february"),
    ],
)
def test_possible_days(folder: Path, closed_on: str, seen_on: str) -> None:
    """Real days, and months where months are allowed, are no fault."""

    def change(document: Document) -> None:
        document["closed_on"] = closed_on
        first_fact(document)["sources"][0]["seen_on"] = seen_on

    edit(folder, "nie", change)
    procedure = read_catalogue(folder).procedures["nie"]
    assert procedure.closed_on == date.fromisoformat(closed_on)
    assert procedure.sections[0].facts[0].sources[0].seen_on == seen_on


def test_one_day_period(folder: Path) -> None:
    """A fact that is true on a single day is no fault."""
    edit(folder, "nie", lambda document: first_fact(document).update(valid={"from": "2026-03-01", "until": "2026-03-01"}))
    assert read_catalogue(folder).procedures["nie"].sections[0].facts[0].valid_until == date(2026, 3, 1)


def test_unverified_needs_no_source(folder: Path) -> None:
    """A fact without any source is allowed as unverified."""
    edit(folder, "nie", lambda document: first_fact(document).update(certainty="unverified", sources=[]))
    assert read_catalogue(folder).procedures["nie"].sections[0].facts[0].sources == ()


@pytest.mark.parametrize(
    ("content", "place"),
    [
        pytest.param(b'{\n  "id": "nie",\n  "name": oops\n}', "line 3, column 11", id="broken-json"),
        pytest.param(b"", "line 1, column 1", id="empty-file"),
        pytest.param(b'{"id": "nie"', "line 1, column 13", id="cut-short"),
        pytest.param(b'{"id": "nie", "x": "\xe9"}', "byte 20", id="not-utf-8"),
        pytest.param(b"[]", "$", id="not-an-object"),
        pytest.param(b"[" * 100_000, "file", id="deep-lists"),
        pytest.param(b'{"id": ' * 100_000, "file", id="deep-objects"),
    ],
)
def test_unreadable_file(folder: Path, content: bytes, place: str) -> None:
    """A file that cannot be read is named with the line and column, or the byte, to mend."""
    (folder / "tramites" / "nie.json").write_bytes(content)
    (fault,) = faults_of(folder)
    assert (fault.file, fault.place) == ("nie.json", place)


def test_fact_id_in_two_files(folder: Path) -> None:
    """A fact id that a second procedure uses too is refused in the second."""
    edit(folder, "tie", lambda document: first_fact(document).update(id="nie-identidad-01"))
    (fault,) = faults_of(folder)
    assert (fault.file, fault.place) == ("tie.json", "$.sections[0].facts[0].id")
    assert "nie-identidad-01" in fault.remedy


def test_fact_id_twice_in_one_file(folder: Path) -> None:
    """A fact id that stands twice in one file is named."""
    edit(folder, "nie", lambda document: document["sections"][0]["facts"].append(dict(first_fact(document))))
    (fault,) = faults_of(folder)
    assert (fault.file, fault.place) == ("nie.json", "nie-identidad-01")
    assert "already used in nie.json" in fault.remedy


def test_all_faults_at_once(folder: Path) -> None:
    """Several faults in several files are all reported by one reading."""

    def break_nie(document: Document) -> None:
        document.pop("authority")
        document["extra"] = 1
        first_fact(document)["certainty"] = "sure"

    def break_tie(document: Document) -> None:
        document["id"] = "tia"
        first_fact(document)["valid"] = {"from": "2026-02-30", "until": "2026-04-31"}

    edit(folder, "nie", break_nie)
    edit(folder, "tie", break_tie)
    (folder / "tramites" / "zzz.json").write_text("{", "utf-8")
    (folder / "tramites" / "aaa.json").write_bytes(b"\xff")
    places = {(fault.file, fault.place) for fault in faults_of(folder)}
    assert places >= {
        ("aaa.json", "byte 0"),
        ("nie.json", "$"),
        ("nie.json", "$.sections[0].facts[0].certainty"),
        ("tie.json", "$.id"),
        ("tie.json", "$.sections[0].facts[0].valid.from"),
        ("tie.json", "$.sections[0].facts[0].valid.until"),
        ("zzz.json", "line 1, column 2"),
    }


def test_message_shows_every_fault(folder: Path) -> None:
    """The error's message has one line for each fault: file, place, remedy."""
    edit(folder, "nie", lambda document: document.update(id="nia"))
    edit(folder, "tie", lambda document: document.pop("authority"))
    with pytest.raises(CatalogueError) as caught:
        read_catalogue(folder)
    lines = str(caught.value).splitlines()
    assert any(line.startswith("nie.json: $.id: ") for line in lines)
    assert any(line.startswith("tie.json: $: 'authority'") for line in lines)


@pytest.mark.parametrize("missing", ["schema", "schema/procedure.schema.json"], ids=["folder", "file"])
def test_no_schema(folder: Path, missing: str) -> None:
    """Without the schema nothing is read, and the message says what is missing and what to do."""
    path = folder / missing
    shutil.rmtree(path) if path.is_dir() else path.unlink()
    (fault,) = faults_of(folder)
    assert fault.file == str(folder / "schema" / "procedure.schema.json")
    assert "is missing; restore data/" in fault.remedy


def test_no_folder(tmp_path: Path) -> None:
    """A folder that is not there at all is a fault like any other."""
    (fault,) = faults_of(tmp_path / "nowhere")
    assert "is missing" in fault.remedy


def test_no_procedures(folder: Path) -> None:
    """A folder without procedures is a fault, not an empty catalogue."""
    for path in (folder / "tramites").iterdir():
        path.unlink()
    (fault,) = faults_of(folder)
    assert "holds no procedure" in fault.remedy
