"""The gazette's own documents: its XML and JSON read safely, and of an item what it is and does to earlier norms.

Sizes, depths and letters are bounded, entities and DTDs refused.
"""

import json
import re
from collections.abc import Iterator
from datetime import date, datetime
from typing import Any, Final
from xml.etree.ElementTree import Element, ParseError

from defusedxml import DefusedXmlException
from defusedxml.ElementTree import fromstring

from clara.editorial.gazette.issues import GazetteFormatError, ItemDocument, NoIssueError, Reference

# The recorded documents are at most 12 levels deep; deeper than this nothing is read, so that no recursion has to be.
MOST_LEVELS: Final = 60
ITEM_ID: Final = re.compile(r"BOE-[A-Z]-\d{4}-\d{1,9}")
# How an HTML page begins: what stands in front of a service that is down answers with one, and often with status 200.
_PAGE: Final = re.compile(rb"\s*<(?:!doctype\s+html|html)\b", re.IGNORECASE)

_CONTROLS: Final = re.compile(r"[\x00-\x1f\x7f-\x9f]")
# JSON can hold half of a pair, which is no letter and cannot be written as UTF-8.
_HALVES: Final = re.compile(r"[\ud800-\udfff]")


def read_xml(content: bytes, what: str, most_bytes: int) -> Element:
    """Read an XML document in the encoding that it declares. Raises GazetteFormatError."""
    _measure(content, what, most_bytes)
    if _PAGE.match(content):
        raise GazetteFormatError(what, "is a web page, not data")
    try:
        root: Element = fromstring(content, forbid_dtd=True)
    except DefusedXmlException as error:
        raise GazetteFormatError(what, f"holds a DTD or entities, which are refused ({type(error).__name__})") from error
    except ParseError as error:
        line, column = error.position
        raise GazetteFormatError(f"{what}, line {line}, column {column}", "is not well-formed XML") from error
    except (ValueError, LookupError) as error:  # an encoding that does not exist, or that the parser does not take
        raise GazetteFormatError(what, "is in an encoding that cannot be read") from error
    level = [root]
    for _ in range(MOST_LEVELS):
        level = [child for element in level for child in element]
        if not level:
            return root
    raise GazetteFormatError(what, f"is nested more than {MOST_LEVELS} levels deep")


def read_json(content: bytes, what: str, most_bytes: int) -> Any:  # noqa: ANN401  whatever JSON may hold
    """Read a JSON document. Raises GazetteFormatError."""
    _measure(content, what, most_bytes)
    try:
        return json.loads(content)
    except json.JSONDecodeError as error:
        raise GazetteFormatError(f"{what}, line {error.lineno}, column {error.colno}", "is not JSON") from error
    except RecursionError as error:
        raise GazetteFormatError(what, f"is nested more than {MOST_LEVELS} levels deep") from error
    except ValueError as error:  # bytes that are no text, a number of thousands of digits
        raise GazetteFormatError(what, "is not JSON that can be read") from error


def plain(text: str | None) -> str:
    """Give a text on one line, without letters that cannot be stored or shown."""
    return " ".join(_HALVES.sub("\ufffd", _CONTROLS.sub(" ", text or "")).split())


def day_of(text: str, form: str = "%Y%m%d") -> date | None:
    """Read a day; None for an empty text, and for what is no day of the calendar (the gazette writes 99999999 for never)."""
    try:
        return datetime.strptime(text, form).date()  # noqa: DTZ007  a day has no time zone
    except ValueError:
        return None


def _measure(content: bytes, what: str, most_bytes: int) -> None:
    if not content.strip():
        raise GazetteFormatError(what, "is empty")
    if len(content) > most_bytes:
        raise GazetteFormatError(what, f"has {len(content)} bytes; more than {most_bytes} are not read")


# The largest recorded document has 250 kB; a law of budgets, with its annexes as tables, some 10 MB.
MAX_DOCUMENT_BYTES: Final = 25_000_000

