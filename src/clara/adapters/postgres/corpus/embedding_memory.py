"""The memory of computed vectors: implements retrieval's RememberedEmbeddings, and says what it is good for."""

from collections.abc import Mapping, Sequence
from threading import Lock

from pgvector import Vector as PgVector
from sqlalchemy import Engine

from clara.adapters.postgres.corpus.index import as_literal
from clara.adapters.postgres.statements import AtOnce, made
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
        self._at_once = AtOnce(engine, EmbeddingMemoryUnavailableError)
        self._lifetime = lifetime_days * DAY
        self._max_entries = max_entries
        self._interval = max(1, round(max_entries * CHECKED_EVERY))
        self._unchecked = self._interval  # whoever stores only a little must look too, so the first time counts as due
        self._lock = Lock()

    def get_many(self, model: str, keys: Sequence[str]) -> Mapping[str, Vector32]:
        """Give the vectors that are there and not too old. Raises EmbeddingMemoryUnavailableError."""
        rows = self._at_once.rows("recall_embeddings", model=model, keys=list(keys), lifetime=self._lifetime)
        return {row.key: PgVector.from_binary(row.vector).to_numpy() for row in rows}

    def put_many(self, model: str, computed: Mapping[str, Computed]) -> None:
        """Store and commit, then drop what is too old or too much. Raises EmbeddingMemoryUnavailableError."""
        vectors = [as_literal(one.vector.tolist()) for one in computed.values()]
        milliseconds = [one.milliseconds for one in computed.values()]
        self._at_once.changed("store_embeddings", model=model, keys=list(computed), vectors=vectors, milliseconds=milliseconds)
        with self._lock:
            self._unchecked += len(computed)
            due = self._unchecked >= self._interval
            self._unchecked = 0 if due else self._unchecked
        if due:
            with self._at_once.transaction() as together:
                together.changed("expire_embeddings", lifetime=self._lifetime)
                together.changed("evict_embeddings", most=self._max_entries, kept=int(self._max_entries * KEPT))

    def statistics(self) -> MemoryStatistics:
        """Give what is held and what was saved, over all models. Raises EmbeddingMemoryUnavailableError."""
        with self._at_once.transaction() as together:
            size, totals = together.row("embedding.size"), together.row("embedding.totals")
            used = together.read(Used, "embedding.most_used", digits=SHOWN_DIGITS, limit=MOST_USED)
        return made(MemoryStatistics, size, **totals._asdict(), most_used=tuple(used))
