"""The store that ingestion writes to: passages and their vectors, changed together in one transaction."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Final

from sqlalchemy import ColumnElement, Connection, Engine, and_, delete, func, insert, select, text, update
from sqlalchemy.dialects.postgresql import insert as upsert
from sqlalchemy.exc import DBAPIError

from clara.adapters.postgres.connections import translated
from clara.adapters.postgres.corpus.index import space_id, storable
from clara.adapters.postgres.corpus.spaces import ensure_space, index_space, lock_corpus
from clara.adapters.postgres.editorial.evidence import record_evidence
from clara.adapters.postgres.schema import corpora, embeddings, links, names, passages, vector_spaces
from clara.adapters.postgres.sql import statement
from clara.errors import NotFound
from clara.ingestion.ports import (
    BusyDocumentError,
    CorpusChange,
    CorpusUnavailableError,
    StoredCorpus,
    StoredDigests,
    WrittenPassage,
)
from clara.retrieval.profile import Profile

# Any constant beside those of other locks of two numbers.
DOCUMENT: Final = 5_305_011
# Whoever has the document embeds it meanwhile: the largest norm, 2,600 passages at four a second, takes eleven minutes.
PATIENCE_SECONDS: Final = 1_800
TAKE: Final = text("select pg_advisory_lock(:lock, hashtext(:name))")
# The lock of a machine that vanished without a word goes when the server notices, by default after two hours.
PREPARE: Final = text(
    "select set_config('lock_timeout', :patience, false), set_config('statement_timeout', '0', false), "
    "set_config('tcp_keepalives_idle', '10', false), set_config('tcp_keepalives_interval', '5', false), "
    "set_config('tcp_keepalives_count', '3', false), set_config('application_name', 'clara ingestion', false)"
)
NOT_AVAILABLE: Final = "55P03"


@contextmanager
def alone_with(engine: Engine, corpus: str, document: str, patience_seconds: float = PATIENCE_SECONDS) -> Iterator[None]:
    """Wait until nobody else ingests the document, and keep others waiting while the block runs; ends with the process, too.

    Raises BusyDocumentError, CorpusUnavailableError.
    """
    with translated(CorpusUnavailableError):
        connection = engine.connect().execution_options(isolation_level="AUTOCOMMIT")
    try:
        with translated(CorpusUnavailableError):
            connection.detach()  # the lock is the session's: no other user of the pool may ever get this connection
            connection.execute(PREPARE, {"patience": f"{patience_seconds * 1000:.0f}ms"})
            try:
                connection.execute(TAKE, {"lock": DOCUMENT, "name": f"{corpus}\n{document}"})
            except DBAPIError as error:
                if getattr(error.orig, "sqlstate", None) == NOT_AVAILABLE:
                    raise BusyDocumentError(f"somebody else ingests {document}; look whether that process is alive") from error
                raise
        yield
    finally:
        connection.close()


class UnknownCorpusError(NotFound):
    """There is no corpus of that name. The message says where the names are."""


# After so many new passages the planner is told what the tables hold. Until the server looked by itself, a minute later, a
# question to 15,825 of them took 253 ms instead of 70.
MANY = 1_000
SEARCHED = ("passages", "embeddings", "postings", "lexicon", "names", "links")


class PostgresPassages:
    """Implements ingestion's PassageStore for the vectors of one model.

    Vectors of other models stay with the passages whose text stays; for a text that is new, `clara index build` makes them.
    """

    def __init__(self, engine: Engine, model: str, dimensions: int, profile: Profile | None = None) -> None:
        self.profile = profile or Profile()
        self._engine = engine
        self._model = model
        self._dimensions = dimensions

    def stored(self, corpus: str, document: str | None = None) -> StoredDigests:
        """Give what is there now, of the corpus or of one document. Raises CorpusUnavailableError."""
        meant = _meant(corpus, document)
        with translated(CorpusUnavailableError), self._engine.connect() as connection:
            rows = connection.execute(select(passages.c.id, passages.c.digest).where(meant)).all()
            vectors = connection.execute(
                select(passages.c.id, embeddings.c.digest)
                .join(embeddings, embeddings.c.passage_pk == passages.c.pk)
                .where(meant, embeddings.c.space_id == space_id(corpus, self._model))
            ).all()
            profile = connection.scalar(select(corpora.c.profile).where(corpora.c.name == corpus))
        return StoredDigests({row.id: row.digest for row in rows}, {row.id: row.digest for row in vectors}, profile)

    def vectors(self, corpus: str, ids: Sequence[str]) -> Mapping[str, list[float]]:
        """Give the stored vectors of these passages. Raises CorpusUnavailableError."""
        wanted = (
            select(passages.c.id, embeddings.c.vector)
            .join(embeddings, embeddings.c.passage_pk == passages.c.pk)
            .where(
                passages.c.corpus == corpus,
                passages.c.id.in_(ids),
                embeddings.c.space_id == space_id(corpus, self._model),
            )
        )
        with translated(CorpusUnavailableError), self._engine.connect() as connection:
            return {row.id: row.vector for row in connection.execute(wanted)}

    def apply(self, corpus: str, change: CorpusChange) -> None:
        """Make all changes or none. A passage that changes is deleted and written anew. Raises CorpusUnavailableError."""
        with translated(CorpusUnavailableError), self._engine.begin() as connection:
            connection.execute(text("set local statement_timeout = 0"))
            lock_corpus(connection, corpus)
            made = upsert(corpora).values(name=corpus, profile=self.profile.name)
            connection.execute(made.on_conflict_do_update(index_elements=["name"], set_={"profile": self.profile.name}))
            new = ensure_space(connection, corpus, self._model, self._dimensions)
            # The first model that a corpus is embedded with serves it, until `clara index` says otherwise.
            connection.execute(
                update(corpora).where(corpora.c.name == corpus, corpora.c.model.is_(None)).values(model=self._model)
            )
            meant = _meant(corpus, change.document)
            for ids in _batches(sorted(change.drop)):
                _drop(connection, meant, ids)
            others = self._other_spaces(connection, corpus)
            for items in _batches(change.write):
                kept = _vectors_to_keep(connection, corpus, others, items) if others else []
                _drop(connection, meant, [item.passage.id for item in items])
                keys = self._write(connection, corpus, items)
                if kept:
                    connection.execute(insert(embeddings), [{**row, "passage_pk": keys[row.pop("id")]} for row in kept])
            if new:
                index_space(connection, corpus, self._model, self._dimensions)
            if change.document is None:
                _link(connection, corpus, change.links)
            record_evidence(connection, corpus, {*change.drop, *(item.passage.id for item in change.write)})
            if len(change.write) >= MANY:
                connection.execute(text(f"analyze {', '.join(SEARCHED)}"))

    def _other_spaces(self, connection: Connection, corpus: str) -> Sequence[int]:
        others = select(vector_spaces.c.id).where(vector_spaces.c.corpus == corpus, vector_spaces.c.model != self._model)
        return connection.execute(others).scalars().all()

    def _write(self, connection: Connection, corpus: str, items: Sequence[WrittenPassage]) -> dict[str, int]:
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
                "metadata": item.passage.stored_metadata,
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
        named = [
            {"corpus": corpus, "name": storable(name), "passage_pk": keys[item.passage.id]}
            for item in items
            for name in item.names
        ]
        if named:
            connection.execute(upsert(names).on_conflict_do_nothing(), named)
        return keys

    def corpora(self) -> list[StoredCorpus]:
        """List what is there, by name. Raises CorpusUnavailableError."""
        with translated(CorpusUnavailableError), self._engine.connect() as connection:
            rows = connection.execute(statement("corpora")).all()
        return [
            StoredCorpus(row.name, row.profile, row.passages, row.documents, tuple(row.collections), row.links) for row in rows
        ]

    def profile_of(self, corpus: str) -> str:
        """Give the name of the corpus's profile. Raises UnknownCorpusError, CorpusUnavailableError."""
        with translated(CorpusUnavailableError), self._engine.connect() as connection:
            name = connection.scalar(select(corpora.c.profile).where(corpora.c.name == corpus))
        if name is None:
            raise UnknownCorpusError(f"there is no corpus {corpus!r}; `clara corpus list` names those there are")
        return str(name)

    def sampled_vectors(self, corpus: str, size: int) -> list[list[float]]:
        """Give the vectors of `size` passages at most, always the same ones of a corpus. Raises CorpusUnavailableError."""
        wanted = (
            select(embeddings.c.vector)
            .where(embeddings.c.space_id == space_id(corpus, self._model))
            .order_by(func.md5(embeddings.c.digest), embeddings.c.passage_pk)
            .limit(size)
        )
        with translated(CorpusUnavailableError), self._engine.connect() as connection:
            return list(connection.execute(wanted).scalars())

    def drop(self, corpus: str) -> bool:
        """Remove a corpus with everything made for it; False when there is none. Raises CorpusUnavailableError."""
        with translated(CorpusUnavailableError), self._engine.begin() as connection:
            connection.execute(text("set local statement_timeout = 0"))
            spaces = connection.execute(select(vector_spaces.c.id).where(vector_spaces.c.corpus == corpus)).scalars().all()
            gone = connection.execute(delete(corpora).where(corpora.c.name == corpus).returning(corpora.c.name)).first()
            for number in spaces:
                connection.execute(text(f"drop index if exists hnsw_{int(number)}"))
            record_evidence(connection, corpus)
        return gone is not None


