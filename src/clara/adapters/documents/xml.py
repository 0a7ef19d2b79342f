"""The text of an XML document. What could make a small one large, or read files of ours, is refused: no DTD, no entities."""

from typing import Final
from xml.etree.ElementTree import Element, ParseError

from defusedxml import DefusedXmlException
from defusedxml.ElementTree import fromstring

from clara.editorial.sources import DocumentError

MOST_BYTES: Final = 25_000_000


def xml_text(content: bytes) -> str:
    """Give a line for each element with text of its own, and of what stands inside it. Raises DocumentError with the place."""
    if len(content) > MOST_BYTES:
        raise DocumentError(f"the XML document has {len(content)} bytes; at most {MOST_BYTES} are read")
    return "\n".join(_lines(parsed(content)))


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


def _lines(root: Element) -> list[str]:
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
