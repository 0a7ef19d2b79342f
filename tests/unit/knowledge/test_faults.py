"""Tests of naming what is wrong in one file of a procedure: its shape, its encoding, its ids and its days."""

from collections.abc import Callable
from datetime import date
from pathlib import Path

import pytest
from unit_builders import Document, edit, faults_of

from clara.data_files import DataError, Fault, read_schema
from clara.data_files import day as read_day
from clara.knowledge.catalogue import read_catalogue

FIRST = "$.sections[0].facts[0]"


def first_fact(document: Document) -> Document:
    """Give the first fact of the first section."""
    fact: Document = document["sections"][0]["facts"][0]
    return fact


@pytest.mark.parametrize(
    ("change", "place", "remedy"),
    [
        pytest.param(lambda document: document.update(vocabluary={}), "$", "vocabluary", id="unknown-field"),
        pytest.param(lambda document: first_fact(document).update(txt="x"), FIRST, "txt", id="unknown-field-of-fact"),
        pytest.param(lambda document: document.pop("authority"), "$", '"authority" is a required', id="missing-field"),
        pytest.param(lambda document: first_fact(document).pop("text"), FIRST, '"text"', id="missing-field-of-fact"),
        pytest.param(lambda document: first_fact(document).pop("kind"), FIRST, '"kind"', id="missing-kind"),
        pytest.param(lambda document: document["name"].pop("uk"), "$.name", '"uk"', id="missing-name"),
        pytest.param(
            lambda document: first_fact(document).update(sources=[]), f"{FIRST}.sources", "has less than 1", id="no-source"
        ),
        pytest.param(
            lambda document: first_fact(document).update(certainty="sure"), f"{FIRST}.certainty", "two_sources", id="certainty"
        ),
        pytest.param(lambda document: first_fact(document).update(kind="sum"), f"{FIRST}.kind", "none of amount", id="kind"),
        pytest.param(lambda document: document.update(kind="form"), "$.kind", "help_line", id="kind-of-procedure"),
        pytest.param(lambda document: first_fact(document).update(text="corto"), f"{FIRST}.text", "corto", id="short-text"),
        pytest.param(lambda document: document["sections"][0].update(id="varios"), "$.sections[0].id", "varios", id="section"),
        pytest.param(
            lambda document: document["sections"][0].update(id="destinatarios"),
            "$.sections[0].id",
            "requisitos",
            id="section-of-former-days",
        ),
        pytest.param(lambda document: document.update(sections=[]), "$.sections", "has less than 1", id="no-sections"),
        pytest.param(
            lambda document: first_fact(document).update(valid={"from": "01/02/2026"}),
            f"{FIRST}.valid.from",
            "01/02/2026",
            id="day-in-another-form",
        ),
        pytest.param(
            lambda document: first_fact(document).update(values=[{"kind": "amount", "value": "9,84 €"}]),
            f"{FIRST}.values[0].value",
            '"9,84 €" is not of type "number"',
            id="amount-as-text",
        ),
        pytest.param(
            lambda document: first_fact(document).update(territory="Madrid"), f"{FIRST}.territory", "ISO 3166-2", id="territory"
        ),
        pytest.param(lambda document: document.update(closed_on="soon"), "$.closed_on", "soon", id="closed-on-in-another-form"),
        pytest.param(lambda document: document.update(closed_on="2026-02-29"), "$.closed_on", "2026-02-29", id="closed-on"),
        pytest.param(
            lambda document: document["sections"].append(
                {**document["sections"][0], "facts": [{**first_fact(document), "id": "nie-identidad-99"}]}
            ),
            "$.sections",
            "'identidad' appears twice",
            id="duplicate-section",
        ),
        pytest.param(
            lambda document: first_fact(document).update(id="tie-identidad-77"),
            f"{FIRST}.id",
            "must start with 'nie-identidad-'",
            id="fact-id-of-another-procedure",
        ),
        pytest.param(
            lambda document: first_fact(document).update(id="nie-plazos-77"),
            f"{FIRST}.id",
            "must start with 'nie-identidad-'",
            id="fact-id-of-another-section",
        ),
        pytest.param(
            lambda document: first_fact(document).update(valid={"from": "2026-02-30"}),
            f"{FIRST}.valid.from",
            "2026-02-30",
            id="impossible-first-day",
        ),
        pytest.param(
            lambda document: first_fact(document).update(valid={"until": "2025-02-29"}),
            f"{FIRST}.valid.until",
            "2025-02-29",
            id="impossible-last-day",
        ),
        pytest.param(
            lambda document: first_fact(document).update(valid={"from": "2026-03-02", "until": "2026-03-01"}),
            f"{FIRST}.valid",
            "ends before it begins",
            id="until-before-from",
        ),
        pytest.param(
            lambda document: first_fact(document)["sources"][0].update(seen_on="2026-04-31"),
            f"{FIRST}.sources[0].seen_on",
            "2026-04-31",
            id="impossible-seen-on",
        ),
        pytest.param(
            lambda document: first_fact(document)["sources"].append({"url": "https://b.es", "seen_on": "2025-02-29"}),
            f"{FIRST}.sources[1].seen_on",
            "2025-02-29",
            id="impossible-seen-on-of-another-source",
        ),
        pytest.param(
            lambda document: first_fact(document)["sources"][0].update(seen_on="2026-13"),
            f"{FIRST}.sources[0].seen_on",
            "2026-13",
            id="seen-on-in-the-thirteenth-month",
        ),
    ],
)
def test_fault(folder: Path, change: Callable[[Document], object], place: str, remedy: str) -> None:
    """A single fault is named with its file, its place and what to do, and there is no other."""
    edit(folder / "tramites" / "nie.json", change)
    (fault,) = faults_of(folder)
    assert (fault.file, fault.place) == ("nie.json", place)
    assert remedy in fault.remedy


