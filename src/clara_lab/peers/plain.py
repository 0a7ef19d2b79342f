"""The peer without a framework: what one writes by hand with psycopg and pgvector, a table, an HNSW index, one statement."""

from collections.abc import Sequence
from typing import Final

import numpy as np
import psycopg
from pgvector.psycopg import register_vector

from clara_lab.bench.dataset import BenchDocument
from clara_lab.bench.peers import Floats, PeerSetting, content_of

INDEX: Final = "create index on documents using hnsw (vector vector_cosine_ops)"
SEARCH: Final = "select id from documents order by vector <=> %s limit %s"


class PlainPeer:
    """Vectors alone, in an HNSW index with pgvector's own defaults."""

    def __init__(self, setting: PeerSetting) -> None:
        self._connection = psycopg.connect(setting.url, autocommit=True)
        self._connection.execute("create extension if not exists vector")
        register_vector(self._connection)
        self._connection.execute(
            f"create table documents (id text primary key, content text not null, vector vector({setting.dimensions:d}))"
        )

    def load(self, documents: Sequence[BenchDocument], vectors: Floats) -> None:
        """Copy all rows in binary, then build the index: the order that pgvector's documentation advises."""
        with (
            self._connection.cursor() as cursor,
            cursor.copy("copy documents (id, content, vector) from stdin with (format binary)") as copy,
        ):
            copy.set_types(["text", "text", "vector"])
            for document, vector in zip(documents, vectors, strict=True):
                copy.write_row((document.id, content_of(document), vector))
        self._connection.execute(INDEX)

    def search(self, text: str, vector: Sequence[float], limit: int) -> list[str]:
        """Give the nearest documents."""
        del text
        found = self._connection.execute(SEARCH, (np.asarray(vector, np.float32), limit))
        return [str(name) for (name,) in found]

    def close(self) -> None:
        """Close the connection."""
        self._connection.close()
