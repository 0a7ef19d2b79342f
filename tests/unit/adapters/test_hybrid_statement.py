"""What the hybrid statement sends to PostgreSQL."""

from datetime import date

import pytest
from psycopg._queries import PostgresQuery
from psycopg.adapt import Transformer
from sqlalchemy import create_engine

from clara.adapters.postgres.corpus.index import PostgresIndex, as_literal
from clara.retrieval.passage import Query

VECTOR = [number / 1_000 for number in range(384)]
INDEX = PostgresIndex(create_engine("postgresql+psycopg://"), "words", len(VECTOR))


@pytest.mark.parametrize(
    "query",
    [
        pytest.param(Query("¿cuánto?", "clara", documents={"imv": 1.0}, today=date(2026, 11, 21)), id="legs"),
        pytest.param(Query("¿cuánto?", "clara", territories=("ES", "ES-MD")), id="filtered"),
        pytest.param(Query("¿cuánto?", "clara", exact=True), id="exact"),
    ],
)
def test_the_vector_travels_once(query: Query) -> None:
    """The vector stands several times in the statement and is one of its bound values."""
    compiled = str(INDEX.statement(query).compile(INDEX._engine))
    sent = PostgresQuery(Transformer())
    sent.convert(compiled, INDEX._values(query, VECTOR))
    assert compiled.count("%(vector)s") > 1
    assert [value for value in sent.params or () if value == as_literal(VECTOR).encode()] == [as_literal(VECTOR).encode()]


def test_nothing_of_the_vector_is_lost() -> None:
    """A number of 32 bits is written so that the same number is read."""
    assert as_literal([0.03843175992369652, -0.5, 0.0]) == "[0.0384317599,-0.5,0]"
