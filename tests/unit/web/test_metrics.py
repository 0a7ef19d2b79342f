"""Tests of the counters in Prometheus' format, and of who may read them."""

import hashlib
from collections.abc import Callable

import pytest
from flask import Flask
from flask.testing import FlaskClient
from prometheus_client.parser import text_string_to_metric_families

from clara.retrieval.metrics import Counters, MetricsUnavailableError, RetrievalMetrics
from clara.retrieval.passage import Found, Status
from clara.web.auth import Doorman
from clara.web.metrics import metrics_routes

TOKEN = "a-token-for-tests"
DIGEST = hashlib.sha256(TOKEN.encode()).hexdigest()


def client_of(counters: Callable[[], Counters], token_sha256: str | None = None) -> FlaskClient:
    app = Flask("test")
    app.register_blueprint(metrics_routes(counters, Doorman(token_sha256)))
    return app.test_client()


def counted() -> Counters:
    """Count two retrievals and an error."""
    metrics = RetrievalMetrics()
    metrics.record(Found(Status.FOUND, "pgvector", timings_ms={"embed": 30.0}, trace={"cache": "exact"}), 40.0)
    metrics.record(
        Found(Status.OUTAGE, "directory_fallback", outages=("pgvector",), failures=("Ana García 612345678: no",)), 20_000.0
    )
    metrics.record_error()
    metrics.record_call("writer", "answered", 900.0)
    return metrics.take_fresh()


def unavailable() -> Counters:
    raise MetricsUnavailableError("host=10.0.0.1 is away")


def samples(text: str) -> dict[tuple[str, tuple[str, ...]], float]:
    """Read the samples by name and by the values of their labels, in the order of the labels' names."""
    found = [sample for family in text_string_to_metric_families(text) for sample in family.samples]
    return {(sample.name, tuple(value for _, value in sorted(sample.labels.items()))): sample.value for sample in found}


def test_every_counter_can_be_scraped() -> None:
    """Prometheus' own parser reads the counters with their labels."""
    answer = client_of(counted).get("/metrics")
    read = samples(answer.text)
    assert (answer.status_code, answer.mimetype) == (200, "text/plain")
    assert read["clara_retrievals_total", ("found", "pgvector")] == 1
    assert read["clara_retrievals_total", ("outage", "directory_fallback")] == 1
    assert read["clara_retrievals_total", ("error", "error")] == 1
    assert read["clara_cache_total", ("exact",)] == 1
    assert read["clara_outages_total", ("pgvector",)] == 1
    assert read["clara_model_calls_total", ("answered", "writer")] == 1
    assert read["clara_model_ms_total", ("writer",)] == 900


def test_buckets_are_cumulative_seconds() -> None:
    """Each bucket holds all that is faster, the last everything; sum and count fit."""
    read = samples(client_of(counted).get("/metrics").text)
    name = "clara_retrieval_seconds"
    at = {bound: read[f"{name}_bucket", (bound, "total")] for bound in ("0.025", "0.05", "10.0", "+Inf")}
    assert at == {"0.025": 0, "0.05": 1, "10.0": 1, "+Inf": 2}
    assert read[f"{name}_count", ("total",)] == 2
    assert read[f"{name}_sum", ("total",)] == pytest.approx(20.04)
    assert read[f"{name}_sum", ("embed",)] == pytest.approx(0.03)


def test_nothing_personal() -> None:
    """Whatever a failure said, its label is the name of a part or "other"."""
    text = client_of(counted).get("/metrics").text
    assert "Ana" not in text
    assert samples(text)["clara_failures_total", ("other",)] == 1


def test_before_the_first_retrieval() -> None:
    """Without a count there are families and no samples, and that is a good answer."""
    answer = client_of(dict).get("/metrics")
    assert (answer.status_code, samples(answer.text)) == (200, {})


@pytest.mark.parametrize("token_sha256", [None, DIGEST])
def test_an_outage_is_said_without_details(token_sha256: str | None) -> None:
    """While the counters cannot be read the answer is 503, without the address of the database."""
    answer = client_of(unavailable, token_sha256).get("/metrics", headers={"Authorization": f"Bearer {TOKEN}"})
    assert answer.status_code == 503
    assert "10.0.0.1" not in answer.text


@pytest.mark.parametrize(
    ("caller", "host", "headers", "status"),
    [
        pytest.param("127.0.0.1", "localhost:8000", {}, 200, id="this-machine"),
        pytest.param("127.0.0.1", "127.0.0.1", {}, 200, id="without-port"),
        pytest.param("::1", "[::1]:8000", {}, 200, id="ipv6"),
        pytest.param("192.168.1.9", "localhost:8000", {}, 403, id="another-machine"),
        pytest.param("127.0.0.1", "localhost", {"X-Forwarded-For": "8.8.8.8"}, 403, id="proxy-forwarded-for"),
        pytest.param("127.0.0.1", "localhost", {"Forwarded": "for=8.8.8.8"}, 403, id="proxy-forwarded"),
        pytest.param("127.0.0.1", "clara.example.org", {}, 403, id="tunnel-or-rebinding"),
        pytest.param("127.0.0.1", "localhost.example.org", {}, 403, id="name-that-looks-local"),
        pytest.param("", "localhost", {}, 403, id="caller-unknown"),
    ],
)
def test_without_a_token_only_this_machine_may_read(caller: str, host: str, headers: dict[str, str], status: int) -> None:
    """Without a configured token, only a local program calling a local name is answered."""
    answer = client_of(counted).get("/metrics", headers={"Host": host, **headers}, environ_base={"REMOTE_ADDR": caller})
    assert answer.status_code == status
    assert ("clara_" in answer.text) == (status == 200)


@pytest.mark.parametrize(("sent", "status"), [(None, 401), ("Bearer wrong", 401), (f"Bearer {TOKEN}", 200)])
def test_with_a_token_everybody_needs_it(sent: str | None, status: int) -> None:
    """With a configured token, this machine needs it too."""
    headers = {"Authorization": sent} if sent else {}
    answer = client_of(counted, DIGEST).get("/metrics", headers=headers)
    assert (answer.status_code, answer.headers["Cache-Control"]) == (status, "no-store")
    assert ("WWW-Authenticate" in answer.headers) == (status == 401)
