"""Every item of every recorded day of the gazette is found, in every shape in which a day may come."""

import json
import re
from collections.abc import Callable
from datetime import date
from pathlib import Path
from typing import Any
from xml.sax.saxutils import escape, quoteattr

import gazette_fuzzing as fuzzing
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clara.adapters.boe.summary import MAX_SUMMARY_BYTES, read_summary, says_nothing
from clara.editorial.gazette.issues import Day, GazetteFormatError, GazetteUnavailableError, NoIssueError
from clara_lab.stand_ins.boe_server import recorded

FOLDER = Path(__file__).parents[3] / "data" / "boe_wire"
TRIMMED = "sumario_20260708_api_trimmed.json"
TWO_ISSUES = "sumario_20211223_old_two_diarios_xml2js.json"
COMPLETE = [
    pytest.param("ropenspain_BOE-S-20171002.xml", date(2017, 10, 2), [("237", 413)], id="413 items"),
    pytest.param("ropenspain_BOE-S-20191202.xml", date(2019, 12, 2), [("289", 287)], id="287 items"),
    pytest.param("ropenspain_BOE-S-2017-5.xml", date(2017, 1, 6), [("5", 41)], id="41 items"),
    pytest.param("sumario_20200831_old.xml", date(2020, 8, 31), [("233", 143)], id="143 items"),
    pytest.param(TWO_ISSUES, date(2021, 12, 23), [("307", 1), ("306", 248)], id="issues 307 and 306"),
    pytest.param("api_sumario_20240206_reduced.xml", date(2024, 2, 6), [("32", 3)], id="current XML, reduced"),
    pytest.param(TRIMMED, date(2026, 7, 8), [("163", 6)], id="current JSON, trimmed"),
]


def read(name: str) -> Day:
    return read_summary(recorded(FOLDER, name))


@pytest.mark.parametrize(("name", "day", "issues"), COMPLETE)
def test_every_item_of_a_recorded_day_is_found(name: str, day: date, issues: list[tuple[str, int]]) -> None:
    """The items are exactly the ids that a plain search of the text finds, each once, in the issues they belong to."""
    found = read(name)
    assert found.day == day
    assert [(issue.number, len(issue.items)) for issue in found.issues] == issues
    ids = [item.id for item in found.items]
    written = re.findall(rb'(?:id="|"id": "|"identificador": "|<identificador>)(BOE-[AB]-\d+-\d+)', recorded(FOLDER, name))
    assert len(set(ids)) == len(ids) == len(written)
    assert sorted(ids) == sorted(entry.decode() for entry in written)


@pytest.mark.parametrize(("name", "day", "issues"), COMPLETE)
def test_every_item_has_what_it_is_shown_with(name: str, day: date, issues: list[tuple[str, int]]) -> None:
    """Section, department, title and addresses of the gazette's own site are there for each item."""
    for item in read(name).items:
        assert re.fullmatch(r"[1-5T][ABC]?", item.section)
        assert item.department
        assert item.title
        assert item.url_html == f"https://www.boe.es/diario_boe/txt.php?id={item.id}"
        assert item.url_xml == f"https://www.boe.es/diario_boe/xml.php?id={item.id}"
        assert item.url_pdf.startswith("https://www.boe.es/boe/dias/")


def test_headings_are_told_where_there_are_any() -> None:
    """An item below an epigraph has it as its heading; one directly below its department has none."""
    by_id = {item.id: item for item in read(TRIMMED).items}
    assert by_id["BOE-A-2026-14786"].heading == "Cuerpo de Tramitación Procesal y Administrativa"
    assert by_id["BOE-A-2026-14795"].heading == ""
    assert by_id["BOE-A-2026-14795"].department == "AYUNTAMIENTO DE PRUEBA (sin epígrafe)"


def thing(number: int, **more: object) -> dict[str, Any]:
    return {"identificador": f"BOE-A-2026-{number}", "titulo": f"Orden {number}/2026", **more}


