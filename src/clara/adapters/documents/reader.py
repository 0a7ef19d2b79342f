"""Reading what was fetched as text: lines in reading order, headings marked as in Markdown, a table row on one line.

Of a web page that is what a person reads of its main part. What could make a small document large, or read files of ours, is
refused in XML: no DTD, no entities.
"""

import codecs
import re
from collections.abc import Mapping
from typing import Final
from xml.etree.ElementTree import Element, ParseError

from defusedxml import DefusedXmlException
from defusedxml.ElementTree import fromstring
from selectolax.lexbor import LexborHTMLParser, LexborNode

from clara.adapters.documents.pdf import pdf_text
from clara.editorial.sources import DocumentError

# What a source of each kind may be sent as. Many servers send PDF as bytes of any kind; the reader knows it by its beginning.
MEDIA_TYPES: Final[Mapping[str, tuple[str, ...]]] = {
    "html": ("text/html", "application/xhtml+xml"),
    "pdf": ("application/pdf", "application/octet-stream", "binary/octet-stream"),
    "xml": ("application/xml", "text/xml", "application/rss+xml", "application/atom+xml"),
}


def text_of(content: bytes, media_type: str, kind: str) -> str:
    """Give the text of a document of this kind; `media_type` is its Content-Type, which may name a charset.

    There are no blank lines, no line has blanks around it, and every character can be stored. The same content gives the same
    text every time. Raises DocumentError, also for a document without text: a source that says nothing has not been read.
    """
    match kind:
        case "html":
            text = html_text(content, media_type)
        case "pdf":
            text = pdf_text(content)
        case "xml":
            text = xml_text(content)
        case _:
            raise DocumentError(f"a source of the kind {kind} is not read as text; it must be one of {', '.join(MEDIA_TYPES)}")
    lines = [" ".join(line.split()) for line in _storable(text).splitlines()]
    kept = "\n".join(line for line in lines if line)
    if not kept:
        raise DocumentError(f"the {kind} document holds no text; look at it, its kind may have changed")
    return kept


def _storable(text: str) -> str:
    """Leave out what PostgreSQL cannot keep, and what would only hide between letters."""
    sound = text.encode("utf-8", "replace").decode("utf-8")
    return "".join(one for one in sound if one in "\n\t" or one.isprintable() or one.isspace())


# A page may say its own charset in its first kilobyte (HTML standard).
LOOKED_AT: Final = 1024
# The charsets of Spanish administrations, and what browsers read under their names; another name is as good as none.
KNOWN: Final = {
    "utf-8": "utf-8", "utf8": "utf-8",
    "iso-8859-1": "windows-1252", "latin1": "windows-1252", "iso8859-1": "windows-1252", "us-ascii": "windows-1252",
    "ascii": "windows-1252", "windows-1252": "windows-1252", "cp1252": "windows-1252",
    "iso-8859-15": "iso-8859-15", "iso8859-15": "iso-8859-15", "latin-9": "iso-8859-15",
    "utf-16": "utf-16-le", "utf-16le": "utf-16-le", "utf-16be": "utf-16-be",
}  # fmt: skip
MARKS: Final = ((codecs.BOM_UTF8, "utf-8"), (codecs.BOM_UTF16_LE, "utf-16-le"), (codecs.BOM_UTF16_BE, "utf-16-be"))
_IN_HEADER: Final = re.compile(r"charset\s*=\s*[\"']?([^\s\"';,]+)", re.IGNORECASE)
_IN_PAGE: Final = re.compile(rb"<meta[^>]{0,200}charset\s{0,5}=\s{0,5}[\"']?([a-zA-Z0-9_-]{1,20})", re.IGNORECASE)


def decoded(content: bytes, media_type: str) -> str:
    """Read bytes as text: by their mark, else the header, else the page's own word, else UTF-8 or what is left."""
    for mark, marked in MARKS:
        if content.startswith(mark):
            return content[len(mark) :].decode(marked, "replace")
    named = _IN_HEADER.search(media_type)
    name = KNOWN.get(named[1].lower()) if named else None
    if name is None and (own := _IN_PAGE.search(content[:LOOKED_AT])):
        name = KNOWN.get(own[1].decode("ascii").lower())
    if name is not None:
        return content.decode(name, "replace")
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError:
        return content.decode("windows-1252", "replace")


HEADINGS: Final = {f"h{level}": level for level in range(1, 7)}
CELLS: Final = frozenset({"td", "th"})
# What ends a line before and after itself.
BLOCKS: Final = frozenset({
    "address", "article", "blockquote", "body", "br", "caption", "center", "dd", "details", "div", "dl", "dt", "fieldset",
    "figcaption", "figure", "footer", "form", "h1", "h2", "h3", "h4", "h5", "h6", "header", "hr", "html", "legend", "li",
    "main", "ol", "p", "pre", "section", "summary", "table", "tbody", "tfoot", "thead", "tr", "ul",
})  # fmt: skip
# What is no text of the page: programs, ways around the site, and what a form is filled with.
LEFT_OUT: Final = frozenset({
    "head", "script", "style", "noscript", "template", "nav", "aside", "footer", "iframe", "svg", "canvas", "object",
    "embed", "video", "audio", "map", "button", "select", "option", "input", "textarea", "datalist", "dialog",
})  # fmt: skip
ROLES_LEFT_OUT: Final = frozenset({"navigation", "banner", "contentinfo", "search", "menu", "menubar", "dialog", "alertdialog"})
# Characters. In tables of fees and documents the longest rows have some 600; a part of a page that lies in a cell has more.
LONGEST_ROW: Final = 1_500
_INVISIBLE: Final = re.compile(r"display\s*:\s*none|visibility\s*:\s*hidden", re.IGNORECASE)


