"""The memory of computed vectors: implements retrieval's RememberedEmbeddings, and says what it is good for."""

from collections.abc import Mapping, Sequence
from threading import Lock

from pgvector import Vector as PgVector
from sqlalchemy import Engine, func, select

from clara.adapters.postgres.connections import translated
from clara.adapters.postgres.corpus.index import as_literal
from clara.adapters.postgres.schema import embedding_memory_totals as totals
from clara.adapters.postgres.schema import remembered_embeddings as remembered
from clara.adapters.postgres.sql import statement
from clara.retrieval.embedding_memory import Computed, EmbeddingMemoryUnavailableError, MemoryStatistics, Used, Vector32

# DevMatrix keeps a vector for 30 days and drops a tenth of them when it is full. It holds 10,000; a corpus of 100,000 passages
# must fit twice, or re-reading it drops what comes next. A vector of 384 dimensions takes 2.4 kB with its indexes, 4.3 kB after
# it was given until the next vacuum: 200,000 take half a gigabyte, at worst a whole one.
LIFETIME_DAYS = 30.0
MAX_ENTRIES = 200_000
KEPT = 0.9
# Looking for what is too old or too much takes 0.3 s among 96,000, as storing four batches does: so once for this share.
CHECKED_EVERY = 0.01
DAY = 86_400
MOST_USED = 10
SHOWN_DIGITS = 12


class PostgresEmbeddingMemory:
    """Keeps vectors as pgvector's float32, each for `lifetime_days`, at most `max_entries` and one hundredth of that."""

    def __init__(self, engine: Engine, *, lifetime_days: float = LIFETIME_DAYS, max_entries: int = MAX_ENTRIES) -> None:
        self._engine = engine
        self._lifetime = lifetime_days * DAY
        self._max_entries = max_entries
        self._interval = max(1, round(max_entries * CHECKED_EVERY))
        self._unchecked = self._interval  # whoever stores only a little must look too, so the first time counts as due
        self._lock = Lock()

    def get_many(self, model: str, keys: Sequence[str]) -> Mapping[str, Vector32]:
        """Give the vectors that are there and not too old. Raises EmbeddingMemoryUnavailableError."""
        asked = {"model": model, "keys": list(keys), "lifetime": self._lifetime}
        with translated(EmbeddingMemoryUnavailableError), self._engine.begin() as connection:
            rows = connection.execute(statement("recall_embeddings"), asked).all()
        return {row.key: PgVector.from_binary(row.vector).to_numpy() for row in rows}

    def put_many(self, model: str, computed: Mapping[str, Computed]) -> None:
        """Store and commit, then drop what is too old or too much. Raises EmbeddingMemoryUnavailableError."""
        values = {
            "model": model,
            "keys": list(computed),
            "vectors": [as_literal(made.vector.tolist()) for made in computed.values()],
            "milliseconds": [made.milliseconds for made in computed.values()],
        }
        with translated(EmbeddingMemoryUnavailableError), self._engine.begin() as connection:
            connection.execute(statement("store_embeddings"), values)
        if self._due(len(computed)):
            self._drop()

    def statistics(self) -> MemoryStatistics:
        """Give what is held and what was saved, over all models. Raises EmbeddingMemoryUnavailableError."""
        size = func.pg_total_relation_size(remembered.name)
        summed = [func.coalesce(func.sum(column), 0) for column in (totals.c.hits, totals.c.misses, totals.c.saved_ms)]
        most = (
            select(remembered.c.key, remembered.c.model, remembered.c.uses)
            .where(remembered.c.uses > 0)
            .order_by(remembered.c.uses.desc(), remembered.c.key)
            .limit(MOST_USED)
        )
        with translated(EmbeddingMemoryUnavailableError), self._engine.connect() as connection:
            entries, oldest, disk = connection.execute(select(func.count(), func.min(remembered.c.created_at), size)).one()
            hits, misses, saved = connection.execute(select(*summed)).one()
            used = tuple(Used(row.key[:SHOWN_DIGITS], row.model, row.uses) for row in connection.execute(most))
        return MemoryStatistics(entries, disk, int(hits), int(misses), float(saved), oldest, used)

    def _due(self, stored: int) -> bool:
        with self._lock:
            self._unchecked += stored
            due = self._unchecked >= self._interval
            self._unchecked = 0 if due else self._unchecked
            return due

    def _drop(self) -> None:
        bounds = {"most": self._max_entries, "kept": int(self._max_entries * KEPT)}
        with translated(EmbeddingMemoryUnavailableError), self._engine.begin() as connection:
            connection.execute(statement("expire_embeddings"), {"lifetime": self._lifetime})
            connection.execute(statement("evict_embeddings"), bounds)