def wrapped(diario: object, **more: object) -> bytes:
    about = {"publicacion": "BOE", "fecha_publicacion": "20260708"}
    document = {"status": {"code": "200", "text": "ok"}, "data": {"sumario": {"metadatos": about, "diario": diario}}, **more}
    return json.dumps(document).encode()


def section(departamento: object) -> dict[str, Any]:
    return {"numero": "163", "seccion": {"codigo": "1", "nombre": "I", "departamento": departamento}}


SHAPES = [
    pytest.param(section({"nombre": "D", "epigrafe": {"nombre": "E", "item": thing(1)}}), ["E"], id="all collapsed"),
    pytest.param(section([{"nombre": "D", "epigrafe": [{"nombre": "E", "item": [thing(1)]}]}]), ["E"], id="lists of one"),
    pytest.param(section({"nombre": "D", "item": thing(1)}), [""], id="below the department"),
    pytest.param(
        section({"nombre": "D", "texto": {"epigrafe": {"nombre": "E", "item": thing(1)}}}), ["E"], id="texto.epigrafe"
    ),
    pytest.param(
        section({"nombre": "D", "texto": {"texto": {"epigrafe": [{"nombre": "E", "item": [thing(1), thing(2)]}]}}}),
        ["E", "E"],
        id="nested texto",
    ),
    pytest.param(
        {
            "numero": "163",
            "seccion": {
                "codigo": "1",
                "texto": {"departamento": {"nombre": "D", "texto": {"epigrafe": {"nombre": "E", "item": thing(1)}}}},
            },
        },
        ["E"],
        id="texto around every level",
    ),
    pytest.param(
        section({"nombre": "D", "item": thing(1), "texto": {"epigrafe": {"nombre": "E", "item": thing(2)}}}),
        ["", "E"],
        id="both",
    ),
    pytest.param(
        [section({"nombre": "D", "item": thing(1)}), section({"nombre": "D", "item": [thing(2)]})], ["", ""], id="two issues"
    ),
    pytest.param(
        {
            "$": {"nbo": ["163"]},
            "seccion": [
                {
                    "$": {"num": "1"},
                    "departamento": [
                        {
                            "$": {"nombre": "D"},
                            "item": [
                                {
                                    "$": {"id": "BOE-A-2026-1"},
                                    "titulo": ["Orden 1/2026"],
                                    "urlPdf": [{"_": "/boe/a.pdf", "$": {"szBytes": "1"}}],
                                }
                            ],
                        }
                    ],
                }
            ],
        },
        [""],
        id="xml2js with lists everywhere and attributes aside",
    ),
]


@pytest.mark.parametrize(("diario", "headings"), SHAPES)
def test_json_made_from_xml_may_have_any_shape(diario: object, headings: list[str]) -> None:
    """Lists of one collapsed or not, levels left out, "texto" around any of them: the items are found, with their place."""
    items = list(read_summary(wrapped(diario)).items)
    assert [item.heading for item in items] == headings
    assert {(item.section, item.department) for item in items} == {("1", "D")}


def test_addresses_come_as_text_or_with_attributes() -> None:
    """An address is found in both shapes; one of another site is not told, whatever the summary says."""
    addresses = [
        {"texto": "https://www.boe.es/boe/dias/a.pdf", "szBytes": "1"},
        "/boe/dias/a.pdf",
        "https://evil.example/a.pdf",
        "javascript:alert(1)",
        "http://[",
        None,
    ]
    items = [thing(number, url_pdf=address) for number, address in enumerate(addresses)]
    found = [item.url_pdf for item in read_summary(wrapped(section({"nombre": "D", "item": items}))).items]
    assert found == ["https://www.boe.es/boe/dias/a.pdf"] * 2 + [""] * 4


