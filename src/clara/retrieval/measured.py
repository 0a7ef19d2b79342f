"""Counting what retrieval does: which tier served, how long it took, what was out."""

from collections import Counter
from threading import Lock
from time import perf_counter

from clara.retrieval.passage import Found, Query, Retrieve


class RetrievalMetrics:
    """Thread-safe counters of one process, kept in memory and read as a snapshot."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._tiers: Counter[str] = Counter()
        self._statuses: Counter[str] = Counter()
        self._outages: Counter[str] = Counter()
        self._milliseconds = 0.0

    def record(self, found: Found, milliseconds: float) -> None:
        """Count one retrieval."""
        with self._lock:
            self._tiers[found.tier] += 1
            self._statuses[found.status.value] += 1
            self._outages.update(found.outages)
            self._milliseconds += milliseconds

    def record_error(self) -> None:
        """Count a retrieval that no tier could serve."""
        with self._lock:
            self._tiers["error"] += 1

    def snapshot(self) -> dict[str, object]:
        """Give the counters since the process started."""
        with self._lock:
            total = sum(self._statuses.values())
            return {
                "retrievals": total,
                "tiers": dict(self._tiers),
                "statuses": dict(self._statuses),
                "outages": dict(self._outages),
                "mean_ms": self._milliseconds / total if total else 0.0,
            }


def measured(retrieve: Retrieve, metrics: RetrievalMetrics) -> Retrieve:
    """Record every retrieval; change nothing."""

    def recording(query: Query) -> Found:
        started = perf_counter()
        try:
            found = retrieve(query)
        except Exception:
            metrics.record_error()
            raise
        metrics.record(found, (perf_counter() - started) * 1000)
        return found

    return recording
