"""Tests of the operator's figures, and of the token in front of them."""

import hashlib
from collections.abc import Callable
from dataclasses import fields
from datetime import UTC, datetime

import pytest
from flask import Flask
from flask.testing import FlaskClient
from structlog.testing import capture_logs

from clara.answering.privacy.rights import Rated, Satisfaction
from clara.delivery.ports import StoreUnavailableError
from clara.retrieval.embedding_memory import EmbeddingMemoryUnavailableError, MemoryStatistics, Used
from clara.retrieval.metrics import Counters, MetricsUnavailableError, Series
from clara.web.admin import AdminDesk, admin_routes
from clara.web.auth import Doorman

TOKEN = "a-token-for-tests"
DIGEST = hashlib.sha256(TOKEN.encode()).hexdigest()
RIGHT = {"Authorization": f"Bearer {TOKEN}"}
MEMORY = MemoryStatistics(2, 8192, 3, 1, 900.0, datetime(2026, 11, 1, tzinfo=UTC), (Used("0123456789ab", "m", 3),))
COUNTERS = {Series("retrievals", ("pgvector", "found")): 3.0, Series("cache", ("semantic",)): 1.0}


def desk(**changed: object) -> AdminDesk:
    """A desk on which nothing may be touched but what is given."""
    untouched = {field.name: _untouched for field in fields(AdminDesk)}
    return AdminDesk(**untouched | {"record": lambda *_act: None, "reviewing": None} | changed)


def _untouched(*_asked: object) -> object:
    raise AssertionError


def client_of(
    counters: Callable[[], Counters] = lambda: COUNTERS,
    memory: Callable[[], MemoryStatistics] = lambda: MEMORY,
    token_sha256: str = DIGEST,
    satisfaction: Callable[[int], Satisfaction] = lambda days: Satisfaction(days, Rated(days, 3, 1, 0), {"language": {}}),
) -> FlaskClient:
    app = Flask("test")
    app.register_blueprint(
        admin_routes(Doorman(token_sha256), desk(counters=counters, memory=memory, satisfaction=satisfaction))
    )
    return app.test_client()


def test_figures() -> None:
    """Whoever has the token reads counters, rates, latencies and what the embedding memory is good for."""
    figures = client_of().get("/admin/rag-metrics", headers=RIGHT).json
    assert figures["retrieval"]["tiers"] == {"pgvector": 3}
    assert figures["retrieval"]["rates"] == {"found": 1.0, "cache_hit": 0.3333}
    assert figures["embedding_memory"] == {
        "entries": 2,
        "bytes_on_disk": 8192,
        "hits": 3,
        "misses": 1,
        "hit_rate": 0.75,
        "saved_ms": 900.0,
        "oldest": "2026-11-01T00:00:00+00:00",
        "most_used": [{"digest": "0123456789ab", "model": "m", "uses": 3}],
    }


def test_satisfaction() -> None:
    """Whoever has the token reads how answers were rated in the last week and month; strangers read nothing."""
    figures = client_of().get("/admin/satisfaction", headers=RIGHT).json
    assert [(span["days"], span["total"]["answers"], span["total"]["helpful_share"]) for span in figures["spans"]] == [
        (7, 7, 0.75), (30, 30, 0.75),
    ]  # fmt: skip
    assert client_of().get("/admin/satisfaction").status_code == 401

    def out(_days: int) -> Satisfaction:
        raise StoreUnavailableError("away")

    assert client_of(satisfaction=out).get("/admin/satisfaction", headers=RIGHT).status_code == 503


@pytest.mark.parametrize(
    "sent",
    [
        pytest.param(None, id="none"),
        pytest.param("", id="empty"),
        pytest.param("Bearer", id="scheme-only"),
        pytest.param("Bearer wrong", id="wrong"),
        pytest.param(f"Bearer {TOKEN}x", id="longer"),
        pytest.param(f"Bearer {TOKEN[:-1]}", id="shorter"),
        pytest.param(f"Bearer {DIGEST}", id="the-digest-itself"),
        pytest.param(f"Basic {TOKEN}", id="other-scheme"),
        pytest.param(TOKEN, id="no-scheme"),
        pytest.param("Bearer ñandú", id="not-ascii"),
    ],
)
def test_nobody_else(sent: str | None) -> None:
    """Anything but the token in the header is answered 401, with how to ask and without a figure, and is never kept."""
    headers = {} if sent is None else {"Authorization": sent}
    with capture_logs() as logs:
        answer = client_of().get("/admin/rag-metrics", headers=headers)
    assert answer.status_code == 401
    assert answer.headers["WWW-Authenticate"] == 'Bearer realm="clara"'
    assert answer.headers["Cache-Control"] == "no-store"
    assert "pgvector" not in answer.text
    assert TOKEN not in str(logs)


def test_not_in_the_address() -> None:
    """A token in the query string, where logs and histories keep it, opens nothing."""
    client = client_of()
    for name in ("token", "access_token", "authorization"):
        assert client.get(f"/admin/rag-metrics?{name}={TOKEN}").status_code == 401


@pytest.mark.parametrize("header", [f"bearer {TOKEN}", f"Bearer  {TOKEN} "])
def test_scheme_and_blanks_as_http_has_them(header: str) -> None:
    """The scheme's case and blanks around the token do not matter, nor the case of the configured digest."""
    assert client_of().get("/admin/rag-metrics", headers={"Authorization": header}).status_code == 200
    assert client_of(token_sha256=DIGEST.upper()).get("/admin/rag-metrics", headers=RIGHT).status_code == 200


def test_the_answer_is_not_kept() -> None:
    """No cache may keep the figures."""
    assert client_of().get("/admin/rag-metrics", headers=RIGHT).headers["Cache-Control"] == "no-store"


def test_reading_only() -> None:
    """Nothing can be written here."""
    assert client_of().post("/admin/rag-metrics", headers=RIGHT).status_code == 405


@pytest.mark.parametrize("out", [MetricsUnavailableError("host=10.0.0.1"), EmbeddingMemoryUnavailableError("host=10.0.0.1")])
def test_outage(out: Exception) -> None:
    """While the figures cannot be read the answer is 503, without the address of the database."""

    def away() -> object:
        raise out

    client = client_of(counters=away) if isinstance(out, MetricsUnavailableError) else client_of(memory=away)
    answer = client.get("/admin/rag-metrics", headers=RIGHT)
    assert answer.status_code == 503
    assert "10.0.0.1" not in answer.text
