"""Reading the gazette's consolidated XML: the wording that holds on a day, the same keys as from Markdown, one named error."""

from collections.abc import Sequence
from datetime import date
from pathlib import Path
from xml.sax.saxutils import escape, quoteattr

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clara.adapters.boe.consolidated import ConsolidatedLawError, read_consolidated
from clara.knowledge.law.norm import Norm

DATA = Path(__file__).parents[3] / "data" / "boe_consolidated"
METADATA = (DATA / "metadatos_BOE-A-2015-10566.xml").read_bytes()
ABRIDGED = (DATA / "texto_LGSS_a194_abridged.xml").read_bytes()
TODAY = date(2026, 8, 7)
NINETY = "Disposición adicional nonagésima"


def answer(blocks: str) -> bytes:
    return f"<response><status><code>200</code><text>ok</text></status><data><texto>{blocks}</texto></data></response>".encode(
        "utf-8", "surrogatepass"
    )


def block(name: str, title: str, *versions: tuple[str, str], kind: str = "precepto", more: str = "") -> str:
    texts = "".join(
        f'<version id_norma="BOE-A-2015-10566" fecha_publicacion="{day}" fecha_vigencia="{day}">{text}</version>'
        for day, text in versions
    )
    return f'<bloque id="{name}" tipo="{kind}" titulo="{title}"{more}>{texts}</bloque>'


def read(blocks: str, today: date = TODAY) -> Norm:
    return read_consolidated(METADATA, answer(blocks), today)


def test_the_newest_wording_in_force_is_taken() -> None:
    """Of wordings that are listed oldest first, the one that holds on the day is read, with who gave it and until when."""
    now = read_consolidated(METADATA, ABRIDGED, TODAY).by_key["a194"]
    assert now.text == "d) Gran incapacidad."
    assert (now.in_force_from, now.in_force_to, now.amended_by) == (date(2025, 5, 1), None, "BOE-A-2025-8567")
    before = read_consolidated(METADATA, ABRIDGED, date(2025, 4, 30)).by_key["a194"]
    assert before.text == "d) Gran invalidez."
    assert before.in_force_to == date(2025, 4, 30)


def test_the_metadata_say_what_the_norm_is() -> None:
    """Id, title, rank, days and addresses are read from the metadata; the version is that of the newest wording."""
    norm = read_consolidated(METADATA, ABRIDGED, TODAY)
    assert (norm.id, norm.rank, norm.territory, norm.published, norm.in_force, norm.repealed, norm.updated) == (
        "BOE-A-2015-10566", "Ley", "ES", date(2015, 10, 2), date(2016, 10, 2), None, date(2025, 5, 1),
    )  # fmt: skip
    assert norm.eli == "https://www.boe.es/eli/es/l/2015/10/01/40"
    repealed = METADATA.replace(
        b"<estatus_derogacion>N<", b"<fecha_derogacion>20260101</fecha_derogacion><estatus_derogacion>S<"
    )
    assert read_consolidated(repealed, ABRIDGED, TODAY).repealed == date(2026, 1, 1)


def test_blocks_have_the_keys_of_markdown() -> None:
    """Titles give keys; where they say nothing the block's id does; titles, preamble and signature stand around."""
    old = "20200101"
    norm = read(
        block("pr", "[preambulo]", (old, "<p>Motivos.</p>"), kind="preambulo")
        + block("ti", "TÍTULO I", (old, '<p class="titulo_num">TÍTULO I</p><p class="titulo_tit">Todo</p>'), kind="encabezado")
        + block("a21", "Artículo 21", (old, '<p class="articulo">Artículo 21. Plazos.</p><p>Uno.</p>'))
        + block("a31bis", "[sin título]", (old, "<p>Dos.</p>"))
        + block("da-90", "[otra]", (old, f'<p class="articulo">{NINETY}. Ayuda.</p><p>Tres.</p>'))
        + block("dtsegunda", "", (old, "<p>Cuatro.</p>"))
        + block("an2", "", (old, "<table><tr><th>Tasa</th><td>10</td></tr></table>"), kind="encabezado")
        + block("fi", "[firma]", (old, "<p>Nombre.</p>"), kind="firma")
    )  # fmt: skip
    assert [(one.key, one.title, one.heading) for one in norm.provisions] == [
        ("preambulo", "", ()), ("a21", "Plazos", ("TÍTULO I. Todo",)), ("a31bis", "", ("TÍTULO I. Todo",)),
        ("da90", "Ayuda", ()), ("dt2", "", ()), ("anexo-ii", "", ()),
    ]  # fmt: skip
    assert norm.by_key["anexo-ii"].text == "| Tasa | 10 |"
    assert norm.by_key["a21"].amended_by is None


