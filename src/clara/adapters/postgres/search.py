"""The hybrid index: implements retrieval's HybridIndex over PostgreSQL."""

import zlib
from math import ceil
from typing import Any

from pgvector import Vector as PgVector
from sqlalchemy import Engine, Row, text

from clara.adapters.postgres.engine import DatabaseUnavailableError, translated
from clara.adapters.postgres.sql import source
from clara.retrieval.passage import Hit, Passage, Query
from clara.retrieval.ports import IndexUnavailableError, Vector

# Candidates from each leg: 50 + 50 fused gave the measured quality; more only costs time.
POOL = 50
# Passages of the documents that the question is probably about, at most: all of three documents of usual size.
PREFERRED = 200
# The share of the list that one document may fill when others are there.
OF_ONE_DOCUMENT = 0.75


def space_id(corpus: str, model: str) -> int:
    """Name the vector space of a corpus and a model by a number that every process computes alike."""
    return zlib.crc32(f"{corpus}\n{model}".encode())


def as_literal(vector: Vector) -> str:
    """Write a vector as pgvector reads it."""
    return PgVector(list(vector)).to_text()


def storable(text_: str) -> str:
    """Drop what PostgreSQL's text cannot hold: NUL and lone surrogates."""
    return text_.replace("\x00", " ").encode("utf-8", "replace").decode("utf-8")


class PostgresIndex:
    """Searches the vectors of one model and the words of a corpus in one statement."""

    def __init__(self, engine: Engine, model: str, dimensions: int) -> None:
        self._engine = engine
        self._model = model
        self._dimensions = dimensions

    def statement(self, corpus: str) -> str:
        """Give the SQL for one corpus: only two integers of our own vary, every value is a parameter."""
        numbers = {"space_id": str(space_id(corpus, self._model)), "dimensions": str(self._dimensions)}
        sql = source("hybrid")
        for name, number in numbers.items():
            sql = sql.replace(f"{{{name}}}", number)
        return sql

    def search(self, query: Query, vector: Vector) -> list[Hit]:
        """Give the best passages, best first; none for an unknown corpus. Raises IndexUnavailableError."""
        values = {
            "corpus": storable(query.corpus),
            "text": storable(query.text),
            "vector": as_literal(vector),
            "documents": [storable(document) for document in query.documents],
            "document_weights": list(query.documents.values()),
            "section_documents": [storable(document) for document, _ in query.sections],
            "sections": [storable(section) for _, section in query.sections],
            "section_weights": list(query.sections.values()),
            "territories": [storable(territory) for territory in query.territories],
            "preferred": PREFERRED,
            "of_one_document": ceil(query.limit * OF_ONE_DOCUMENT),
            "pool": max(POOL, query.limit),
            "limit": query.limit,
        }
        try:
            with translated(), self._engine.connect() as connection:
                rows = connection.execute(text(self.statement(query.corpus)), values).all()
        except DatabaseUnavailableError as error:
            raise IndexUnavailableError(str(error)) from error
        return [_hit(row) for row in rows]


def _hit(row: Row[Any]) -> Hit:
    passage = Passage(
        id=row.id,
        corpus=row.corpus,
        collection=row.collection,
        document_id=row.document_id,
        section=row.section,
        heading=tuple(row.heading),
        text=row.text,
        language=row.language,
        territory=row.territory,
        metadata=row.metadata,
    )
    return Hit(passage, float(row.score), float(row.cosine or 0.0), float(row.lexical), float(row.coverage))
