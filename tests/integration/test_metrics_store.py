"""The counters of several processes in one table, from counting to Prometheus."""

from collections.abc import Iterator
from threading import Barrier, Thread

import pytest
from flask import Flask
from sqlalchemy import Engine

from clara.adapters.postgres.connections import open_engine
from clara.adapters.postgres.operations.metrics import PostgresMetrics
from clara.retrieval.metrics import MetricsUnavailableError, RetrievalMetrics, Series, hand_on
from clara.retrieval.passage import Found, Status
from clara.web.auth import Doorman
from clara.web.metrics import metrics_routes

SERVED = Found(Status.FOUND, "pgvector", timings_ms={"embed": 30.0})
RETRIEVALS = Series("retrievals", ("pgvector", "found"))


@pytest.fixture
def engine(empty_url: str) -> Iterator[Engine]:
    made = open_engine(empty_url)
    yield made
    made.dispose()


def test_empty(engine: Engine) -> None:
    """Before the first count there is nothing, and adding nothing leaves it so."""
    store = PostgresMetrics(engine)
    store.add({})
    assert store.read() == {}


def test_increments_add_up(engine: Engine) -> None:
    """Each addition raises the counters it names and creates those it names first; labels tell series apart."""
    store, bare = PostgresMetrics(engine), Series("refusals")
    store.add({RETRIEVALS: 2.0, bare: 1.0})
    store.add({RETRIEVALS: 0.5, Series("retrievals", ("pgvector", "outage")): 1.0})
    assert store.read() == {RETRIEVALS: 2.5, bare: 1.0, Series("retrievals", ("pgvector", "outage")): 1.0}


def test_processes_and_restarts_are_one_series(engine: Engine, empty_url: str) -> None:
    """Two processes and the one that took over from them are one series that a third one serves to Prometheus."""
    for _ in range(3):
        own, metrics = open_engine(empty_url), RetrievalMetrics()
        metrics.record(SERVED, 40.0)
        hand_on(metrics, PostgresMetrics(own), pytest.fail)
        own.dispose()
    app = Flask("test")
    app.register_blueprint(metrics_routes(PostgresMetrics(engine).read, Doorman(None)))
    scraped = app.test_client().get("/metrics").text
    assert 'clara_retrievals_total{status="found",tier="pgvector"} 3.0' in scraped
    assert 'clara_retrieval_seconds_count{stage="embed"} 3.0' in scraped


def test_many_at_once(empty_url: str) -> None:
    """Processes that add the same counters in different orders at the same moment lose nothing and never block for good."""
    names, start = [Series("outages", (f"tier{number}",)) for number in range(20)], Barrier(4)
    faults: list[BaseException] = []

    def work(order: list[Series]) -> None:
        own = open_engine(empty_url)
        start.wait()
        try:
            for _ in range(25):
                PostgresMetrics(own).add(dict.fromkeys(order, 1.0))
        except MetricsUnavailableError as error:
            faults.append(error)
        own.dispose()

    threads = [Thread(target=work, args=(names[::step],)) for step in (1, -1, 1, -1)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    reading = open_engine(empty_url)
    assert PostgresMetrics(reading).read() == dict.fromkeys(names, 100.0)
    assert faults == []
    reading.dispose()


def test_an_outage_keeps_the_counts() -> None:
    """A database that is away raises the error of the port, and the counts stay with the process."""
    away, metrics = open_engine("postgresql://nobody@127.0.0.1:1/none"), RetrievalMetrics()
    metrics.record(SERVED, 40.0)
    failures: list[MetricsUnavailableError] = []
    hand_on(metrics, PostgresMetrics(away), failures.append)
    assert "does not answer" in str(failures[0])
    assert metrics.take_fresh()[RETRIEVALS] == 1
    with pytest.raises(MetricsUnavailableError):
        PostgresMetrics(away).read()
    away.dispose()
