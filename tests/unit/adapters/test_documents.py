"""Tests of reading pages, PDF and XML as text: what a person reads, and nothing that harms whoever reads it for them."""

import io
import zlib
from time import perf_counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pypdf import PdfReader, PdfWriter

from clara.adapters.documents.pdf import pdf_text
from clara.adapters.documents.pdf_process import read_pdf
from clara.adapters.documents.reader import MEDIA_TYPES, decoded, text_of
from clara.editorial.sources import DocumentError

PAGE = """<!DOCTYPE html><html><head><title>Sede</title><style>p {color: red}</style></head><body>
<header>Ministerio <nav><a href="/">Inicio</a></nav></header>
<div style="display: none">oculto</div><div hidden>oculto</div><p aria-hidden="true">oculto</p>
<main><header><h1>Tarjeta de  identidad</h1></header>
<p>Tiene un plazo de <b>un</b>&nbsp;mes.<br>Lleve dos fotos.</p>
<script>var plazo = "dos meses";</script><noscript>Active JavaScript</noscript>
<h2>Tasas</h2><table><tr><th>Modelo</th><th>Importe</th></tr><tr><td>790</td><td>16,08 €</td></tr></table>
<ul><li>Pasaporte</li><li>Solicitud <form>EX-17</form></li></ul><!-- plazo: tres meses -->
<select><option>Provincia</option></select><div role="navigation">Siga</div></main>
<footer>Aviso legal</footer></body></html>"""
READ = """# Tarjeta de identidad
Tiene un plazo de un mes.
Lleve dos fotos.
## Tasas
Modelo | Importe
790 | 16,08 €
Pasaporte
Solicitud
EX-17"""


def html(text: str, media_type: str = "text/html; charset=utf-8") -> str:
    return text_of(text.encode(), media_type, "html")


def test_a_page_is_read_as_a_person_does() -> None:
    """The main part in its order, headings and rows as lines; programs, menus and what is hidden are left out."""
    assert html(PAGE) == READ


@pytest.mark.parametrize(
    ("page", "expected"),
    [
        pytest.param("<p>uno<p>dos", "uno\ndos", id="unclosed"),
        pytest.param("solo texto", "solo texto", id="no-tags"),
        pytest.param("<main></main><p>cuerpo</p>", "cuerpo", id="empty-main"),
        pytest.param("<div role=main>a</div><p>b</p>", "a", id="role-main"),
        pytest.param("<header>sitio</header><p>a</p>", "a", id="header-of-the-site"),
        pytest.param("<article><header><h3>a</h3></header>b</article>", "### a\nb", id="header-of-an-article"),
        pytest.param("<table><tr><td></td><td>a</td><td> </td></tr></table>", "a", id="empty-cells"),
        pytest.param("a&#0;b&#xD800;c&shy;d\u200be", "a\ufffdb\ufffdcde", id="characters-that-hide"),
        pytest.param(
            "<table><tr><td><p>790</p></td><td><div>16 €</div><p>(2026)</p></td></tr></table>b",
            "790 | 16 € (2026)\nb",
            id="blocks-in-cells",
        ),
        pytest.param("<table><tr><td><h2>a</h2><p>b</p></td><td><p>c</p></td></tr></table>", "## a\nb\nc", id="layout"),
        pytest.param(
            "<table><tr><td>a<table><tr><td>b</td><td>c</td></tr></table>d</td></tr></table>", "a\nb | c\nd", id="nested"
        ),
        pytest.param("<p>a <i>b</i>c</p>", "a bc", id="inline"),
        pytest.param("<pre>a\n\n  b</pre>", "a b", id="preformatted"),
    ],
)
def test_pages(page: str, expected: str) -> None:
    """Whatever a page is made of, its lines have one blank between words and none around."""
    assert html(page) == expected


@pytest.mark.parametrize("page", ["", "<html></html>", "<script>a</script>", "<nav>a</nav>", "&nbsp;", "<p hidden>a</p>"])
def test_a_page_without_text_was_not_read(page: str) -> None:
    """A source that says nothing is a fault, never an empty text."""
    with pytest.raises(DocumentError, match="no text"):
        html(page)


@pytest.mark.parametrize(
    ("content", "media_type", "expected"),
    [
        pytest.param("año".encode(), "text/html", "año", id="utf-8-unsaid"),
        pytest.param("año €".encode("windows-1252"), "text/html", "año €", id="windows-unsaid"),
        pytest.param("año".encode("latin-1"), "text/html; charset=ISO-8859-1", "año", id="header"),
        pytest.param("año".encode(), "text/html; charset=base64", "año", id="header-with-a-trap"),
        pytest.param("<meta charset='iso-8859-15'>€".encode("iso-8859-15"), "text/html", "€", id="page"),
        pytest.param("\ufeffaño".encode(), "text/html; charset=latin1", "año", id="mark-wins"),
        pytest.param("\ufeffaño".encode("utf-16-le"), "text/html", "año", id="utf-16"),
        pytest.param("año".encode("latin-1"), "text/html; charset=utf-8", "a\ufffdo", id="header-that-lies"),
    ],
)
def test_charsets(content: bytes, media_type: str, expected: str) -> None:
    """The mark, the header, the page itself, and then what the bytes look like, in this order."""
    assert decoded(content, media_type).endswith(expected)


