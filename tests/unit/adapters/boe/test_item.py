"""An item's own document is read: what it is, what it does to earlier norms, and its text."""

from datetime import date
from pathlib import Path

import gazette_fuzzing as fuzzing
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clara.adapters.boe.item import MAX_DOCUMENT_BYTES, read_item
from clara.editorial.gazette.issues import GazetteFormatError, NoIssueError, Reference
from clara_lab.stand_ins.boe_server import recorded

FOLDER = Path(__file__).parents[3] / "data" / "boe_wire"
DECREE = "justicio_BOE-A-2023-16215.xml"


def test_a_decree_tells_what_it_repeals() -> None:
    """Metadata, the gazette's analysis, headings and text of a recorded decree."""
    document = read_item(recorded(FOLDER, DECREE), "BOE-A-2023-16215")
    assert (document.id, document.rank) == ("BOE-A-2023-16215", "Real Decreto")
    assert document.title.startswith("Real Decreto 611/2023, de 11 de julio")
    assert (document.published, document.in_force) == (date(2023, 7, 13), date(2023, 7, 14))
    assert document.references[0] == Reference("BOE-A-2003-6247", "210", "DEROGA", "el Real Decreto 281/2003, de 7 de marzo")
    assert [reference.words for reference in document.references] == ["DEROGA", "DE CONFORMIDAD con"]
    assert "Registros administrativos" in document.subjects
    assert document.alerts == ("Derecho Administrativo", "Derecho Civil")
    assert "Disposición adicional única. Protección de datos de carácter personal." in document.headings
    assert document.text.count("\n") > 200
    assert document.text.startswith("Actualmente, el Registro de la Propiedad Intelectual")


def test_what_happened_to_an_item_later_is_not_what_it_does() -> None:
    """Later references say that the item was modified by others; they are left out."""
    document = read_item(recorded(FOLDER, "ropenspain_BOE-A-2009-54.xml"))
    assert [reference.norm for reference in document.references] == ["BOE-A-2004-15457"]


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("ropenspain_BOE-A-2009-100.xml", "GRIEGO"),
        ("ropenspain_BOE-A-2017-5.xml", "Diputación Provincial de Cuenca."),
        ("ropenspain_BOE-B-2009-100.xml", "Domínguez-Macaya Laurnaga."),
        ("ropenspain_BOE-B-2017-5.xml", "SUB-JA-2016-35773"),
        ("old_anuncio-licitacion-lotes-anidados.xml", "ADIF - Presidencia."),
        ("old_anuncio-licitacion-plano.xml", "Intendente de Ferrol."),
    ],
)
def test_documents_of_every_kind_are_read_with_their_text(name: str, words: str) -> None:
    """Tables and lists of definitions, nested or not, are part of the text; none of these does anything to a norm."""
    document = read_item(recorded(FOLDER, name))
    assert document.references == ()
    assert words in document.text


def test_no_word_of_a_text_is_lost_or_told_twice() -> None:
    """Text before, inside and behind paragraphs and nested lists comes once, in order."""
    text = "<texto>uno<p>dos <b>tres</b></p>cuatro<dl><dt>cinco</dt><dd>seis<dl><dd>siete</dd></dl>ocho</dd></dl></texto>"
    content = f"<documento><metadatos><identificador>BOE-A-2026-1</identificador></metadatos>{text}</documento>"
    assert read_item(content.encode()).text == "uno\ndos tres\ncuatro\ncinco\nseis\nsiete\nocho"


def test_the_consolidated_service_names_references_otherwise() -> None:
    """Both ways of writing a reference are understood."""
    earlier = "<id_norma>BOE-A-2000-544</id_norma><relacion codigo='270'>MODIFICA</relacion><texto>el art. 1</texto>"
    analysis = f"<analisis><referencias><anteriores><anterior>{earlier}</anterior></anteriores></referencias></analisis>"
    content = f"<documento><metadatos><identificador>BOE-A-2026-1</identificador></metadatos>{analysis}</documento>"
    assert read_item(content.encode()).references == (Reference("BOE-A-2000-544", "270", "MODIFICA", "el art. 1"),)


def test_a_day_that_is_none_is_no_day() -> None:
    """The gazette writes nines for a norm that is not in force yet."""
    about = "<identificador>BOE-A-2026-1</identificador><fecha_vigencia>99999999</fecha_vigencia><fecha_publicacion/>"
    document = read_item(f"<documento><metadatos>{about}</metadatos></documento>".encode())
    assert (document.published, document.in_force, document.text) == (None, None, "")


def test_an_item_that_does_not_exist_is_told_apart() -> None:
    """The former service's error with status 200 is no outage."""
    with pytest.raises(NoIssueError):
        read_item(recorded(FOLDER, "sumario_error_old.xml"), "BOE-A-2026-1")


@pytest.mark.parametrize(
    ("content", "said"),
    [
        pytest.param(b"<error><descripcion>Fallo</descripcion></error>", "Fallo", id="another error"),
        pytest.param(b"<html><p>503</p></html>", "web page", id="web page"),
        pytest.param(b"<sumario/>", "no documento", id="something else"),
        pytest.param(b"<documento><metadatos/></documento>", "identificador", id="no id"),
        pytest.param(recorded(FOLDER, "ropenspain_BOE-A-2017-5.xml"), "BOE-A-2017-5", id="another item"),
        pytest.param(recorded(FOLDER, DECREE)[:5000], "not well-formed", id="cut"),
        pytest.param(b'<!DOCTYPE a [<!ENTITY b "c">]><documento>&b;</documento>', "DTD", id="entities"),
        pytest.param(b"<p>" * 100 + b"</p>" * 100, "deep", id="deep"),
        pytest.param(b" " * (MAX_DOCUMENT_BYTES + 1) + b"<a/>", "bytes", id="too large"),
    ],
)
def test_what_cannot_be_read_is_refused(content: bytes, said: str) -> None:
    """The error names the item and what is wrong with it."""
    with pytest.raises(GazetteFormatError, match=said) as error:
        read_item(content, "BOE-A-2026-1")
    assert "BOE-A-2026-1" in str(error.value)


@settings(max_examples=300)
@given(seed=st.integers(0, 2**64))
def test_no_spoilt_document_breaks_the_reading(seed: int) -> None:
    """Whatever is done to a document, it is read, or refused by name."""
    fuzzing.outcome(read_item, fuzzing.item(seed))
