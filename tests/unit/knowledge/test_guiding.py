"""Tests of telling the engine what a question names."""

from typing import Any

import pytest

from clara.knowledge.guiding import guided
from clara.retrieval.passage import Found, Query, Status


@pytest.mark.parametrize(
    ("text", "documents", "sections"),
    [
        pytest.param("¿cuánto cuesta el NIE?", ("nie",), ("cuantias",), id="document-and-section"),
        pytest.param("la TIE o el NIE", ("nie", "tie"), (), id="two-documents-in-order"),
        pytest.param("quiero comer paella", (), (), id="nothing"),
    ],
)
def test_guided(real: Any, text: str, documents: tuple[str, ...], sections: tuple[str, ...]) -> None:
    """The query gets the documents and sections that its text names, and keeps everything else."""
    seen: list[Query] = []
    answer = Found(Status.NOT_FOUND, "t")

    def retrieve(query: Query) -> Found:
        seen.append(query)
        return answer

    assert guided(retrieve, real.named, real.cues)(Query(text, "clara", "fr", 7)) is answer
    assert seen == [Query(text, "clara", "fr", 7, documents, sections)]
