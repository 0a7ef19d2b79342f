"""The vector spaces of corpora: what is embedded for which model, and by which of them a corpus is searched."""

from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from typing import Final

from sqlalchemy import Connection, Engine, select, text
from sqlalchemy.dialects.postgresql import insert as upsert
from sqlalchemy.exc import DBAPIError

from clara.adapters.postgres.connections import translated
from clara.adapters.postgres.corpus.index import as_literal, space_id
from clara.adapters.postgres.schema import vector_spaces
from clara.adapters.postgres.sql import statement
from clara.errors import Refused
from clara.ingestion.ports import LOOKED_AT, CorpusUnavailableError, Space, Unembedded
from clara.retrieval.embedders import is_blank
from clara.retrieval.ports import Vector

# Any constant: one process builds the vectors of a corpus at a time, or both would pay for them.
BUILDING: Final = 5_305_003
# Any other: two that both filled a new space and then made its index would wait for each other's rows.
INDEXING: Final = 5_305_004


class NameTakenError(Refused):
    """The number of the corpus's vector space is that of another corpus, by rare chance. Give the corpus another name."""

    def __init__(self, corpus: str, other: str) -> None:
        super().__init__(f"corpus {corpus} cannot be kept beside {other}: their numbers collide. Give it another name.")


class PostgresSpaces:
    """Fills vector spaces beside the one that serves, and changes over. Every method may raise CorpusUnavailableError."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def spaces(self) -> list[Space]:
        """List every corpus with its spaces, by name and model."""
        with translated(CorpusUnavailableError), self._engine.connect() as connection:
            rows = connection.execute(statement("spaces")).all()
        return [
            Space(row.corpus, row.passages, row.model, row.dimensions or 0, row.vectors, served=_serves(row.served, row.model))
            for row in rows
        ]

    def prepare(self, corpus: str, model: str, dimensions: int) -> None:
        """Make the space of a corpus and a model with its index, unless it is there. Raises NameTakenError."""
        with translated(CorpusUnavailableError), self._engine.begin() as connection:
            connection.execute(text("set local statement_timeout = 0"))
            if ensure_space(connection, corpus, model, dimensions):
                index_space(connection, corpus, model, dimensions)

    def unembedded(self, corpus: str, model: str, after: int, limit: int) -> list[Unembedded]:
        """Give the next passages, beyond the key `after`, that have no vector in the space."""
        asked = {"corpus": corpus, "space_id": space_id(corpus, model), "after": after, "limit": limit}
        with translated(CorpusUnavailableError), self._engine.connect() as connection:
            return [Unembedded(row.pk, row.text) for row in connection.execute(statement("unembedded"), asked)]

    def add(self, corpus: str, model: str, vectors: Mapping[int, Vector]) -> int:
        """Store vectors by the keys of their passages and commit; give how many were new.

        A passage that was dropped or written anew meanwhile is left out, so that no vector is of another text than its own.
        """
        values = {
            "corpus": corpus,
            "space_id": space_id(corpus, model),
            "keys": list(vectors),
            "vectors": [as_literal(vector) for vector in vectors.values()],
        }
        with translated(CorpusUnavailableError), self._engine.begin() as connection:
            return connection.execute(statement("add_vectors"), values).rowcount

    def lacking(self, corpus: str, model: str, blank: Collection[int] = ()) -> int:
        """Count the passages that should have a vector in the space and do not; more than LOOKED_AT are not counted.

        `blank` are the keys of passages that were found to have nothing to embed.
        """
        with translated(CorpusUnavailableError), self._engine.connect() as connection:
            return _lacking(connection, corpus, model, blank)

    def serve(self, corpus: str, model: str, blank: Collection[int] = ()) -> int:
        """Let the corpus be searched by this space from now on, if it lacks nothing; give how many passages it lacks.

        No ingestion can come between looking and changing over. Repeating it changes nothing. The space must be there.
        """
        with translated(CorpusUnavailableError), self._engine.begin() as connection:
            connection.execute(text("set local statement_timeout = 0"))
            lock_corpus(connection, corpus)
            lacking = _lacking(connection, corpus, model, blank)
            if not lacking:
                connection.execute(statement("serve"), {"corpus": corpus, "model": model})
        return lacking

    @contextmanager
    def building(self, corpus: str) -> Iterator[bool]:
        """Be the only one who builds vectors for the corpus; False when somebody else is. Ends with the process, too."""
        key = {"building": BUILDING, "corpus": corpus}
        with translated(CorpusUnavailableError), self._engine.connect() as connection:
            connection.execution_options(isolation_level="AUTOCOMMIT")
            alone = bool(connection.scalar(text("select pg_try_advisory_lock(:building, hashtext(:corpus))"), key))
            try:
                yield alone
            finally:
                _release(connection, key)


def ensure_space(connection: Connection, corpus: str, model: str, dimensions: int) -> bool:
    """Make the space in the caller's transaction; False when it is there. A new one wants an index. Raises NameTakenError."""
    number = space_id(corpus, model)
    made = connection.execute(
        upsert(vector_spaces)
        .values(id=number, corpus=corpus, model=model, dimensions=dimensions)
        .on_conflict_do_nothing()
        .returning(vector_spaces.c.id)
    ).first()
    if not made:
        held = connection.execute(select(vector_spaces).where(vector_spaces.c.id == number)).one()
        if (held.corpus, held.model) != (corpus, model):
            raise NameTakenError(corpus, held.corpus)
        return False
    connection.execute(text("select pg_advisory_xact_lock(:indexing)"), {"indexing": INDEXING})
    return True


def index_space(connection: Connection, corpus: str, model: str, dimensions: int) -> None:
    """Make the index of a space, of whatever the space holds: filled first, it takes a fraction of the time."""
    number = space_id(corpus, model)
    connection.execute(
        text(
            f"create index hnsw_{number} on embeddings "
            f"using hnsw ((vector::vector({int(dimensions)})) vector_cosine_ops) where space_id = {number}"
        )
    )


def lock_corpus(connection: Connection, corpus: str) -> None:
    """Be the only one who changes the corpus, until the transaction ends."""
    connection.execute(text("select pg_advisory_xact_lock(hashtext(:corpus))"), {"corpus": corpus})


def _lacking(connection: Connection, corpus: str, model: str, blank: Collection[int]) -> int:
    asked = {"corpus": corpus, "space_id": space_id(corpus, model), "after": 0, "limit": LOOKED_AT + len(blank)}
    rows = connection.execute(statement("unembedded"), asked)
    return sum(row.pk not in blank and not is_blank(row.text) for row in rows)


def _serves(served: str | None, model: str | None) -> bool:
    return model is not None and served == model


def _release(connection: Connection, key: Mapping[str, object]) -> None:
    try:
        connection.execute(text("select pg_advisory_unlock(:building, hashtext(:corpus))"), key)
    except DBAPIError:
        connection.invalidate()  # the server that held the lock is gone, and the lock with it