def html_text(content: bytes, media_type: str = "text/html") -> str:
    """Give the lines of the main part, of the whole body where none is marked; headings begin with "#" as in Markdown.

    The cells of a row stand on one line, with " | " between. Empty when there is no text.
    """
    page = LexborHTMLParser(decoded(content, media_type))
    main = page.css_first("main") or page.css_first("[role=main]")
    body = page.body
    found = _text(main) if main is not None else ""
    return found if found.strip() or body is None else _text(body)


class _Lines:
    """Gathers text into lines."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self._pieces: list[str] = []
        self._mark = ""
        self.in_row = False

    def add(self, text: str) -> None:
        self._pieces.append(text)

    def end(self, mark: str = "") -> None:
        """End the line; the next one begins with `mark`, if it gets any text."""
        line = " ".join("".join(self._pieces).split()).strip("| ")
        if line:
            self.lines.append(f"{self._mark}{line}")
        self._pieces.clear()
        self._mark = mark


def _text(root: LexborNode) -> str:
    """Walk through the nodes without recursion: pages may nest deeper than Python does."""
    lines = _Lines()
    open_nodes: list[tuple[LexborNode, bool]] = [(root, False)]
    while open_nodes:
        node, seen = open_nodes.pop()
        if seen:
            _closed(node, lines)
        elif node.is_text_node:
            lines.add(node.text_content or "")
        elif node.is_element_node and not _left_out(node):
            _opened(node, lines)
            open_nodes.append((node, True))
            open_nodes += [(child, False) for child in reversed(list(node.iter(include_text=True)))]
    lines.end()
    return "\n".join(lines.lines)


def _opened(node: LexborNode, lines: _Lines) -> None:
    tag = node.tag or ""
    if tag in CELLS:
        lines.add(" | ")
    elif lines.in_row:
        lines.add(" " if tag in BLOCKS else "")
    elif tag in BLOCKS:
        lines.end(f"{'#' * HEADINGS[tag]} " if tag in HEADINGS else "")
        lines.in_row = tag == "tr" and _is_row(node)


def _closed(node: LexborNode, lines: _Lines) -> None:
    if node.tag == "tr":
        lines.in_row = False
    if node.tag in BLOCKS and not lines.in_row:
        lines.end()
    elif node.tag in BLOCKS:
        lines.add(" ")


def _is_row(node: LexborNode) -> bool:
    """Whether a row is one of a table of data, and not of one that only arranges the page."""
    return node.css_first("table, h1, h2, h3, h4, h5, h6") is None and len(node.text()) <= LONGEST_ROW


def _left_out(node: LexborNode) -> bool:
    if node.tag in LEFT_OUT or (node.tag == "header" and not _of_an_article(node)):
        return True
    attributes = node.attributes
    if not attributes:
        return False
    hidden = "hidden" in attributes or (attributes.get("aria-hidden") or "").lower() == "true"
    role = (attributes.get("role") or "").strip().lower()
    return hidden or role in ROLES_LEFT_OUT or bool(_INVISIBLE.search(attributes.get("style") or ""))


def _of_an_article(node: LexborNode) -> bool:
    """Whether a header is that of a text, which holds its title, and not that of the site."""
    parent = node.parent
    while parent is not None and parent.tag != "body":
        if parent.tag in {"main", "article"} or (parent.attributes or {}).get("role") == "main":
            return True
        parent = parent.parent
    return False


MOST_XML_BYTES: Final = 25_000_000


def xml_text(content: bytes) -> str:
    """Give a line for each element with text of its own, and of what stands inside it. Raises DocumentError with the place."""
    if len(content) > MOST_XML_BYTES:
        raise DocumentError(f"the XML document has {len(content)} bytes; at most {MOST_XML_BYTES} are read")
    return "\n".join(_xml_lines(parsed(content)))


def parsed(content: bytes) -> Element:
    """Parse without DTD, entities and references to files. Raises DocumentError with the place."""
    try:
        root: Element = fromstring(content, forbid_dtd=True)
    except ParseError as error:
        line, column = error.position
        raise DocumentError(f"line {line}, column {column}: not XML ({error.msg})") from error
    except DefusedXmlException as error:
        raise DocumentError("the XML document has a DTD or entities, which are not read") from error
    except (ValueError, LookupError) as error:  # an encoding that is unknown, or that no text can have
        raise DocumentError(f"the XML document cannot be decoded ({error})") from error
    return root


def _xml_lines(root: Element) -> list[str]:
    """Walk without recursion. Text around children makes them part of its line; without any, each is on its own."""
    lines: list[str] = []
    waiting = [root]
    while waiting:
        element = waiting.pop()
        if _has_text(element):
            lines.append(" ".join("".join(element.itertext()).split()))
        else:
            waiting += [child for child in reversed(element) if isinstance(child.tag, str)]
    return lines


def _has_text(element: Element) -> bool:
    own = (element.text, *(child.tail for child in element))
    return any(part and part.strip() for part in own)