def test_notes_and_former_wordings_are_left_out() -> None:
    """What the gazette shows behind a bar is no text of the provision."""
    notes = '<p class="nota_pie">Se modifica.</p><blockquote><p>Antes.</p></blockquote><p class="cita">Antes.</p>'
    text = f'<p class="articulo">Artículo 1. X.</p><p>Vale <i>esto</i>.</p>{notes}'
    assert read(block("a1", "Artículo 1", ("20200101", text))).by_key["a1"].text == "Vale esto."


def test_the_future_and_the_past_are_not_in_force() -> None:
    """A provision that begins later is left out, one that expired is kept without text, and "99999999" means no day."""
    norm = read(
        block("a1", "Artículo 1", ("20200101", "<p>Uno.</p>"), more=' fecha_caducidad="20250101"')
        + block("a2", "Artículo 2", ("20990101", "<p>Dos.</p>"))
        + block("a3", "Artículo 3", ("20200101", "<p>Tres.</p>"), more=' fecha_caducidad="99999999"')
    )
    assert [(one.key, one.text, one.repealed) for one in norm.provisions] == [("a1", "", True), ("a3", "Tres.", False)]


def test_a_wording_without_day_of_force_is_not_in_force() -> None:
    """A wording that begins on an open day never holds; the one before it stays, and has no last day that is known."""
    old = '<version fecha_publicacion="20200101" fecha_vigencia="20200102"><p>Uno.</p></version>'
    new = '<version fecha_publicacion="20210101" fecha_vigencia="99999999"><p>Dos.</p></version>'
    norm = read(f'<bloque id="a1" tipo="precepto" titulo="Artículo 1">{old}{new}</bloque>')
    assert [(one.text, one.in_force_to) for one in norm.provisions] == [("Uno.", None)]


def test_provisions_of_other_kinds_are_kept_under_their_ids() -> None:
    """A rule that is no article is not lost."""
    norm = read(block("re-3", "Regla 3", ("20200101", "<p>Tres.</p>")))
    assert [(one.key, one.label) for one in norm.provisions] == [("re-3", "Regla 3")]


BOMB = b'<?xml version="1.0"?><!DOCTYPE r [<!ENTITY a "aa"><!ENTITY b "&a;&a;">]><response>&b;</response>'
WRONG_DAY = answer(block("a1", "Artículo 1", ("2020-1-1", "<p>x</p>")))


@pytest.mark.parametrize(
    ("metadata", "text", "place"),
    [
        (METADATA, b"", "text: is empty"),
        (METADATA, b"<response>", "text, line 1, column 10: is not well-formed XML"),
        (METADATA, BOMB, "text: holds a DTD or entities"),
        (METADATA, b'<?xml version="1.0" encoding="klingon"?><r/>', "text: is in an encoding"),
        (METADATA, b"<error><descripcion>No se encontr</descripcion></error>", "text: no response/data/texto"),
        (METADATA, answer("").replace(b"200", b"404"), "it says 404"),
        (METADATA, answer(""), "no block holds"),
        (METADATA, answer('<bloque id="a1"><version/></bloque>'), "block a1: a version has neither"),
        (METADATA, answer('<bloque tipo="precepto"><version fecha_publicacion="20200101"/></bloque>'), "nor an id"),
        (METADATA, WRONG_DAY, "block a1: fecha_vigencia is no day"),
        (METADATA.replace(b"BOE-A-2015-10566</id", b"</id"), ABRIDGED, "metadata: identificador is missing"),
    ],
    ids=["empty", "cut off", "bomb", "encoding", "old error", "not found", "no block", "no date", "no name", "day", "no id"],
)
def test_what_is_no_consolidated_norm_is_refused(metadata: bytes, text: bytes, place: str) -> None:
    """The error names the place; entities and document types are refused."""
    with pytest.raises(ConsolidatedLawError, match=place):
        read_consolidated(metadata, text, TODAY)