# What the former service says of an item, or of a day without an issue, with status 200.
NOTHING_FOUND: Final = re.compile(r"no se encontr|no existe", re.IGNORECASE)
# The classes of paragraphs that are titles of provisions: "Disposición final primera. Modificación de ...".
_HEADINGS: Final = frozenset(
    {"articulo", "titulo", "titulo_num", "titulo_tit", "capitulo", "capitulo_num", "capitulo_tit", "anexo"}
)
_BLOCKS: Final = frozenset({"p", "dt", "dd", "li", "td", "th", "pre", "h1", "h2", "h3", "h4", "h5", "h6"})


def read_item(content: bytes, asked: str = "") -> ItemDocument:
    """Read an item's document. `asked` is the id that it must have.

    Raises NoIssueError when the body says that there is no such item, GazetteFormatError when it cannot be read.
    """
    what = asked or "item"
    root = read_xml(content, what, MAX_DOCUMENT_BYTES)
    if root.tag == "error":
        _refuse(what, plain(root.findtext("descripcion") or root.text))
    about = root.find("metadatos")
    if root.tag != "documento" or about is None:
        raise GazetteFormatError(f"{what}, <{plain(str(root.tag))[:40]}>", "is no documento with metadatos")
    found = plain(about.findtext("identificador"))
    if not ITEM_ID.fullmatch(found) or (asked and found != asked):
        raise GazetteFormatError(f"{what}, identificador", f"is {found[:40]!r}")
    text = root.find("texto")
    return ItemDocument(
        id=found,
        title=plain(about.findtext("titulo")),
        rank=plain(about.findtext("rango")),
        department=plain(about.findtext("departamento")),
        published=day_of(plain(about.findtext("fecha_publicacion"))),
        in_force=day_of(plain(about.findtext("fecha_vigencia"))),
        references=tuple(_references(root)),
        subjects=_texts(root, "analisis/materias/materia"),
        alerts=_texts(root, "analisis/alertas/alerta"),
        headings=tuple(_headings(text)),
        text="\n".join(_paragraphs(text)),
    )


def _refuse(what: str, words: str) -> None:
    if NOTHING_FOUND.search(words):
        raise NoIssueError(words)
    raise GazetteFormatError(what, f"is an error: {words or 'without words'}")


def _references(root: Element) -> Iterator[Reference]:
    """Give what the item does to earlier norms; what later norms did to it stands elsewhere and is not told.

    The consolidated service's analysis writes the same with other names.
    """
    for earlier in root.iterfind("analisis/referencias/anteriores/anterior"):
        relation = next((child for child in earlier if child.tag in {"palabra", "relacion"}), None)
        yield Reference(
            norm=plain(earlier.get("referencia") or earlier.findtext("id_norma")),
            code=plain(relation.get("codigo")) if relation is not None else "",
            words=plain(relation.text) if relation is not None else "",
            text=plain(earlier.findtext("texto")),
        )


def _texts(root: Element, path: str) -> tuple[str, ...]:
    return tuple(text for element in root.iterfind(path) if (text := plain("".join(element.itertext()))))


def _headings(text: Element | None) -> Iterator[str]:
    for element in text.iter("p") if text is not None else ():
        if element.get("class", "") in _HEADINGS and (found := plain("".join(element.itertext()))):
            yield found


def _paragraphs(element: Element | None) -> Iterator[str]:
    """Give the text a paragraph at a time; a block that holds blocks gives its own words first."""
    if element is None:
        return
    if element.tag in _BLOCKS and not any(child.tag in _BLOCKS for child in element.iter() if child is not element):
        yield from _line("".join(element.itertext()))
        return
    yield from _line(element.text)
    for child in element:
        yield from _paragraphs(child)
        yield from _line(child.tail)


def _line(text: str | None) -> Iterator[str]:
    if line := plain(text):
        yield line
