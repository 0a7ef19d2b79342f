"""Reading the gazette's XML and JSON safely: sizes, depths and letters are bounded, entities and DTDs refused."""

import json
import re
from datetime import date, datetime
from typing import Any, Final
from xml.etree.ElementTree import Element, ParseError

from defusedxml import DefusedXmlException
from defusedxml.ElementTree import fromstring

from clara.editorial.gazette.issues import GazetteFormatError

# The recorded documents are at most 12 levels deep; deeper than this nothing is read, so that no recursion has to be.
MOST_LEVELS: Final = 60
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
