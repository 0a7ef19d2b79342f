"""The last tier: the list of what Clara knows. It never misses and never claims to have found an answer."""

from collections.abc import Sequence

from clara.retrieval.passage import Found, Hit, Passage, Query, Retrieve, Status

TIER = "directory_fallback"


def directory(passages: Sequence[Passage]) -> Retrieve:
    """Give the first passage of each procedure, as a directory: status NOT_FOUND, score 0."""
    first: dict[str, Passage] = {}
    for passage in passages:
        first.setdefault(passage.document_id, passage)
    entries = tuple(Hit(passage, 0.0) for passage in first.values())

    def listing(_query: Query) -> Found:
        return Found(Status.NOT_FOUND, TIER, entries)

    return listing
