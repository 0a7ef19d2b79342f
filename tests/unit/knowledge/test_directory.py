"""Tests of the last tier."""

from typing import Any

import pytest
from unit_builders import passage_of

from clara.knowledge.keyword_tier import DIRECTORY, directory
from clara.retrieval.passage import Query, Status


@pytest.mark.parametrize("text", [pytest.param("el NIE", id="named"), pytest.param("", id="empty")])
def test_listing(text: str) -> None:
    """Whatever is asked, each procedure is listed once, with its first passage, and nothing claims to be an answer."""
    passages = [passage_of(name) for name in ("nie-identidad-01", "nie-plazos-01", "tie-plazos-01", "nie-plazos-02")]
    found = directory(passages)(Query(text, "clara"))
    assert (found.status, found.tier) == (Status.NOT_FOUND, DIRECTORY)
    assert [(hit.passage.id, hit.score) for hit in found.hits] == [("nie-identidad-01", 0.0), ("tie-plazos-01", 0.0)]


def test_nothing_known() -> None:
    """Without any passage the directory is empty and still a miss."""
    found = directory([])(Query("el NIE", "clara"))
    assert (found.status, found.hits) == (Status.NOT_FOUND, ())


def test_real_directory(real: Any) -> None:
    """On the real data the directory has all procedures, in order."""
    found = directory(real.passages)(Query("", "clara"))
    assert [hit.passage.document_id for hit in found.hits] == sorted(real.catalogue.procedures)