def _meant(corpus: str, document: str | None) -> ColumnElement[bool]:
    """Give the condition for the passages of a corpus, or of one document of it."""
    whole = passages.c.corpus == corpus
    return whole if document is None else and_(whole, passages.c.document_id == document)


def _drop(connection: Connection, meant: ColumnElement[bool], ids: Sequence[str]) -> None:
    connection.execute(delete(passages).where(meant, passages.c.id.in_(ids)))


def _vectors_to_keep(
    connection: Connection, corpus: str, spaces: Sequence[int], items: Sequence[WrittenPassage]
) -> list[dict[str, Any]]:
    """Read the vectors in other spaces that are still of the texts that these passages will have."""
    digests = {item.passage.id: item.vector_digest for item in items}
    held = (
        select(passages.c.id, embeddings.c.space_id, embeddings.c.digest, embeddings.c.vector)
        .join(embeddings, embeddings.c.passage_pk == passages.c.pk)
        .where(passages.c.corpus == corpus, passages.c.id.in_(digests), embeddings.c.space_id.in_(spaces))
    )
    return [dict(row) for row in connection.execute(held).mappings() if row["digest"] == digests[row["id"]]]


def _link(connection: Connection, corpus: str, wanted: Collection[tuple[str, str]]) -> None:
    """Make the corpus's links exactly these."""
    connection.execute(delete(links).where(links.c.source_pk.in_(select(passages.c.pk).where(passages.c.corpus == corpus))))
    for edges in _batches(sorted(wanted), 5000):
        connection.execute(
            statement("link"),
            {"corpus": corpus, "sources": [source for source, _ in edges], "targets": [target for _, target in edges]},
        )


def _batches(items: Iterable[Any], size: int = 500) -> Iterator[list[Any]]:
    listed = list(items)
    for start in range(0, len(listed), size):
        yield listed[start : start + size]