def as_xml(day: Day) -> str:
    """Write a day as the current service's XML."""
    lines = [
        f"<sumario><metadatos><publicacion>BOE</publicacion><fecha_publicacion>{day.day:%Y%m%d}</fecha_publicacion></metadatos>"
    ]
    for issue in day.issues:
        lines.append(f"<diario numero={quoteattr(issue.number)}>")
        for item in issue.items:
            lines.append(f"<seccion codigo={quoteattr(item.section)}><departamento nombre={quoteattr(item.department)}>")
            lines.append(f"<epigrafe nombre={quoteattr(item.heading)}>" if item.heading else "<texto>")
            lines.append(f"<item><identificador>{item.id}</identificador><titulo>{escape(item.title)}</titulo></item>")
            lines.append(f"</{'epigrafe' if item.heading else 'texto'}></departamento></seccion>")
        lines.append("</diario>")
    return f"<response><status><code>200</code><text>ok</text></status><data>{''.join(lines)}</sumario></data></response>"


@pytest.mark.parametrize(("name", "day", "issues"), COMPLETE)
@pytest.mark.parametrize("encoding", ["utf-8", "iso-8859-15", "utf-16"])
def test_a_day_is_the_same_in_another_shape_and_encoding(
    name: str, day: date, issues: list[tuple[str, int]], encoding: str
) -> None:
    """A recorded day written as the current XML, in an encoding that the XML declares, has the same items and titles."""
    found = read(name)
    text = f'<?xml version="1.0" encoding="{encoding}"?>{as_xml(found)}'
    again = read_summary(text.encode(encoding, errors="xmlcharrefreplace"))
    told = [(item.id, item.section, item.department, item.heading, item.title) for item in found.items]
    assert [(item.id, item.section, item.department, item.heading, item.title) for item in again.items] == told


NOTHING = [
    pytest.param(recorded(FOLDER, "sumario_error_old.xml"), id="former service, status 200"),
    pytest.param(b'{"status": {"code": "404", "text": "La informaci\xc3\xb3n solicitada no existe"}, "data": ""}', id="JSON"),
    pytest.param(b'{"status": {"code": 404, "text": "x"}, "data": []}', id="JSON with a number"),
    pytest.param(b"<response><status><code>404</code><text>x</text></status><data/></response>", id="XML"),
    pytest.param(b'{"error": {"descripcion": "No se encontr\xc3\xb3 el sumario original."}}', id="former service as JSON"),
]


@pytest.mark.parametrize("content", NOTHING)
def test_a_day_without_an_issue_is_no_outage(content: bytes) -> None:
    """What the gazette says of such a day, in all its ways, is told apart from everything else."""
    with pytest.raises(NoIssueError):
        read_summary(content)
    assert says_nothing(content)