PIECES = st.sampled_from(
    [
        *(
            '<bloque id="a1" tipo="precepto" titulo="Artículo 1">',
            "</bloque>",
            '<version fecha_vigencia="20200101">',
            "</version>",
        ),
        *('<version fecha_vigencia="2020">', '<bloque id="an" tipo="encabezado">', "<p>", "</p>", "&amp;", "&x;", "x", "\0"),
        *("<table><tr><td>", "</td></tr></table>", "<blockquote>", "</blockquote>", '<bloque id="da-99999" tipo="precepto">'),
        *('<p class="articulo">Artículo 2 a 9999', "<!DOCTYPE a>", "<![CDATA["),
    ]
)


@settings(max_examples=300)
@given(st.lists(st.one_of(PIECES, st.text(max_size=8)), max_size=20).map("".join), st.booleans())
def test_any_answer_is_a_norm_or_refused(text: str, framed: bool) -> None:
    """Whatever comes, reading gives a norm or the one named error."""
    document = answer(text) if framed else text.encode("utf-8", "surrogatepass")
    try:
        assert read_consolidated(METADATA, document, TODAY).provisions
    except ConsolidatedLawError:
        return


SOUND = st.text(st.characters(codec="utf-8", exclude_categories=("Cc", "Cs", "Cn")), max_size=30)
NAMES = st.one_of(
    st.sampled_from(
        [
            "Artículo 1",
            "Artículo 2 a 9",
            "Artículo único",
            "ANEXO II",
            "TÍTULO I",
            "Disposición final",
            "[firma]",
            "Primero.",
            "",
        ]
    ),
    SOUND,
)
DAYS = st.sampled_from(["20200101", "20990101", "99999999", "", "2020", "00000000", "20209999"])
PARAGRAPH = st.tuples(
    st.sampled_from(["p", "table", "ul", "blockquote", "img", "pre"]), st.sampled_from(["articulo", "", "nota_pie"]), NAMES
)
VERSION = st.tuples(DAYS, DAYS, st.lists(PARAGRAPH, max_size=4))
BLOCK = st.tuples(
    st.sampled_from(["a1", "a1-2", "da", "an2", "au", "x", "", "dtsegunda"]),
    st.sampled_from(["precepto", "encabezado", "preambulo", "firma", "otro"]),
    NAMES,
    DAYS,
    st.lists(VERSION, max_size=3),
)
INNER = {"table": "<tr><td>{}</td><th/></tr>", "ul": "<li>{}</li>", "blockquote": "<p>{}</p>"}


def sound(made: Sequence[tuple[str, str, str, str, Sequence[tuple[str, str, Sequence[tuple[str, str, str]]]]]]) -> bytes:
    """Write blocks as XML that can be read."""
    blocks = ""
    for name, kind, title, ends, versions in made:
        texts = "".join(
            f'<version fecha_vigencia="{day}" fecha_publicacion="{published}">'
            + "".join(
                f'<{tag} class="{style}">{INNER.get(tag, "{}").replace("{}", escape(said))}</{tag}>'
                for tag, style, said in said_of
            )
            + "</version>"
            for day, published, said_of in versions
        )
        blocks += f'<bloque id="{name}" tipo="{kind}" titulo={quoteattr(title)} fecha_caducidad="{ends}">{texts}</bloque>'
    return answer(blocks)


@settings(max_examples=300)
@given(st.lists(BLOCK, max_size=6).map(sound))
def test_any_blocks_are_a_norm_or_refused(document: bytes) -> None:
    """Whatever well-formed blocks hold, reading gives a norm with unique keys or the one named error."""
    try:
        norm = read_consolidated(METADATA, document, TODAY)
    except ConsolidatedLawError:
        return
    assert len(norm.by_key) == len(norm.provisions)
