"""The figures of a running Clara: counted in the worker, read in the web process, each by whom they are meant for."""

import hashlib
from collections.abc import Callable, Iterator
from threading import Thread

import pytest
from flask.testing import FlaskClient
from prometheus_client.parser import text_string_to_metric_families
from tests.journeys.talking import until

from clara.container import Container
from clara.processes.worker import build_worker

TOKEN = "a-token-for-tests"
DIGEST = hashlib.sha256(TOKEN.encode()).hexdigest()
RIGHT, WRONG = {"Authorization": f"Bearer {TOKEN}"}, {"Authorization": "Bearer another"}
Opened = Callable[..., Container]
Serve = Callable[[Container], FlaskClient]


@pytest.fixture
def answering(knowledge_url: str, services_on: Opened, serve: Serve) -> Iterator[FlaskClient]:
    """The web application of a local Clara, with a worker that answers."""
    services = services_on(knowledge_url, clara_channel="local", rag_cache_enabled=True)
    worker = build_worker(services)
    thread = Thread(target=worker.run, kwargs={"handle_signals": False})
    thread.start()
    yield serve(services)
    worker.stop()
    thread.join(timeout=15)


def scraped(web: FlaskClient) -> dict[tuple[str, tuple[str, ...]], float]:
    """Read the counters as Prometheus does."""
    answer = web.get("/metrics")
    assert answer.status_code == 200
    read = [sample for family in text_string_to_metric_families(answer.text) for sample in family.samples]
    return {(sample.name, tuple(value for _, value in sorted(sample.labels.items()))): sample.value for sample in read}


def test_what_the_worker_counts_the_web_process_shows(
    answering: FlaskClient, knowledge_url: str, services_on: Opened, serve: Serve
) -> None:
    """After its turns every process shows what was found by which tier, what was remembered, and no word that was said."""
    assert scraped(answering) == {}
    found, everything = ("clara_retrievals_total", ("found", "pgvector")), ("clara_retrieval_seconds_count", ("total",))
    for number, question in enumerate(["¿Cuánto cuesta el NIE?", "¿cuánto cuesta el NIE?"], 1):
        answering.post("/chat/messages", json={"conversation": "c", "text": question})
        until(lambda number=number: scraped(answering).get(found) == number)
    answering.post("/chat/messages", json={"conversation": "c", "text": "¿Quién ganó la liga?"})
    until(lambda: scraped(answering)[everything] == 3)
    read = scraped(answering)
    assert read["clara_cache_total", ("exact",)] == 1
    assert read["clara_refusals_total", ()] == 1
    assert read["clara_retrievals_total", ("not_found", "directory_fallback")] == 1
    assert "liga" not in answering.get("/metrics").text
    elsewhere = serve(services_on(knowledge_url, clara_channel="local"))
    assert scraped(elsewhere) == read
    admin = serve(services_on(knowledge_url, clara_channel="local", clara_admin_token_sha256=DIGEST))
    figures = admin.get("/admin/rag-metrics", headers=RIGHT).json
    assert (figures["retrieval"]["retrievals"], figures["retrieval"]["refusals"]) == (3, 1)
    assert figures["retrieval"]["rates"] == {"found": 0.6667, "cache_hit": 0.3333}
    assert figures["embedding_memory"]["hits"] == 0


@pytest.mark.parametrize(
    ("digest", "headers", "status"),
    [
        pytest.param(None, RIGHT, 404, id="not-configured"),
        pytest.param(DIGEST, {}, 401, id="no-token"),
        pytest.param(DIGEST, WRONG, 401, id="wrong-token"),
        pytest.param(DIGEST, {"Authorization": f"Bearer {DIGEST}"}, 401, id="the-digest-itself"),
        pytest.param(DIGEST, RIGHT, 200, id="right-token"),
        pytest.param(DIGEST.upper(), RIGHT, 200, id="digest-in-capitals"),
    ],
)
def test_who_may_read_the_figures(
    empty_url: str, services_on: Opened, serve: Serve, digest: str | None, headers: dict[str, str], status: int
) -> None:
    """Without a digest there is no such address; with one, only its token opens it."""
    web = serve(services_on(empty_url, clara_channel="local", clara_admin_token_sha256=digest))
    answer = web.get("/admin/rag-metrics", headers=headers)
    assert answer.status_code == status
    assert ("retrieval" in answer.text) is (status == 200)
    assert web.get("/metrics", headers=headers).status_code == (200 if digest is None else status)


def test_without_a_database_there_are_no_figures(services_on: Opened, serve: Serve) -> None:
    """503 in words, without the address of what is away."""
    away = services_on("postgresql://clara@127.0.0.1:1/secret", clara_channel="local", clara_admin_token_sha256=DIGEST)
    web = serve(away)
    for address in ("/metrics", "/admin/rag-metrics"):
        answer = web.get(address, headers=RIGHT)
        assert (answer.status_code, "secret" in answer.text, "127.0.0.1" in answer.text) == (503, False, False)
