"""Searching by vectors alone takes a statement of its own, which gives what the hybrid one would."""

import random
from dataclasses import replace

import pytest
from sqlalchemy import Engine
from tests.integration.test_engine_search import RandomEmbedder, engine, page

from clara.adapters.postgres.corpus.index import PostgresIndex
from clara.adapters.postgres.corpus.passages import PostgresPassages
from clara.ingestion.journey import ingest
from clara.retrieval.passage import Hit, Query
from clara.retrieval.profile import Profile

__all__ = ["engine"]

ALONE = Profile("prose", dense=1.0, lexical=0.0, language="en")
# A preference for a document that is not there changes nothing but the statement that is taken.
NOWHERE = {"nowhere": 1.0}


@pytest.fixture
def pages(engine: Engine) -> RandomEmbedder:
    """Passages of 40 documents, some alike, some in another collection."""
    dice, embedder = random.Random(7), RandomEmbedder()
    made = [
        page(f"p{number:03}", "", f"text {dice.randrange(200)}", document_id=f"d{number % 40}", collection=f"c{number % 3}")
        for number in range(300)
    ]
    ingest("wiki", made, PostgresPassages(engine, "random", 16, ALONE), embedder)
    return embedder


def plainly(hits: list[Hit]) -> list[tuple[str, float, float, int | None]]:
    return [(hit.passage.id, round(hit.score, 6), round(hit.cosine or 0.0, 6), hit.dense_rank) for hit in hits]


@pytest.mark.parametrize("limit", [1, 5, 20, 100])
@pytest.mark.parametrize("conditions", [{}, {"collections": ("c1",)}, {"exact": True}])
@pytest.mark.parametrize("by_ranks", [False, True])
def test_both_statements_agree(
    engine: Engine, pages: RandomEmbedder, limit: int, conditions: dict[str, object], by_ranks: bool
) -> None:
    """The same passages, scores and ranks, in the same order, whatever the limit, the filters and the fusion."""
    index = PostgresIndex(engine, "random", 16, replace(ALONE, by_ranks=by_ranks))
    (vector,) = pages.embed(["a question"], "query")
    query = Query("text", "wiki", limit=limit, **{"exact": True, **conditions})
    assert "lexicon" not in index.statement(query).text
    assert "lexicon" in index.statement(replace(query, documents=NOWHERE)).text
    alone, hybrid = index.search(query, vector), index.search(replace(query, documents=NOWHERE), vector)
    assert plainly(alone) == plainly(hybrid)
    assert len(alone) == limit
    assert {hit.coverage for hit in alone} == {None}
