"""Results as bytes and back, field by field: no pickle, which would run whatever a stored value says."""

import json
from dataclasses import fields
from typing import Any, Final

from clara.errors import Invalid
from clara.retrieval.passage import COLUMNS, Found, Hit, Status, stored_passage

# The fields of a hit beside its passage.
SCORES: Final = tuple(field.name for field in fields(Hit))[1:]


class UnreadableResultError(Invalid):
    """The bytes hold no result of this version of the program. Retrieve again instead."""


def encode(found: Found) -> bytes:
    """Give a result as UTF-8 JSON; a lone surrogate in a text, which has no such form, becomes a question mark.

    TypeError or ValueError when metadata or trace are not JSON.
    """
    written = {
        "status": found.status.value,
        "tier": found.tier,
        "hits": [_written(hit) for hit in found.hits],
        "outages": found.outages,
        "timings_ms": dict(found.timings_ms),
        "confidence": found.confidence,
        "failures": found.failures,
        "relaxed": dict(found.relaxed),
        "trace": dict(found.trace),
        "ended": [_written(hit) for hit in found.ended],
    }
    return json.dumps(written, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace")


def decode(stored: bytes) -> Found:
    """Give back the result that was encoded. Raises UnreadableResultError."""
    try:
        read = json.loads(stored.decode())
        return Found(
            status=Status(read["status"]),
            tier=read["tier"],
            hits=tuple(_read(hit) for hit in read["hits"]),
            outages=tuple(read["outages"]),
            timings_ms=read["timings_ms"],
            confidence=read["confidence"],
            failures=tuple(read["failures"]),
            relaxed=read["relaxed"],
            trace=read["trace"],
            ended=tuple(_read(hit) for hit in read["ended"]),
        )
    except (ValueError, TypeError, KeyError) as error:
        msg = f"a remembered result could not be read ({type(error).__name__}); it is retrieved again"
        raise UnreadableResultError(msg) from error


def _written(hit: Hit) -> list[Any]:
    told = [getattr(hit.passage, name) for name in COLUMNS]
    return [*told, hit.passage.stored_metadata, [getattr(hit, name) for name in SCORES]]


def _read(written: list[Any]) -> Hit:
    *told, scores = written
    *numbers, vector = scores
    passage = stored_passage(dict(zip((*COLUMNS, "metadata"), told, strict=True)))
    return Hit(passage, **dict(zip(SCORES[:-1], numbers, strict=True)), vector=None if vector is None else tuple(vector))
