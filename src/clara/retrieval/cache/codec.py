"""Results as bytes and back, field by field: no pickle, which would run whatever a stored value says."""

import json
from typing import Any

from clara.errors import Invalid
from clara.retrieval.passage import Found, Hit, Passage, Status


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
    passage = hit.passage
    return [
        passage.id,
        passage.corpus,
        passage.collection,
        passage.document_id,
        passage.section,
        passage.heading,
        passage.text,
        passage.language,
        passage.territory,
        dict(passage.metadata),
        [
            hit.score,
            hit.cosine,
            hit.lexical,
            hit.coverage,
            hit.linked,
            hit.dense_rank,
            hit.lexical_rank,
            hit.ended,
            hit.vector,
        ],
    ]


def _read(written: list[Any]) -> Hit:
    identifier, corpus, collection, document_id, section, heading, text, language, territory, metadata, scores = written
    score, cosine, lexical, coverage, linked, dense_rank, lexical_rank, ended, vector = scores
    return Hit(
        Passage(identifier, corpus, collection, document_id, section, tuple(heading), text, language, territory, metadata),
        score,
        cosine,
        lexical,
        coverage,
        linked,
        dense_rank,
        lexical_rank,
        ended,
        None if vector is None else tuple(vector),
    )
