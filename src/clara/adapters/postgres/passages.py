"""The store that ingestion writes to: passages and their vectors, changed together in one transaction."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from sqlalchemy import Connection, Engine, delete, insert, select, text
from sqlalchemy.dialects.postgresql import insert as upsert

from clara.adapters.postgres.engine import DatabaseUnavailableError, translated
from clara.adapters.postgres.schema import corpora, embeddings, passages, vector_spaces
from clara.adapters.postgres.search import space_id, storable
from clara.ingestion.ports import Change, StoredDigests, StoreUnavailableError


class PostgresPassages:
    """Implements ingestion's PassageStore for the vectors of one model."""

    def __init__(self, engine: Engine, model: str, dimensions: int) -> None:
        self._engine = engine
        self._model = model
        self._dimensions = dimensions

    def stored(self, corpus: str) -> StoredDigests:
        """Give what is there now. Raises StoreUnavailableError."""
        with self._outages(), self._engine.connect() as connection:
            rows = connection.execute(select(passages.c.id, passages.c.digest).where(passages.c.corpus == corpus)).all()
            vectors = connection.execute(
                select(passages.c.id, embeddings.c.digest)
                .join(embeddings, embeddings.c.passage_pk == passages.c.pk)
                .where(passages.c.corpus == corpus, embeddings.c.space_id == space_id(corpus, self._model))
            ).all()
        return StoredDigests({row.id: row.digest for row in rows}, {row.id: row.digest for row in vectors})

    def vectors(self, corpus: str, ids: Sequence[str]) -> Mapping[str, list[float]]:
        """Give the stored vectors of these passages. Raises StoreUnavailableError."""
        wanted = (
            select(passages.c.id, embeddings.c.vector)
            .join(embeddings, embeddings.c.passage_pk == passages.c.pk)
            .where(
                passages.c.corpus == corpus,
                passages.c.id.in_(ids),
                embeddings.c.space_id == space_id(corpus, self._model),
            )
        )
        with self._outages(), self._engine.connect() as connection:
            return {row.id: row.vector for row in connection.execute(wanted)}

    def apply(self, corpus: str, change: Change) -> None:
        """Make all changes or none. A passage that changes is deleted and written anew. Raises StoreUnavailableError."""
        with self._outages(), self._engine.begin() as connection:
            connection.execute(text("set local statement_timeout = 0"))
            connection.execute(text("select pg_advisory_xact_lock(hashtext(:corpus))"), {"corpus": corpus})
            connection.execute(upsert(corpora).values(name=corpus).on_conflict_do_nothing())
            self._ensure_space(connection, corpus)
            gone = sorted(change.drop | {item.passage.id for item in change.write})
            for ids in _batches(gone):
                connection.execute(delete(passages).where(passages.c.corpus == corpus, passages.c.id.in_(ids)))
            for items in _batches(change.write):
                self._write(connection, corpus, items)

    def _write(self, connection: Connection, corpus: str, items: Sequence[Any]) -> None:
        rows = [
            {
                "corpus": corpus,
                "id": item.passage.id,
                "collection": item.passage.collection,
                "document_id": item.passage.document_id,
                "section": item.passage.section,
                "heading": list(item.passage.heading),
                "text": storable(item.passage.text),
                "indexed_text": storable(item.passage.indexed_text),
                "language": item.passage.language,
                "territory": item.passage.territory,
                "digest": item.digest,
                "metadata": dict(item.passage.metadata),
            }
            for item in items
        ]
        made = connection.execute(insert(passages).returning(passages.c.id, passages.c.pk), rows)
        keys = {row.id: row.pk for row in made}
        vectors = [
            {
                "space_id": space_id(corpus, self._model),
                "passage_pk": keys[item.passage.id],
                "digest": item.vector_digest,
                "vector": list(item.vector),
            }
            for item in items
            if any(item.vector)
        ]
        if vectors:
            connection.execute(insert(embeddings), vectors)

    def _ensure_space(self, connection: Connection, corpus: str) -> None:
        number = space_id(corpus, self._model)
        made = connection.execute(
            upsert(vector_spaces)
            .values(id=number, corpus=corpus, model=self._model, dimensions=self._dimensions)
            .on_conflict_do_nothing()
            .returning(vector_spaces.c.id)
        ).first()
        if made:
            connection.execute(
                text(
                    f"create index hnsw_{number} on embeddings "
                    f"using hnsw ((vector::vector({self._dimensions})) vector_cosine_ops) where space_id = {number}"
                )
            )

    @contextmanager
    def _outages(self) -> Iterator[None]:
        try:
            with translated():
                yield
        except DatabaseUnavailableError as error:
            raise StoreUnavailableError(str(error)) from error


def _batches(items: Iterable[Any], size: int = 500) -> Iterator[list[Any]]:
    listed = list(items)
    for start in range(0, len(listed), size):
        yield listed[start : start + size]
