"""Which characters the bytes of a page stand for."""

import codecs
import re
from typing import Final

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
