"""Tests of marking what is in doubt among what was found."""

from dataclasses import replace

from unit_builders import hit_of

from clara.knowledge.passages import marked
from clara.knowledge.retriever_chains import warned
from clara.retrieval.passage import Found, Query, Status

FOUND = Found(Status.FOUND, "tier", (hit_of("nie-plazos-01"), hit_of("nie-plazos-02")))


def test_what_is_in_doubt_is_marked_with_its_day() -> None:
    """The fact in doubt carries the day, the other one and the order stay as they were."""
    found = warned(lambda _query: FOUND, lambda: {"nie-plazos-02": "2026-11-20"})(Query("x", "clara"))
    assert [hit.passage.flagged for hit in found.hits] == [None, "2026-11-20"]
    assert found.hits[0] == FOUND.hits[0]
    assert replace(found.hits[1], passage=FOUND.hits[1].passage) == FOUND.hits[1]


def test_without_doubt_the_result_is_the_same_object() -> None:
    """Nothing is copied where nothing is in doubt."""
    assert warned(lambda _query: FOUND, lambda: {"imv-plazos-01": "2026-11-20"})(Query("x", "clara")) is FOUND
    assert marked(FOUND.hits[0].passage, {}) is FOUND.hits[0].passage


def test_doubts_are_asked_for_with_every_question() -> None:
    """A flag that comes while a chain is in use marks the next result."""
    doubts: dict[str, str] = {}
    retrieve = warned(lambda _query: FOUND, lambda: doubts)
    assert retrieve(Query("x", "clara")) is FOUND
    doubts["nie-plazos-01"] = "2026-11-22"
    assert retrieve(Query("x", "clara")).hits[0].passage.flagged == "2026-11-22"
