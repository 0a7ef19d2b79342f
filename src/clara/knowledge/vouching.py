"""Taking what is said of a fact from the catalogue: a wrapper around any retriever, whose index is written by others too."""

from collections.abc import Iterable
from dataclasses import replace

from clara.retrieval.passage import Found, Hit, Passage, Query, Retrieve, Status


def vouched(retrieve: Retrieve, passages: Iterable[Passage]) -> Retrieve:
    """Give every hit as the catalogue has it, with its own scores; leave out what the catalogue does not know.

    When it knows none of the evidence nothing was found, or it is an outage where a part could not be asked.
    """
    known = {passage.id: passage for passage in passages}

    def vouching(query: Query) -> Found:
        found = retrieve(query)
        hits, ended = _known(found.hits, known), _known(found.ended, known)
        if found.status is Status.FOUND and not (hits or ended):
            return replace(found, status=Status.OUTAGE if found.outages else Status.NOT_FOUND, hits=(), ended=())
        return replace(found, hits=hits, ended=ended)

    return vouching


def _known(hits: Iterable[Hit], known: dict[str, Passage]) -> tuple[Hit, ...]:
    """Keep of the row which corpus it stands in: the catalogue does not know under which name it is served."""
    told = ((hit, known[hit.passage.id]) for hit in hits if hit.passage.id in known)
    return tuple(replace(hit, passage=replace(passage, corpus=hit.passage.corpus)) for hit, passage in told)
