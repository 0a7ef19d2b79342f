"""Tests of counting what retrieval does."""

import json
from threading import Barrier, Thread
from types import MappingProxyType

import pytest
from unit_builders import hit_of

from clara.retrieval.metrics import Counters, MetricsUnavailableError, RetrievalMetrics, Series, hand_on, measured, summary
from clara.retrieval.passage import Found, Query, Status
from clara.retrieval.ports import IndexUnavailableError

QUERY = Query("¿cuánto tarda?", "clara")
SERVED = Found(Status.FOUND, "pgvector")


class SummingStore:
    """A store of counters that sums in memory, and can be out."""

    def __init__(self) -> None:
        self.held: dict[Series, float] = {}
        self.down = False

    def add(self, counted: Counters) -> None:
        if self.down:
            raise MetricsUnavailableError("down")
        for series, value in counted.items():
            self.held[series] = self.held.get(series, 0.0) + value

    def read(self) -> Counters:
        return MappingProxyType(self.held)


def counted(*outcomes: Found) -> dict[str, object]:
    """Count these outcomes, one millisecond each, and give the snapshot."""
    metrics = RetrievalMetrics()
    for found in outcomes:
        metrics.record(found, 1.0)
    return summary(metrics._fresh)


def test_nothing_changes() -> None:
    """Measuring hands the question and the outcome on as they are."""
    found = Found(Status.FOUND, "pgvector", (hit_of(),), timings_ms={"embed": 1.0})
    seen: list[Query] = []

    def retrieve(query: Query) -> Found:
        seen.append(query)
        return found

    assert measured(retrieve, RetrievalMetrics())(QUERY) is found
    assert seen == [QUERY]


def test_calls_of_models_are_counted_by_part_and_outcome() -> None:
    """Only answered calls add to the milliseconds; a name that is no name of the program counts as other."""
    metrics = RetrievalMetrics()
    for outcome, milliseconds in (("answered", 900.0), ("answered", 600.0), ("failed", 8_000.0)):
        metrics.record_call("writer", outcome, milliseconds)
    metrics.record_call("Ana García 612345678", "answered", 1.0)
    assert summary(metrics._fresh)["model_calls"] == {"other": {"answered": 1}, "writer": {"answered": 2, "failed": 1}}
    assert metrics.take_fresh()[Series("model_ms", ("writer",))] == 1_500.0


def test_starts_at_zero() -> None:
    """Before the first retrieval every count is empty, and every rate and the mean are 0."""
    assert summary(RetrievalMetrics().take_fresh()) == {
        "retrievals": 0,
        "tiers": {},
        "statuses": {},
        "refusals": 0,
        "relaxed": 0,
        "outages": {},
        "failures": {},
        "cache": {},
        "cache_events": {},
        "model_calls": {},
        "rates": {"found": 0.0, "cache_hit": 0.0},
        "mean_ms": 0.0,
        "stages": {},
    }


def test_what_the_cache_did_is_counted() -> None:
    """Each event of the cache has a counter of its own."""
    metrics = RetrievalMetrics()
    for event in ("damaged", "bypassed", "damaged"):
        metrics.record_cache(event)
    assert summary(metrics._fresh)["cache_events"] == {"damaged": 2, "bypassed": 1}


def test_tiers_statuses_and_outages() -> None:
    """Tiers, statuses and outages are each counted, whichever came together."""
    metrics = RetrievalMetrics()
    for found in (
        SERVED,
        Found(Status.FOUND, "json_fallback", outages=("pgvector",)),
        Found(Status.OUTAGE, "directory_fallback", outages=("pgvector", "json_fallback")),
        Found(Status.NOT_FOUND, "directory_fallback"),
    ):
        measured(lambda _query, found=found: found, metrics)(QUERY)
    snapshot = summary(metrics._fresh)
    assert snapshot["retrievals"] == 4
    assert snapshot["tiers"] == {"pgvector": 1, "json_fallback": 1, "directory_fallback": 2}
    assert snapshot["statuses"] == {"found": 2, "outage": 1, "not_found": 1}
    assert snapshot["outages"] == {"pgvector": 2, "json_fallback": 1}
    assert snapshot["rates"] == {"found": 0.5, "cache_hit": 0.0}


@pytest.mark.parametrize(
    ("traced", "layer"),
    [
        pytest.param({"cache": "exact"}, "exact", id="exact"),
        pytest.param({"cache": "semantic"}, "semantic", id="semantic"),
        pytest.param({}, "none", id="absent"),
        pytest.param({"cache": {"what": "was asked"}}, "none", id="something-else"),
    ],
)
def test_layers_of_the_cache(traced: dict[str, object], layer: str) -> None:
    """What the trace says of the cache is counted, nothing but the two layers or none."""
    snapshot = counted(Found(Status.FOUND, "pgvector", trace=traced), SERVED, SERVED, SERVED)
    assert snapshot["cache"] == ({"none": 4} if layer == "none" else {layer: 1, "none": 3})
    assert snapshot["rates"]["cache_hit"] == (0.0 if layer == "none" else 0.25)


