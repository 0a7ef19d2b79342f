"""Reading what was fetched as text: lines in reading order, headings marked as in Markdown, a table row on one line."""

from collections.abc import Mapping
from typing import Final

from clara.adapters.documents.html import html_text
from clara.adapters.documents.pdf import pdf_text
from clara.adapters.documents.xml import xml_text
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