def test_deep_pages() -> None:
    """A page that nests deeper than Python does is read."""
    assert html("<div>" * 50_000 + "fondo") == "fondo"
    assert html("<b>" * 5_000 + "fondo") == "fondo"


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        pytest.param(b"<a><p>uno <b>y</b> dos</p><p>tres</p></a>", "uno y dos\ntres", id="mixed"),
        pytest.param("<?xml version='1.0' encoding='ISO-8859-1'?><a>año</a>".encode("latin-1"), "año", id="charset"),
        pytest.param(b"<a><!-- no --><?php no?><b><c>x</c></b></a>", "x", id="comments"),
        pytest.param(b"<a>&lt;b&gt; &#241;</a>", "<b> ñ", id="references"),
        pytest.param(b"<a>" * 20_000 + b"x" + b"</a>" * 20_000, "x", id="deep"),
    ],
)
def test_xml(content: bytes, expected: str) -> None:
    """An element with text is a line, together with what stands inside it."""
    assert text_of(content, "application/xml", "xml") == expected


BOMB = b"<!DOCTYPE a [<!ENTITY b 'bbbb'><!ENTITY c '&b;&b;&b;&b;'><!ENTITY d '&c;&c;&c;'>]><a>&d;</a>"


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        pytest.param(BOMB, "DTD or entities", id="bomb"),
        pytest.param(b"<!DOCTYPE a><a>x</a>", "DTD or entities", id="dtd"),
        pytest.param(b"<!DOCTYPE a [<!ENTITY f SYSTEM 'file:///etc/passwd'>]><a>&f;</a>", "DTD or entities", id="file"),
        pytest.param(b"<a>\n<b></a>", "line 2, column 5: not XML", id="broken"),
        pytest.param(b"<a>&nbsp;</a>", "line 1, column 3: not XML", id="unknown-entity"),
        pytest.param(b"", "not XML", id="nothing"),
        pytest.param(b"<?xml version='1.0' encoding='x-y'?><a/>", "not XML|cannot be decoded", id="unknown-charset"),
        pytest.param(b"<a> </a>", "no text", id="blank"),
        pytest.param(b"\xff\xfe\x00\x01", "not XML|cannot be decoded", id="bytes"),
    ],
)
def test_xml_that_is_refused(content: bytes, expected: str) -> None:
    """What defines entities is not read at all, and what is broken is named with its place."""
    with pytest.raises(DocumentError, match=expected):
        text_of(content, "application/xml", "xml")


def pdf(*pages: str, packed: bool = False, stream: bytes = b"") -> bytes:
    """Make a PDF with a line of text on each page, or what a packed stream says."""
    kids = " ".join(f"{4 + 2 * number} 0 R" for number in range(len(pages)))
    objects = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        f"<< /Type /Pages /Kids [{kids}] /Count {len(pages)} >>".encode(),
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>",
    ]
    for number, text in enumerate(pages):
        shown = text.encode("windows-1252").replace(b"(", b"\\(").replace(b")", b"\\)")
        plain = b"BT /F1 12 Tf 50 700 Td (" + shown + b") Tj ET"
        data = stream or (zlib.compress(plain) if packed else plain)
        how = b" /Filter /FlateDecode" if packed or stream else b""
        objects.append(
            f"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 600 800] /Contents {5 + 2 * number} 0 R "
            "/Resources << /Font << /F1 3 0 R >> >> >>".encode()
        )
        objects.append(b"<< /Length %d%s >>\nstream\n%s\nendstream" % (len(data), how, data))
    out, places = bytearray(b"%PDF-1.4\n"), []
    for number, body in enumerate(objects, 1):
        places.append(len(out))
        out += b"%d 0 obj\n%s\nendobj\n" % (number, body)
    table = b"".join(b"%010d 00000 n \n" % place for place in places)
    start = len(out)
    out += b"xref\n0 %d\n0000000000 65535 f \n%s" % (len(places) + 1, table)
    out += b"trailer\n<< /Size %d /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF\n" % (len(places) + 1, start)
    return bytes(out)


TWO_PAGES = pdf("El plazo es de 15 días", "La tasa (modelo 790) es de 16,08 €", packed=True)


def encrypted(password: str) -> bytes:
    writer = PdfWriter(clone_from=PdfReader(io.BytesIO(TWO_PAGES)))
    writer.encrypt(password, "owner", algorithm="AES-256")
    out = io.BytesIO()
    writer.write(out)
    return out.getvalue()


