"""The hybrid index: implements retrieval's HybridIndex over PostgreSQL."""

import json
import zlib
from dataclasses import dataclass
from functools import cache
from math import ceil
from typing import Any

from sqlalchemy import Engine, Row, TextClause, text

from clara.adapters.postgres.connections import translated
from clara.adapters.postgres.statements import source
from clara.retrieval.names import spoken
from clara.retrieval.passage import Hit, Query, stored_passage
from clara.retrieval.ports import ForeignVectorError, IndexUnavailableError, Vector
from clara.retrieval.profile import Profile

# Postings read before a term counts as frequent. At 100,000 passages and 110 questions, 99.8 % of the ten best by BM25 stay
# among the ten best, in a third of the time.
BUDGET = 10_000
# Passages, best by their rare terms, for which the frequent terms are looked up.
ROUGH = 100
# Passages of the documents that the question is probably about, at most: all of three documents of usual size.
PREFERRED = 200
# The share of the list that one document may fill when others are there.
OF_ONE_DOCUMENT = 0.75
# Hits whose links are followed.
SOURCES = 10

# What of a profile is bound in the statement.
WEIGHTS = ("dense", "lexical", "links", "named", "by_ranks", "by_coverage", "rank_constant")

DISTANCE = "(e.vector::vector({dimensions}) <=> cast(:vector as vector({dimensions})))"


def space_id(corpus: str, model: str) -> int:
    """Name the vector space of a corpus and a model by a number that every process computes alike."""
    return zlib.crc32(f"{corpus}\n{model}".encode())


def as_literal(vector: Vector) -> str:
    """Write a vector as pgvector reads it: nine digits tell every 32-bit float from its neighbours.

    384 numbers take 5,213 bytes and .2 ms; written as 64-bit floats they took 8,015 bytes and .5 ms.
    """
    return f"[{('%.9g,' * len(vector) % tuple(vector))[:-1]}]"


def storable(text_: str) -> str:
    """Drop what PostgreSQL's text cannot hold: NUL and lone surrogates."""
    return text_.replace("\x00", " ").encode("utf-8", "replace").decode("utf-8")


@dataclass(frozen=True, slots=True)
class StatementShape:
    """What the text of the statement depends on. Every value that a person or a caller gives is a parameter."""

    filtered: bool = False
    exact: bool = False
    vectors: bool = False
    dense: bool = False  # nothing but the vectors counts

    def sql(self, space: int, dimensions: int) -> str:
        """Write the statement for one vector space."""
        filtered = f"\n{source('filtered')}" if self.filtered else ""
        parts = {
            "bm25_of_r": source("bm25").replace("{passage}", "r.passage_pk"),
            "bm25_of_u": source("bm25").replace("{passage}", "u.passage_pk"),
            "distance": DISTANCE,
            "space_id": str(space),
            "dimensions": str(dimensions),
            "and_filtered": filtered,
            "join_passages": " join passages p on p.pk = e.passage_pk" if self.filtered else "",
            "and_postings_filtered": f" join passages p on p.pk = o.passage_pk{filtered}" if self.filtered else "",
            "join_named": " join passages p on p.pk = n.passage_pk" if self.filtered else "",
            "exactly": " + 0" if self.exact else "",
            "vector_column": ", v.vector::text as vector" if self.vectors else "",
            "join_vector": f" left join embeddings v on v.space_id = {space} and v.passage_pk = p.pk" if self.vectors else "",
        }
        sql = source("dense" if self.dense else "hybrid")
        for name, part in parts.items():
            sql = sql.replace(f"{{{name}}}", part)
        return sql


@cache
def _statement(shape: StatementShape, space: int, dimensions: int) -> TextClause:
    return text(shape.sql(space, dimensions))


class PostgresIndex:
    """Searches the vectors of one model and the words of a corpus in one statement, weighed by a profile."""

    def __init__(
        self, engine: Engine, model: str, dimensions: int, profile: Profile | None = None, *, vectors: bool = False
    ) -> None:
        self._engine = engine
        self._model = model
        self._dimensions = dimensions
        self._profile = profile or Profile()
        self._vectors = vectors

    def statement(self, query: Query) -> TextClause:
        """Give the SQL for a query: its shape and two integers of our own vary, every value is a parameter."""
        filtered = bool(query.territories or query.collections or query.filters)
        profile = self._profile
        weighed = profile.lexical or profile.links or profile.named or query.documents or query.sections or query.passages
        shape = StatementShape(filtered, query.exact, self._vectors, dense=not weighed)
        return _statement(shape, space_id(query.corpus, self._model), self._dimensions)

    def search(self, query: Query, vector: Vector) -> list[Hit]:
        """Give the best passages, best first; none for an unknown corpus. Raises IndexUnavailableError, ForeignVectorError."""
        if query.model not in {"", self._model}:
            raise ForeignVectorError(f"a vector of {query.model} is not compared with those of {self._model}")
        with translated(IndexUnavailableError), self._engine.connect() as connection:
            rows = connection.execute(self.statement(query), self._values(query, vector)).all()
        return [_hit(row) for row in rows]

    def plan(self, query: Query, vector: Vector) -> list[str]:
        """Run the statement and give PostgreSQL's plan of it, line by line. Raises IndexUnavailableError."""
        explained = f"explain (analyze, buffers, costs off) {self.statement(query).text}"
        with translated(IndexUnavailableError), self._engine.connect() as connection:
            return [str(row[0]) for row in connection.execute(text(explained), self._values(query, vector))]

    def _values(self, query: Query, vector: Vector) -> dict[str, Any]:
        profile = self._profile
        pool = max(profile.pool, query.limit)
        documents = {storable(document): weight for document, weight in query.documents.items()}
        sections = {(storable(document), storable(section)): weight for (document, section), weight in query.sections.items()}
        passages = {storable(name): weight for name, weight in query.passages.items()}
        return {
            "corpus": storable(query.corpus),
            "text": storable(query.text),
            "vector": as_literal(vector),
            "documents": list(documents),
            "document_weights": list(documents.values()),
            "section_documents": [document for document, _ in sections],
            "sections": [section for _, section in sections],
            "section_weights": list(sections.values()),
            "passages": list(passages),
            "passage_weights": list(passages.values()),
            "territories": [storable(territory) for territory in query.territories],
            "collections": [storable(collection) for collection in query.collections],
            "filters": json.dumps({storable(key): [storable(value) for value in of] for key, of in query.filters.items()}),
            "names": [storable(name) for name in spoken(query.text)] if profile.named else [],
            **{name: getattr(profile, name) for name in WEIGHTS},
            "budget": BUDGET,
            # A leg without weight is not asked: a limit of 0 is never executed.
            "rough": max(ROUGH, pool) if profile.lexical else 0,
            "lexical_pool": pool if profile.lexical else 0,
            "dense_pool": pool if profile.dense else 0,
            "sources": SOURCES,
            "preferred": PREFERRED,
            "of_one_document": ceil(query.limit * OF_ONE_DOCUMENT),
            "pool": pool,
            "limit": query.limit,
            "today": None if query.today is None else query.today.isoformat(),
        }


def _hit(row: Row[Any]) -> Hit:
    passage = stored_passage(row._asdict())
    vector = getattr(row, "vector", None)
    return Hit(
        passage,
        float(row.score),
        float(row.cosine or 0.0),
        float(row.lexical),
        None if row.coverage is None else float(row.coverage),
        float(row.linked),
        row.dense_rank,
        row.lexical_rank,
        row.ended,
        tuple(json.loads(vector)) if vector else None,
    )
