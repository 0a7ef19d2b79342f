"""Tests of counting what retrieval does."""

from threading import Barrier, Thread

import pytest
from unit_builders import hit_of

from clara.retrieval.measured import RetrievalMetrics, measured
from clara.retrieval.passage import Found, Query, Status
from clara.retrieval.ports import IndexUnavailableError

QUERY = Query("¿cuánto tarda?", "clara")


def test_nothing_changes() -> None:
    """Measuring hands the question and the outcome on as they are."""
    found = Found(Status.FOUND, "pgvector", (hit_of(),), timings_ms={"embed": 1.0})
    seen: list[Query] = []

    def retrieve(query: Query) -> Found:
        seen.append(query)
        return found

    assert measured(retrieve, RetrievalMetrics())(QUERY) is found
    assert seen == [QUERY]


def test_starts_at_zero() -> None:
    """Before the first retrieval every count is empty and the mean is 0."""
    expected = {"retrievals": 0, "tiers": {}, "statuses": {}, "outages": {}, "mean_ms": 0.0}
    assert RetrievalMetrics().snapshot() == expected


def test_counts() -> None:
    """Tiers, statuses and outages are each counted."""
    metrics = RetrievalMetrics()
    for found in (
        Found(Status.FOUND, "pgvector"),
        Found(Status.FOUND, "json_fallback", outages=("pgvector",)),
        Found(Status.OUTAGE, "directory_fallback", outages=("pgvector", "json_fallback")),
        Found(Status.NOT_FOUND, "directory_fallback"),
    ):
        measured(lambda _query, found=found: found, metrics)(QUERY)
    counted = metrics.snapshot()
    assert counted["retrievals"] == 4
    assert counted["tiers"] == {"pgvector": 1, "json_fallback": 1, "directory_fallback": 2}
    assert counted["statuses"] == {"found": 2, "outage": 1, "not_found": 1}
    assert counted["outages"] == {"pgvector": 2, "json_fallback": 1}


def test_mean() -> None:
    """The mean is the time of all retrievals divided by their number."""
    metrics = RetrievalMetrics()
    for milliseconds in (1.0, 2.0, 6.0):
        metrics.record(Found(Status.FOUND, "pgvector"), milliseconds)
    assert metrics.snapshot()["mean_ms"] == pytest.approx(3.0)


@pytest.mark.parametrize(
    "error",
    [pytest.param(IndexUnavailableError("gone"), id="outage"), pytest.param(ZeroDivisionError("bug"), id="fault")],
)
def test_errors_are_counted_and_raised(error: Exception) -> None:
    """A retrieval that fails is counted as an error, not as a retrieval, and the error goes on its way."""
    metrics = RetrievalMetrics()

    def broken(_query: Query) -> Found:
        raise error

    with pytest.raises(type(error)):
        measured(broken, metrics)(QUERY)
    counted = metrics.snapshot()
    assert (counted["tiers"], counted["retrievals"], counted["statuses"]) == ({"error": 1}, 0, {})


def test_snapshot_is_a_copy() -> None:
    """What was read once does not change when counting goes on."""
    metrics = RetrievalMetrics()
    metrics.record(Found(Status.FOUND, "pgvector"), 1.0)
    before = metrics.snapshot()
    metrics.record(Found(Status.FOUND, "pgvector"), 1.0)
    assert before["tiers"] == {"pgvector": 1}


def test_threads() -> None:
    """Counting from many threads at once loses nothing."""
    metrics, start = RetrievalMetrics(), Barrier(8)
    found = Found(Status.FOUND, "pgvector", outages=("other",))

    def work() -> None:
        start.wait()
        for _ in range(200):
            metrics.record(found, 1.0)

    threads = [Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    counted = metrics.snapshot()
    assert (counted["retrievals"], counted["outages"], counted["mean_ms"]) == (1600, {"other": 1600}, 1.0)