def test_id_is_not_the_file_name(folder: Path) -> None:
    """A procedure whose id differs from its file's name is named with both."""
    (folder / "tramites" / "nie.json").rename(folder / "tramites" / "nia.json")
    (fault,) = faults_of(folder)
    assert (fault.file, fault.place) == ("nia.json", "$.id")
    assert fault.remedy == "is 'nie' but the file is named 'nia'; make them equal"


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

    edit(folder / "tramites" / "nie.json", change)
    procedure = read_catalogue(folder).procedures["nie"]
    assert procedure.closed_on == date.fromisoformat(closed_on)
    assert str(procedure.facts[0].sources[0].seen_on) == seen_on


def test_one_day_period(folder: Path) -> None:
    """A fact that is true on a single day is no fault."""
    only = {"from": "2026-03-01", "until": "2026-03-01"}
    edit(folder / "tramites" / "nie.json", lambda document: first_fact(document).update(valid=only))
    assert read_catalogue(folder).procedures["nie"].facts[0].validity.last == date(2026, 3, 1)


def test_unverified_needs_no_source(folder: Path) -> None:
    """A fact without any source is allowed as unverified."""
    edit(folder / "tramites" / "nie.json", lambda document: first_fact(document).update(certainty="unverified", sources=[]))
    assert read_catalogue(folder).procedures["nie"].facts[0].sources == ()


@pytest.mark.parametrize(
    ("content", "place"),
    [
        pytest.param(b'{\n  "id": "nie",\n  "name": oops\n}', "line 3, column 11", id="broken-json"),
        pytest.param(b"", "line 1, column 1", id="empty-file"),
        pytest.param(b'{"id": "nie"', "line 1, column 13", id="cut-short"),
        pytest.param(b'{"id": "nie", "x": "\xe9"}', "byte 20", id="not-utf-8"),
        pytest.param(b"[]", "$", id="not-an-object"),
        pytest.param(b'{"id": ' + b"1" * 5_000 + b"}", "file", id="endless-number"),
        pytest.param(b"[" * 100_000, "file", id="deep-lists"),
        pytest.param(b'{"id": ' * 100_000, "file", id="deep-objects"),
    ],
)
@pytest.mark.parametrize("name", ["tramites/nie.json", "questions/nie.json", "questions/outside.json", "places.json"])
def test_unreadable_file(folder: Path, name: str, content: bytes, place: str) -> None:
    """A file that cannot be read, of whatever kind, is named with the line and column, or the byte, to mend."""
    (folder / name).write_bytes(content)
    (fault,) = faults_of(folder)
    assert (fault.file, fault.place) == (name.removeprefix("tramites/"), place)


def test_what_only_the_schema_knows_is_no_silence(folder: Path) -> None:
    """A kind that the schema allows and the code does not know ends the reading; the procedure does not just vanish."""
    schema = folder / "schema" / "procedure.schema.json"
    schema.write_text(schema.read_text("utf-8").replace('"amount", "fee"', '"novel", "amount", "fee"'), "utf-8")
    edit(folder / "tramites" / "nie.json", lambda document: first_fact(document).update(kind="novel"))
    with pytest.raises(ValueError, match="'novel' is not a valid FactKind"):
        read_catalogue(folder)


def test_folder_in_place_of_a_file(folder: Path) -> None:
    """A folder with the name of a file is a fault like any other."""
    (folder / "tramites" / "zzz.json").mkdir()
    (fault,) = faults_of(folder)
    assert str(fault) == "zzz.json: file: cannot be read (Is a directory); restore it from the repository"


@pytest.mark.parametrize(
    ("content", "remedy"),
    [
        pytest.param(b"{", "is no usable JSON", id="broken-json"),
        pytest.param(b'{"title": "\xe9"}', "is no usable JSON", id="not-utf-8"),
    ],
)
def test_broken_schema(tmp_path: Path, content: bytes, remedy: str) -> None:
    """A schema that cannot be used is told to be restored."""
    (tmp_path / "x.schema.json").write_bytes(content)
    with pytest.raises(DataError, match=remedy) as caught:
        read_schema(tmp_path / "x.schema.json")
    assert caught.value.faults[0].remedy.endswith("restore it from the repository")


def test_long_message_is_cut(folder: Path) -> None:
    """A whole text that is wrong in its place is not repeated in full: the place is enough to find it."""
    edit(folder / "tramites" / "nie.json", lambda document: first_fact(document).update(text="palabra " * 200 + "fin"))
    (fault,) = faults_of(folder)
    assert fault.place == f"{FIRST}.text"
    assert len(fault.remedy) <= 300


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        pytest.param("2026-11-21", date(2026, 11, 21), id="day"),
        pytest.param("2026-02-30", None, id="not-in-the-calendar"),
        pytest.param("2026-11", None, id="month"),
        pytest.param("", None, id="empty"),
        pytest.param(None, None, id="none"),
    ],
)
def test_day(written: str | None, expected: date | None) -> None:
    """A day is read from ISO 8601; anything else is no day."""
    assert read_day(written) == expected


def test_fault_in_one_line() -> None:
    """A fault reads as one line: file, place, remedy."""
    assert str(Fault("nie.json", "$.id", "make them equal")) == "nie.json: $.id: make them equal"
