"""Dropping hits that say what a better one says already."""

import re
from collections.abc import Sequence
from dataclasses import replace

from clara.retrieval.options.mmr import unit_vectors
from clara.retrieval.passage import Hit, Passage, Query, Search

# DevMatrix. Not fitted: a property of the model, like every threshold on a cosine.
SAME = 0.95
MOST_CANDIDATES = 100
# A run of digits with what joins them: 1.234,56 and 01/02/2026 and 10:30 and 39-2015 are one figure each.
_FIGURE = re.compile(r"\d+(?:[.,:/'’\-\u00a0\u202f]\d+)*")


def deduplicated(hits: Sequence[Hit], threshold: float = SAME, *, across_languages: bool = True) -> list[Hit]:
    """Drop each hit whose vector is above `threshold` (cosine) from a better ranked one that is kept; keep the order.

    Two passages whose figures differ, in heading or text, are never taken for the same: vectors hardly see numbers, and
    "600 euros" and "900 euros" are what people ask about. Unless `across_languages`, neither are a passage and its
    translation. Hits without a vector are kept.
    """
    rows = [place for place, hit in enumerate(hits) if hit.vector is not None]
    vectors = unit_vectors([hits[place] for place in rows])
    alike = vectors @ vectors.T > threshold
    kept: list[int] = []
    for row, place in enumerate(rows):
        twins = (rows[other] for other in range(row) if alike[row, other] and rows[other] in kept)
        if not any(_replaceable(hits[place].passage, hits[twin].passage, across_languages) for twin in twins):
            kept.append(place)
    dropped = set(rows) - set(kept)
    return [hit for place, hit in enumerate(hits) if place not in dropped]


def folding(search: Search) -> Search:
    """Ask for twice as many hits, up to 100, and give the best of those that say different things."""

    def fold(query: Query) -> list[Hit]:
        return deduplicated(search(_wider(query)))[: query.limit]

    return fold


def once_each(search: Search) -> Search:
    """Ask for twice as many hits, up to 100, and give of passages that were cut from one text, their parent, the best."""

    def best(query: Query) -> list[Hit]:
        kept: dict[object, Hit] = {}
        for hit in search(_wider(query)):
            kept.setdefault(hit.passage.metadata.get("parent_id", hit.passage.id), hit)
        return list(kept.values())[: query.limit]

    return best


def _wider(query: Query) -> Query:
    return replace(query, limit=min(2 * query.limit, max(query.limit, MOST_CANDIDATES)))


def _replaceable(passage: Passage, twin: Passage, across_languages: bool) -> bool:
    if not across_languages and passage.language != twin.language:
        return False
    return _FIGURE.findall(passage.indexed_text) == _FIGURE.findall(twin.indexed_text)
