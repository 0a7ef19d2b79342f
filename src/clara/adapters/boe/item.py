"""An item's own document: what it is, what it does to earlier norms, and its text."""

import re
from collections.abc import Iterator
from typing import Final
from xml.etree.ElementTree import Element

from clara.adapters.boe.parser import day_of, plain, read_xml
from clara.editorial.gazette.issues import GazetteFormatError, ItemDocument, NoIssueError, Reference

# The largest recorded document has 250 kB; a law of budgets, with its annexes as tables, some 10 MB.
MAX_DOCUMENT_BYTES: Final = 25_000_000

_ID: Final = re.compile(r"BOE-[A-Z]-\d{4}-\d{1,9}")
_NOTHING: Final = re.compile(r"no se encontr|no existe", re.IGNORECASE)
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
    if not _ID.fullmatch(found) or (asked and found != asked):
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
    if _NOTHING.search(words):
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
