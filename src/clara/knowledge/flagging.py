"""Marking facts that may not be true any more: a wrapper around any retriever, so that whoever writes warns of them."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Final

from clara.retrieval.passage import Found, Passage, Query, Retrieve

# The field of a passage's metadata that says since when it is in doubt.
FLAGGED: Final = "flagged"
# The day on which each fact was found to be in doubt, by fact id.
Flagged = Callable[[], Mapping[str, str]]


def warned(retrieve: Retrieve, flagged: Flagged) -> Retrieve:
    """Mark what is in doubt among what was found. Nothing is left out for it: a doubtful fact with its source is of use.

    It stands around whatever remembers results, because a flag is younger than they are.
    """

    def marking(query: Query) -> Found:
        found = retrieve(query)
        doubts = flagged()
        if not any(hit.passage.id in doubts for hit in found.known):
            return found
        hits, ended = (
            tuple(replace(hit, passage=marked(hit.passage, doubts)) for hit in part) for part in (found.hits, found.ended)
        )
        return replace(found, hits=hits, ended=ended)

    return marking


def marked(passage: Passage, doubts: Mapping[str, str]) -> Passage:
    """Give a passage with the day since which it is in doubt, the same one when it is not."""
    since = doubts.get(passage.id)
    return replace(passage, metadata={**passage.metadata, FLAGGED: since}) if since else passage
