"""Tests of what facts rest on: hosts of public bodies, official sources where they are needed, the table of lines."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from unit_builders import fact_of, procedure_of

from clara.data_files import DataError, partial_date
from clara.knowledge.catalogue import Catalogue, read_catalogue
from clara.knowledge.hotlines import Hotline, Hotlines, read_hotlines
from clara.knowledge.places import Places
from clara.knowledge.procedure import Certainty, Fact, FactKind, Source
from clara.knowledge.sources import Hosts, RegisteredSource, SourceKind, provenance_faults, read_hosts, read_sources
from clara.language.figures.figure import Figure, FigureKind

HOSTS = Hosts({"sede.example": "Sede", "town.example": "Ayuntamiento"}, {"cita.example": "sells appointments"})
SEDE = Source("https://sede.example/nie", partial_date("2026-07"), official=True)
PAPER = Source("https://news.example/nie", partial_date("2026-07"))
EMERGENCY = Hotline("emergency", "112", "Emergencias", "ES", (SEDE.url,))
SUICIDE = Hotline("suicide", "024", "Línea 024", "ES", (SEDE.url,), named=("suicid",))
PRESS_LINE = Hotline("trafficking", "900 10 50 90", "Trata", "ES", (PAPER.url,), unconfirmed="only the press says it")
LINES = Hotlines([EMERGENCY, SUICIDE, PRESS_LINE])


def phone(digits: str) -> Figure:
    return Figure(FigureKind.PHONE, digits)


def faults_of(*facts: Fact, hosts: Hosts = HOSTS, lines: Hotlines = LINES) -> list[str]:
    """Check some facts, and say what is wrong with them."""
    procedure = procedure_of("nie", *facts)
    return [str(fault) for fault in provenance_faults(Catalogue({"nie": procedure}, (), Places([])), (), hosts, lines)]


def of_papers(name: str = "nie-plazos-01", **changes: object) -> Fact:
    return fact_of(name, **{"certainty": Certainty.TWO_SOURCES, "sources": (PAPER, PAPER), **changes})


@pytest.mark.parametrize(
    ("url", "body"),
    [
        ("https://sede.example/nie", "Sede"),
        ("https://www.SEDE.example./nie", "Sede"),
        ("https://notsede.example/nie", None),
        ("https://sede.example.news.example/nie", None),
        ("no address", None),
    ],
)
def test_a_host_stands_for_itself_and_all_below_it(url: str, body: str | None) -> None:
    """Neither a longer name nor a name in front of another host makes a page that of a public body."""
    assert HOSTS.body_of(url) == body


@pytest.mark.parametrize(
    ("source", "said"),
    [
        (
            Source(PAPER.url, partial_date("2026-07"), official=True),
            "no public body is known at https://news.example/nie; remove 'official'",
        ),
        (
            Source("https://town.example/x", partial_date("2026-07")),
            "is of a public body (Ayuntamiento); set 'official' to true",
        ),
        (
            Source("https://www.cita.example/x", partial_date("2026-07")),
            "is never cited (sells appointments); find another source",
        ),
    ],
)
def test_a_source_is_called_what_its_host_is(source: Source, said: str) -> None:
    """A newspaper is not official, a town hall is, and who sells appointments is never cited."""
    (fault,) = faults_of(fact_of(sources=(SEDE, source)))
    assert fault.startswith("nie.json: nie-plazos-01: ")
    assert said in fault


def test_withheld_facts_cite_no_seller_either() -> None:
    """A withheld fact may point at an official page that nobody has read, and never at who sells appointments."""
    unread, seller = (
        Source("https://town.example/x", partial_date("2026-07")),
        Source("https://cita.example/x", partial_date("2026-07")),
    )
    assert faults_of(fact_of(certainty=Certainty.UNVERIFIED, sources=(unread,))) == []
    assert len(faults_of(fact_of(certainty=Certainty.UNVERIFIED, sources=(seller,)))) == 1


@pytest.mark.parametrize(
    "fact",
    [
        pytest.param(of_papers(kind=FactKind.FEE), id="fee"),
        pytest.param(of_papers(kind=FactKind.FORM), id="form"),
        pytest.param(of_papers(kind=FactKind.URL), id="address"),
        pytest.param(of_papers(kind=FactKind.PHONE, values=frozenset({phone("112")})), id="phone-of-the-table"),
        pytest.param(of_papers(values=frozenset({Figure(FigureKind.FORM, "EX-10")})), id="form-in-a-statement"),
        pytest.param(of_papers(values=frozenset({Figure(FigureKind.EMAIL, "a@b.example")})), id="mail-in-a-statement"),
        pytest.param(of_papers(values=frozenset({phone("900105090")})), id="line-that-no-public-page-confirms"),
        pytest.param(of_papers("nie-contactos-01"), id="office-in-words"),
    ],
)
def test_what_may_hurt_needs_an_official_source(fact: Fact) -> None:
    """Whom to call, what to pay, on which form and where is not told on the word of newspapers, however many."""
    (fault,) = faults_of(fact)
    assert "has no official source; find one, or withhold it (unverified)" in fault


@pytest.mark.parametrize(
    "fact",
    [
        pytest.param(of_papers(), id="statement"),
        pytest.param(of_papers(kind=FactKind.AMOUNT), id="benefit"),
        pytest.param(of_papers(values=frozenset({phone("112")})), id="line-that-is-only-mentioned"),
        pytest.param(fact_of("nie-contactos-01", kind=FactKind.URL), id="official"),
        pytest.param(of_papers(kind=FactKind.FEE, certainty=Certainty.UNVERIFIED), id="withheld"),
    ],
)
def test_the_rest_may_be_told(fact: Fact) -> None:
    """Other facts are told with their label; what the table confirms may be mentioned."""
    assert faults_of(fact) == []


def test_a_fact_called_official_has_an_official_source() -> None:
    """The certainty and the sources of a fact do not contradict each other."""
    (fault,) = faults_of(fact_of(sources=(PAPER,)))
    assert "has no official source; add it, or correct its certainty" in fault


@pytest.mark.parametrize(
    ("text", "digits", "said"),
    [
        ("Llama al 117.", "117", "tells 117, which is no line of hotlines.json"),
        ("Si piensas en el suicidio, llama al 112.", "112", "names 'suicid' with another number than hotlines.json (024)"),
    ],
)
def test_numbers_of_facts_are_those_of_the_table(text: str, digits: str, said: str) -> None:
    """A number that the table lacks, or another one for the line that a fact names, is a fault."""
    (fault,) = faults_of(fact_of(text=text, kind=FactKind.PHONE, values=frozenset({phone(digits)})))
    assert said in fault
    right = fact_of(text="Si piensas en el suicidio: 024, o 112.", values=frozenset({phone("024"), phone("112")}))
    assert faults_of(right) == []


@pytest.mark.parametrize(
    ("line", "said"),
    [
        (Hotline("x", "117", "X", "ES", (PAPER.url,)), "has no source of a public body"),
        (Hotline("x", "117", "X", "ES", (SEDE.url,), unconfirmed="nobody says it"), "and is called unconfirmed"),
        (Hotline("x", "117", "X", "ES", (SEDE.url, "https://cita.example/")), "is never cited (sells appointments)"),
    ],
)
def test_a_line_has_its_source(line: Hotline, said: str) -> None:
    """Each line has a public page that says it, or says why it has none; not both."""
    (fault,) = faults_of(lines=Hotlines([line]))
    assert fault.startswith("hotlines.json: x: ")
    assert said in fault


def test_the_registry_calls_its_sources_what_they_are() -> None:
    """A page of the registry that is called official is of a public body."""
    source = RegisteredSource("paper", "Diario", SourceKind.HTML, PAPER.url, (), "news.example", 7, 1.0)
    (fault,) = provenance_faults(Catalogue({}, (), Places([])), [source], HOSTS, LINES)
    assert str(fault).startswith("sources.yaml: paper.url: no public body is known at")


def test_the_release_holds(data: Path) -> None:
    """Every source of the release is called what it is, and what may hurt has an official one."""
    sources = read_sources(data).values()
    assert provenance_faults(read_catalogue(data), sources, read_hosts(data), read_hotlines(data)) == []


def test_two_lines_are_told_without_a_public_page(data: Path) -> None:
    """Which numbers people are told on the word of others is known by name: a third one is a decision."""
    assert [line.id for line in read_hotlines(data).lines if line.unconfirmed] == ["children_freephone", "trafficking"]


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda document: document["lines"][0].pop("sources"), '"sources" is a required property'),
        (lambda document: document["lines"][0].update(sources=[]), "$.lines[0].sources: "),
        (lambda document: document["lines"][0].update(number="one one two"), "$.lines[0].number: "),
        (lambda document: document["lines"][1].update(id="emergency"), "emergency: 'emergency' stands there twice"),
        (lambda document: document["lines"][1].update(number="1 12"), "$.lines[1].number: "),
        (lambda document: document["lines"][1].update(number="112"), "gender_violence: '112' stands there twice"),
    ],
)
def test_faults_of_the_table_are_named(
    tmp_path: Path, data: Path, change: Callable[[dict[str, Any]], object], said: str
) -> None:
    """A line without source, or one that is there twice, is named with its place, and nothing is read."""
    shutil.copytree(data / "schema", tmp_path / "schema")
    document = json.loads((data / "hotlines.json").read_text("utf-8"))
    change(document)
    (tmp_path / "hotlines.json").write_text(json.dumps(document), "utf-8")
    with pytest.raises(DataError) as caught:
        read_hotlines(tmp_path)
    assert f"hotlines.json: {said}" in str(caught.value) or said in str(caught.value)


def test_a_line_is_filled_in() -> None:
    """A text names a line; its number or address stands there when it is read. Other placeholders stay."""
    lines = Hotlines([Hotline("help", "900 10", "Help", "ES", (), mail="a@b.example")])
    assert lines.filled("{line.help} {line.help.mail} {human}") == "900 10 a@b.example {human}"
    with pytest.raises(KeyError, match=r"line\.other"):
        lines.filled("{line.other}")
