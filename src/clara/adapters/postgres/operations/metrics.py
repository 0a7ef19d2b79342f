"""The counters of all processes in one table: implements retrieval's MetricsStore."""

import json

from clara.adapters.postgres.statements import Store
from clara.retrieval.metrics import Counters, MetricsUnavailableError, Series


class PostgresMetrics(Store):
    """Adds increments to rows, so that a restart takes nothing back and a dashboard sees one series."""

    unavailable = MetricsUnavailableError

    def add(self, counted: Counters) -> None:
        """Add to the counters in one transaction. Raises MetricsUnavailableError."""
        if not counted:
            return
        # Everybody locks the rows in the same order, so that two processes never wait for each other in a circle.
        rows = [{"name": series.name, "labels": list(series.labels), "value": counted[series]} for series in sorted(counted)]
        self._at_once.changed("metrics.add", rows=json.dumps(rows))

    def read(self) -> Counters:
        """Give every counter. Raises MetricsUnavailableError."""
        return {Series(row.name, tuple(row.labels)): row.value for row in self._at_once.rows("metrics.all")}
