"""The text of a web page: what a person reads of its main part, in reading order."""

import re
from typing import Final

from selectolax.lexbor import LexborHTMLParser, LexborNode

from clara.adapters.documents.charset import decoded

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
            open_nodes += [(child, False) for child in reversed(_children(node))]
    lines.end()
    return "\n".join(lines.lines)


def _children(node: LexborNode) -> list[LexborNode]:
    children = []
    child = node.first_child
    while child is not None:
        children.append(child)
        child = child.next
    return children


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