UNREADABLE: list[Any] = [
    pytest.param(b"", "empty", id="nothing"),
    pytest.param(b"<html><body>En mantenimiento</body></html>", "web page", id="web page"),
    pytest.param(b"<!DOCTYPE html><title>503</title>", "web page", id="web page with a doctype"),
    pytest.param(recorded(FOLDER, "ropenspain_BORME-S-2017-5.xml"), "BORME", id="the gazette of companies"),
    pytest.param(recorded(FOLDER, TRIMMED)[:2000], "not JSON", id="cut JSON"),
    pytest.param(recorded(FOLDER, "ropenspain_BOE-S-2017-5.xml")[:9000], "not well-formed", id="cut XML"),
    pytest.param(b'{"status": {"code": "400", "text": "fecha"}, "data": ""}', "400", id="asked wrongly"),
    pytest.param(b"<error><descripcion>Se ha producido un error</descripcion></error>", "error", id="another error"),
    pytest.param(b'{"data": {"sumario": {}}}', "no issue", id="no issue in it"),
    pytest.param(wrapped({"numero": "1", "seccion": []}), "no item", id="no item in it"),
    pytest.param(wrapped("x"), "is no issue", id="an issue that is a word"),
    pytest.param(wrapped(section({"item": {"titulo": "Ley"}})), "item 1: has no id", id="an item without id"),
    pytest.param(wrapped(section({"item": {"identificador": "BOE-A-2026-1"}})), "has no title", id="an item without title"),
    pytest.param(wrapped(section({"item": "x"})), "is no item", id="an item that is a word"),
    pytest.param(wrapped(section({"item": [thing(1), thing(1)]})), "more than once", id="an id twice"),
    pytest.param(
        wrapped(section({"item": thing(1), "disposicion": [thing(2), thing(3)]})), "2 of 3 items", id="items under a new name"
    ),
    pytest.param(b'{"data": {"sumario": {"metadatos": {}, "diario": []}}}', "no day", id="no day"),
    pytest.param(b"[" * 100_000, "deep", id="JSON without end"),
    pytest.param(b'{"a":' * 500 + b"1" + b"}" * 500, "deep", id="deep JSON"),
    pytest.param(b"<a>" * 500 + b"</a>" * 500, "deep", id="deep XML"),
    pytest.param(b'<!DOCTYPE a [<!ENTITY b "cc">]><sumario>&b;</sumario>', "DTD", id="entities"),
    pytest.param(b'<?xml version="1.0" encoding="none"?><sumario/>', "encoding", id="an encoding that does not exist"),
    pytest.param(b" " * (MAX_SUMMARY_BYTES + 1) + b"{}", "bytes", id="too large"),
    pytest.param(b'{"a": ' + b"9" * 5_000 + b"}", "JSON", id="a number of 5,000 digits"),
    pytest.param(b"[]", "list", id="a list"),
]


@pytest.mark.parametrize(("content", "said"), UNREADABLE)
def test_what_cannot_be_read_whole_is_refused(content: bytes, said: str) -> None:
    """The error names the place and what is wrong there; nothing of the day passes for the whole of it."""
    with pytest.raises(GazetteFormatError, match=said):
        read_summary(content)
    assert not says_nothing(content)


def test_a_service_that_says_it_is_out_is_an_outage() -> None:
    """A status of 500 in the body, with 200 in the header, is not a day without an issue."""
    content = b'{"status": {"code": "503", "text": "Servicio no disponible"}, "data": ""}'
    with pytest.raises(GazetteUnavailableError, match="503"):
        read_summary(content)
    assert not says_nothing(content)


def test_a_summary_of_another_day_is_refused() -> None:
    """A proxy that serves yesterday's answer does not make today a day that was read."""
    assert read_summary(recorded(FOLDER, TRIMMED), date(2026, 7, 8)).day == date(2026, 7, 8)
    with pytest.raises(GazetteFormatError, match="2026-07-09 was asked"):
        read_summary(recorded(FOLDER, TRIMMED), date(2026, 7, 9))


def test_letters_that_cannot_be_stored_are_replaced() -> None:
    """Half a surrogate, a NUL and line breaks in a title become letters that a database takes."""
    content = wrapped(section({"item": {"identificador": "BOE-A-2026-1", "titulo": "Ley\x00 \ud800\n de  algo"}}))
    title = next(read_summary(content).items).title
    assert title == "Ley \ufffd de algo"
    title.encode()


@settings(max_examples=400)
@given(seed=st.integers(0, 2**64))
def test_no_spoilt_summary_breaks_the_reading(seed: int) -> None:
    """Whatever is done to a summary, it is read, or refused by name."""
    fuzzing.outcome(read_summary, fuzzing.summary(seed))


@pytest.mark.parametrize("make", [fuzzing.summary, fuzzing.item], ids=["summaries", "items"])
def test_the_spoilt_answers_are_worth_reading(make: Callable[[int], bytes]) -> None:
    """Some of them can still be read and most cannot, so both ends of the parsers are tried."""
    parser = read_summary if make is fuzzing.summary else fuzzing.read_item
    outcomes = [fuzzing.outcome(parser, make(seed)) for seed in range(300)]
    assert 10 < outcomes.count("read") < 250