def test_a_pdf_is_read_page_by_page() -> None:
    """Text in the order of the pages, packed or not, read by a process of its own."""
    assert text_of(TWO_PAGES, "application/pdf", "pdf") == "El plazo es de 15 días\nLa tasa (modelo 790) es de 16,08 €"
    assert read_pdf(pdf("a", "b")) == "a\nb"


def test_encryption_without_a_password_is_none() -> None:
    """Documents that only may not be edited are read; those with a password are not."""
    assert read_pdf(encrypted("")).startswith("El plazo")
    with pytest.raises(DocumentError, match="encrypted with a password"):
        pdf_text(encrypted("secret"))


def page_bomb() -> bytes:
    return pdf("x").replace(b"/Kids [4 0 R] /Count 1", b"/Kids [" + b"4 0 R " * 600 + b"] /Count 600")


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        pytest.param(b"<html>", "byte 0: not a PDF", id="html"),
        pytest.param(b"%PDF-1.4\n", "the document: broken", id="head-only"),
        pytest.param(TWO_PAGES[:200], "broken|no text", id="cut"),
        pytest.param(page_bomb(), "has 600 pages; at most 500", id="many-pages"),
        pytest.param(pdf(" "), "no text", id="blank"),
    ],
)
def test_pdf_that_is_refused(content: bytes, expected: str) -> None:
    """What is broken, too long or empty is named."""
    with pytest.raises(DocumentError, match=expected):
        text_of(content, "application/pdf", "pdf")


def test_a_pdf_that_takes_too_long_is_ended() -> None:
    """Neither between pages nor within one does a document hold its reader beyond the time."""
    with pytest.raises(DocumentError, match="page 1: takes longer"):
        read_pdf(TWO_PAGES, seconds=-1)
    began = perf_counter()
    with pytest.raises(DocumentError, match="takes longer than 0 seconds"):
        pdf_text(TWO_PAGES, seconds=0.01)
    assert perf_counter() - began < 5


def test_a_pdf_that_unpacks_without_end_is_refused() -> None:
    """A page of a few kilobytes that stands for gigabytes is not unpacked."""
    bomb = pdf("x", stream=zlib.compress(b" " * 300_000_000, 9))
    assert len(bomb) < 300_000
    with pytest.raises(DocumentError):
        text_of(bomb, "application/pdf", "pdf")


def test_other_kinds_are_refused() -> None:
    """A norm is not read as text: it has a structure."""
    with pytest.raises(DocumentError, match="must be one of html, pdf, xml"):
        text_of(b"x", "text/plain", "norm")
    assert set(MEDIA_TYPES) == {"html", "pdf", "xml"}


BROKEN_HTML = st.lists(
    st.sampled_from(
        ["<p>", "</p>", "<table>", "<td>", "<main>", "<svg>", "<!--", "-->", "<a href='", "&#", ";", "<template>", "x"]
    )
    | st.text(max_size=8),
    max_size=40,
).map("".join)


def sound(read: object) -> None:
    """Check what every text promises."""
    assert isinstance(read, str)
    assert read == "\n".join(line.strip() for line in read.split("\n") if line.strip())
    assert "\x00" not in read
    read.encode()


@given(st.binary(max_size=300) | BROKEN_HTML.map(str.encode), st.sampled_from(["text/html", "text/html; charset=utf-16", ""]))
@settings(max_examples=300)
def test_any_page(content: bytes, media_type: str) -> None:
    """Any bytes are a text that can be stored, or a fault."""
    try:
        read = text_of(content, media_type, "html")
    except DocumentError:
        return
    sound(read)


BROKEN_XML = st.lists(
    st.sampled_from(["<a>", "</a>", "<b/>", "<![CDATA[", "]]>", "<!DOCTYPE a [", "<!ENTITY x 'y'>", "&x;", "<?", "?>", "é"])
    | st.text(max_size=8),
    max_size=30,
).map(lambda parts: f"<a>{''.join(parts)}</a>".encode("utf-8", "replace"))


@given(st.binary(max_size=300) | BROKEN_XML)
@settings(max_examples=300)
def test_any_xml(content: bytes) -> None:
    """Any bytes are a text that can be stored, or a fault."""
    try:
        read = text_of(content, "application/xml", "xml")
    except DocumentError:
        return
    sound(read)


CHANGES = st.lists(st.tuples(st.integers(0, len(TWO_PAGES) - 1), st.binary(min_size=1, max_size=6)), max_size=8)


@given(CHANGES)
@settings(max_examples=60)
def test_any_pdf(changes: list[tuple[int, bytes]]) -> None:
    """A PDF with any bytes changed is a text, or a fault."""
    content = bytearray(TWO_PAGES)
    for place, new in changes:
        content[place : place + len(new)] = new
    try:
        assert isinstance(read_pdf(bytes(content)), str)
    except DocumentError:
        return
