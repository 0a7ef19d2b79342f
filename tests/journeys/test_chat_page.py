"""The local channel: the same inbox, job and journey, asked from a page."""

from collections.abc import Callable, Iterator
from pathlib import Path
from threading import Thread
from typing import Any

import pytest
from flask.testing import FlaskClient
from tests.journeys.talking import until

from clara.container import Container
from clara.processes.worker import build_worker

Serve = Callable[[Container], FlaskClient]


@pytest.fixture
def page(knowledge_url: str, services_on: Callable[..., Container], serve: Serve) -> Iterator[FlaskClient]:
    services = services_on(knowledge_url, clara_channel="local")
    worker = build_worker(services)
    thread = Thread(target=worker.run, kwargs={"handle_signals": False})
    thread.start()
    yield serve(services)
    worker.stop()
    thread.join(timeout=15)


def test_a_question_on_the_page_is_answered(page: FlaskClient) -> None:
    """202, then 204 until the worker has answered, then the reply with its direction."""
    taken = page.post("/chat/messages", json={"conversation": "c1", "text": "كيف أحصل على رقم NIE؟"})
    assert taken.status_code == 202
    address = f"/chat/messages/{taken.json['message']}/reply"
    until(lambda: page.get(address).status_code == 200)
    reply: dict[str, Any] = page.get(address).json
    assert (reply["language"], reply["direction"]) == ("ar", "rtl")
    assert "[C1]" in reply["text"]


@pytest.mark.parametrize(
    ("sent", "status"),
    [
        pytest.param({"text": "NIE"}, 400, id="no conversation"),
        pytest.param({"conversation": "c"}, 400, id="no text"),
        pytest.param(["NIE"], 400, id="not an object"),
        pytest.param({"conversation": "c" * 101, "text": "NIE"}, 400, id="long conversation id"),
        pytest.param({"conversation": "c", "text": "x" * 10_001}, 413, id="too long"),
    ],
)
def test_bad_calls_are_refused_in_words(page: FlaskClient, sent: Any, status: int) -> None:
    """Each refusal says what is wrong."""
    answer = page.post("/chat/messages", json=sent)
    assert answer.status_code == status
    assert answer.json["error"]


def test_an_unknown_message_is_said_to_be_unknown(page: FlaskClient) -> None:
    """404, in words."""
    assert page.get("/chat/messages/nothing/reply").status_code == 404


def test_the_page_runs_only_its_own_script(page: FlaskClient) -> None:
    """The nonce in the policy is the one in the page, and a new one each time."""
    first, second = page.get("/"), page.get("/")
    policy = first.headers["Content-Security-Policy"]
    nonce = policy.split("script-src 'nonce-")[1].split("'")[0]
    assert first.text.count(f'nonce="{nonce}"') == 2
    assert nonce not in second.text


def test_another_name_for_this_machine_is_refused(page: FlaskClient) -> None:
    """A page elsewhere cannot reach the chat by pointing its own name at this machine."""
    assert page.get("/", headers={"Host": "evil.example"}).status_code == 400


def test_the_webhook_does_not_exist_locally(page: FlaskClient) -> None:
    """Without a token nothing can be verified, so nothing is taken."""
    assert page.post("/webhook", data={"MessageSid": "SM1", "From": "x", "Body": "NIE"}).status_code == 404


def test_health_says_when_nobody_answers_messages(
    knowledge_url: str, services_on: Callable[..., Container], serve: Serve
) -> None:
    """Without a live worker the service is degraded, and says which part is missing."""
    answer = serve(services_on(knowledge_url, clara_channel="local")).get("/health")
    assert answer.status_code == 503
    assert answer.json["parts"]["database"]["ok"]
    assert answer.json["parts"]["worker"] == {"ok": False, "detail": "NoWorkerError"}


def test_health_says_when_nothing_was_ingested(empty_url: str, services_on: Callable[..., Container], serve: Serve) -> None:
    """An empty corpus answers nobody; the process itself is alive all the same."""
    web = serve(services_on(empty_url, clara_channel="local"))
    assert web.get("/health").json["parts"]["database"] == {"ok": False, "detail": "NothingIngestedError"}
    assert web.get("/health/live").status_code == 200


def test_without_a_database_a_message_is_kept_and_the_page_says_so(
    services_on: Callable[..., Container], serve: Serve, tmp_path: Path
) -> None:
    """What was acknowledged waits on this machine's disk; that there is no reply yet is not called an unknown message."""
    web = serve(services_on("postgresql://nobody@127.0.0.1:1/none", clara_channel="local"))
    taken = web.post("/chat/messages", json={"conversation": "c", "text": "NIE"})
    assert taken.status_code == 202
    assert sum(file.stat().st_size for file in (tmp_path / "spool").iterdir()) > 0
    answer = web.get(f"/chat/messages/{taken.json['message']}/reply")
    assert answer.status_code == 503
    assert "base de datos" in answer.json["error"]
    assert web.get("/health").json["parts"]["database"] == {"ok": False, "detail": "DatabaseUnavailableError"}


def test_without_any_room_the_page_says_so(services_on: Callable[..., Container], serve: Serve, tmp_path: Path) -> None:
    """A message that can be kept nowhere is not acknowledged."""
    nowhere = tmp_path / "file"
    nowhere.touch()
    web = serve(services_on("postgresql://nobody@127.0.0.1:1/none", clara_channel="local", clara_spool=nowhere))
    answer = web.post("/chat/messages", json={"conversation": "c", "text": "NIE"})
    assert answer.status_code == 503
    assert "base de datos" in answer.json["error"]
