"""Answering several things asked at once: each in the order asked, with its own facts and sources, in one reply."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from clara.answering.message import Citation
from clara.answering.writing.frame import Writer, Written
from clara.retrieval.passage import Found, Query, Retrieve, Status

# A part is answered beside others when one procedure has this share of what may be meant, and it is hardly about none.
SURE: Final = 0.85
OUTSIDE: Final = 0.2
# An unsure part is looked for again as about a procedure that has at least these shares of the part and of the whole message,
# and is less likely than this about none: a fragment says little alone, and the whole knows what it goes on from. Of 26
# development messages that ask several things 16 get all answers, 13 without this, none without looking for parts; of 632
# others it loses 2 right answers.
PART: Final = 0.5
WHOLE: Final = 0.15
DOUBTED: Final = 0.3
_MARK: Final = re.compile(r"\[C(\d+)\]")


@dataclass(frozen=True, slots=True)
class AskedPart:
    """One thing asked, and what was found for it."""

    asked: str
    found: Found


def found_apart(retrieve: Retrieve, query: Query, parts: Sequence[str]) -> list[AskedPart]:
    """Search for each part as `query` does; give those that are surely about procedures of their own, in the order asked.

    Where a part is unsure the whole query is searched for too, and the part once more as about what both may mean.
    """
    asked = [AskedPart(part, retrieve(replace(query, text=part, focus=()))) for part in parts]
    if len(asked) > 1 and not all(map(_sure, asked)):
        whole = retrieve(query)
        asked = [part if _sure(part) else _within(retrieve, query, part, whole) for part in asked]
    return distinct(asked)


def _within(retrieve: Retrieve, query: Query, part: AskedPart, whole: Found) -> AskedPart:
    """Search for a part as about the procedure that it is likely about, if the whole message may be about that too."""
    first, share = _first(part.found)
    likely = share >= PART and _share(whole, first) >= WHOLE
    if not likely or part.found.outside is None or part.found.outside > DOUBTED:
        return part
    return AskedPart(part.asked, retrieve(replace(query, text=part.asked, focus=(), subject=first)))


def distinct(parts: Sequence[AskedPart]) -> list[AskedPart]:
    """Give the parts that are surely about procedures of their own, in the order asked."""
    kept: dict[str, AskedPart] = {}
    for part in filter(_sure, parts):
        kept.setdefault(_first(part.found)[0], part)
    return list(kept.values())


def _sure(part: AskedPart) -> bool:
    """Whether a part is surely about one procedure."""
    found = part.found
    first, share = _first(found)
    held = found.status is Status.FOUND and found.outside is not None and found.outside <= OUTSIDE
    return held and bool(first) and share >= SURE


def _first(found: Found) -> tuple[str, float]:
    """Give the likeliest procedure and its share of what is held."""
    first = next(iter(found.likely), "")
    return first, _share(found, first)


def _share(found: Found, name: str) -> float:
    return found.likely.get(name, 0.0) / (sum(found.likely.values()) or 1.0)


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