def test_refusals_are_misses_that_were_judged() -> None:
    """A miss with a confidence is a refusal; a miss without evidence, an outage and a hit are not."""
    snapshot = counted(
        Found(Status.NOT_FOUND, "directory_fallback", confidence=0.1),
        Found(Status.NOT_FOUND, "directory_fallback"),
        Found(Status.OUTAGE, "directory_fallback", confidence=0.1),
        Found(Status.FOUND, "pgvector", confidence=0.9),
    )
    assert snapshot["refusals"] == 1


def test_relaxed_retrievals() -> None:
    """A retrieval counts once, however many of its collections lowered their threshold."""
    assert counted(Found(Status.FOUND, "pgvector", relaxed={"a": 0.4, "b": 0.3}), SERVED)["relaxed"] == 1


@pytest.mark.parametrize(
    ("failure", "part"),
    [
        pytest.param("gemini: 429 quota", "gemini", id="name-and-reason"),
        pytest.param("rerank-heuristic", "rerank-heuristic", id="name-only"),
        pytest.param("Ana García, 612 345 678: no", "other", id="a-persons-text"),
        pytest.param("", "other", id="empty"),
        pytest.param("x" * 41, "other", id="too-long"),
        pytest.param('a"} 1\nb: no', "other", id="forged-line"),
    ],
)
def test_failures_count_by_part_and_say_nothing_else(failure: str, part: str) -> None:
    """A failure counts under the name before the colon; what is no name of a part is "other"."""
    assert counted(Found(Status.FOUND, "pgvector", failures=(failure,)))["failures"] == {part: 1}


def test_stages() -> None:
    """Each stage and the whole have a count, a mean, and quantiles within the bucket that holds them."""
    metrics = RetrievalMetrics()
    for embed in (*[30.0] * 18, 600.0, 700.0):
        metrics.record(Found(Status.FOUND, "pgvector", timings_ms={"embed": embed}), embed + 10)
    stages = summary(metrics._fresh)["stages"]
    assert stages["embed"]["count"] == stages["total"]["count"] == 20
    assert stages["embed"]["mean_ms"] == pytest.approx((18 * 30 + 600 + 700) / 20)
    assert 25 < stages["embed"]["p50_ms"] <= 50
    assert 500 < stages["embed"]["p95_ms"] <= 1000
    assert summary(metrics._fresh)["mean_ms"] == pytest.approx(stages["embed"]["mean_ms"] + 10)


def test_snapshot_is_json() -> None:
    """A snapshot with something of everything can be written as JSON."""
    found = Found(
        Status.NOT_FOUND,
        "directory_fallback",
        outages=("pgvector",),
        failures=("gemini: out",),
        timings_ms={"embed": 1e9},
        confidence=0.2,
        relaxed={"a": 0.3},
        trace={"cache": "exact"},
    )
    snapshot = counted(found)
    assert json.loads(json.dumps(snapshot, allow_nan=False)) == snapshot


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
    snapshot = summary(metrics._fresh)
    assert (snapshot["tiers"], snapshot["retrievals"], snapshot["statuses"]) == ({"error": 1}, 0, {})


def test_handing_on_adds_what_is_new() -> None:
    """Each handing on adds what was counted since the last."""
    metrics, store = RetrievalMetrics(), SummingStore()
    for _ in range(3):
        metrics.record(SERVED, 4.0)
        hand_on(metrics, store, pytest.fail)
    hand_on(metrics, store, pytest.fail)
    assert store.held[Series("retrievals", ("pgvector", "found"))] == 3
    assert store.held[Series("stage_ms", ("total",))] == 12.0


def test_an_outage_of_the_store_loses_nothing() -> None:
    """What could not be handed on is kept, reported, and handed on with what came after it."""
    metrics, store = RetrievalMetrics(), SummingStore()
    failures: list[MetricsUnavailableError] = []
    metrics.record(SERVED, 1.0)
    store.down = True
    hand_on(metrics, store, failures.append)
    assert (len(failures), store.held) == (1, {})
    metrics.record(SERVED, 1.0)
    store.down = False
    hand_on(metrics, store, pytest.fail)
    assert store.held[Series("retrievals", ("pgvector", "found"))] == 2


def test_threads() -> None:
    """Counting and handing on from many threads at once loses nothing and counts nothing twice."""
    metrics, store, start = RetrievalMetrics(), SummingStore(), Barrier(8)
    handed: list[Counters] = []
    found = Found(Status.FOUND, "pgvector", outages=("other",))

    def work() -> None:
        start.wait()
        for number in range(200):
            metrics.record(found, 1.0)
            if number % 10 == 0:
                handed.append(metrics.take_fresh())

    threads = [Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for part in (*handed, metrics.take_fresh()):
        store.add(part)
    snapshot = summary(store.held)
    assert (snapshot["retrievals"], snapshot["outages"], snapshot["mean_ms"]) == (1600, {"other": 1600}, 1.0)
    assert store.held[Series("outages", ("other",))] == 1600
