"""The last tier: the list of what Clara knows. It never misses and never claims to have found an answer."""

from collections.abc import Sequence

from clara.knowledge.placing import holds_on
from clara.retrieval.passage import Found, Hit, Passage, Query, Retrieve, Status

DIRECTORY = "directory_fallback"


def directory(passages: Sequence[Passage]) -> Retrieve:
    """Give the first passage of each procedure that holds on the day of the query, as a directory: NOT_FOUND, score 0."""

    def listing(query: Query) -> Found:
        first: dict[str, Passage] = {}
        for passage in passages:
            if passage.document_id not in first and (query.today is None or holds_on(passage, query.today)):
                first[passage.document_id] = passage
        return Found(Status.NOT_FOUND, DIRECTORY, tuple(Hit(passage, 0.0) for passage in first.values()))

    return listing
