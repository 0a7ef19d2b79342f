"""Answering several things asked at once: each in the order asked, with its own facts and sources, in one reply."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from clara.answering.message import Citation
from clara.answering.writing.frame import Writer, Written
from clara.retrieval.passage import Found, Query, Retrieve, Status

# A part is answered beside others when one procedure has this share of what may be meant, and it is hardly about none. Of 26
# development messages that ask several things 11 get all answers, none without this; of 27 plain questions it loses one.
SURE: Final = 0.8
OUTSIDE: Final = 0.2
_MARK: Final = re.compile(r"\[C(\d+)\]")


@dataclass(frozen=True, slots=True)
class AskedPart:
    """One thing asked, and what was found for it."""

    asked: str
    found: Found


def found_apart(retrieve: Retrieve, query: Query, parts: Sequence[str]) -> list[AskedPart]:
    """Search for each part as `query` does; give those that are surely about procedures of their own, in the order asked."""
    return distinct([AskedPart(part, retrieve(replace(query, text=part, focus=()))) for part in parts])


def distinct(parts: Sequence[AskedPart]) -> list[AskedPart]:
    """Give the parts that are surely about procedures of their own, in the order asked."""
    kept: dict[str, AskedPart] = {}
    for part in parts:
        found = part.found
        first, share = next(iter(found.likely.items()), ("", 0.0))
        sure = share >= SURE * sum(found.likely.values()) and found.outside is not None and found.outside <= OUTSIDE
        if found.status is Status.FOUND and first and sure:
            kept.setdefault(first, part)
    return list(kept.values())


def write(writer: Writer, parts: Sequence[AskedPart], language: str, room: int, repeated: str) -> Written | None:
    """Give one text of `room` characters at most, the marks counted through; None when it cannot hold every part.

    `repeated` stands below every answer and is said once, at the end.
    """
    texts: list[str] = []
    citations: list[Citation] = []
    for number, part in enumerate(parts, 1):
        left = (room - sum(len(text) + 2 for text in texts)) // (len(parts) - number + 1)
        written = writer.answer(part.asked, part.found.known, language, left + (len(repeated) if number < len(parts) else 0))
        text = written.text if number == len(parts) else written.text.replace(repeated, "").rstrip()
        if not written.citations or len(text) > left:
            return None
        texts.append(_counted(text, len(citations)))
        citations += [replace(one, mark=f"C{len(citations) + place}") for place, one in enumerate(written.citations, 1)]
    return Written("\n\n".join(texts), tuple(citations), {"writer": "several", "parts": len(parts)})


def _counted(text: str, before: int) -> str:
    """Count the marks of a text from what was cited before on."""
    return _MARK.sub(lambda match: f"[C{int(match[1]) + before}]", text)
