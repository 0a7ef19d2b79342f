"""The counters of all processes in one table: implements retrieval's MetricsStore."""

from sqlalchemy import Engine, select
from sqlalchemy.dialects.postgresql import insert as upsert

from clara.adapters.postgres.connections import translated
from clara.adapters.postgres.schema import rag_metrics
from clara.retrieval.metrics import Counters, MetricsUnavailableError, Series


class PostgresMetrics:
    """Adds increments to rows, so that a restart takes nothing back and a dashboard sees one series."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def add(self, counted: Counters) -> None:
        """Add to the counters in one transaction. Raises MetricsUnavailableError."""
        if not counted:
            return
        # Everybody locks the rows in the same order, so that two processes never wait for each other in a circle.
        rows = [{"name": series.name, "labels": list(series.labels), "value": counted[series]} for series in sorted(counted)]
        added = upsert(rag_metrics)
        summed = added.on_conflict_do_update(
            index_elements=[rag_metrics.c.name, rag_metrics.c.labels],
            set_={"value": rag_metrics.c.value + added.excluded.value},
        )
        with translated(MetricsUnavailableError), self._engine.begin() as connection:
            connection.execute(summed, rows)

    def read(self) -> Counters:
        """Give every counter. Raises MetricsUnavailableError."""
        with translated(MetricsUnavailableError), self._engine.connect() as connection:
            return {Series(row.name, tuple(row.labels)): row.value for row in connection.execute(select(rag_metrics))}
