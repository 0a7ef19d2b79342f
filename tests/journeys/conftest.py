"""A running Clara without processes of its own: the web application, a worker thread, and a stand-in for Twilio."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import replace
from threading import Thread

import pytest
from flask.testing import FlaskClient
from tests.failing_twilio import FailingTwilio
from tests.journeys.talking import ACCOUNT, ADDRESS_KEY, PSEUDONYM_KEY, PUBLIC_URL, TOKEN, Clara

from clara.container import Container
from clara.processes.web_app import Door, build_edge, open_door
from clara.processes.worker import build_worker
from clara.web.app import create_app


@pytest.fixture
def twilio() -> Iterator[FailingTwilio]:
    state = FailingTwilio(ACCOUNT, TOKEN)
    yield state.serve()
    state.close()


@pytest.fixture
def serve(services_on: Callable[..., Container]) -> Iterator[Callable[..., FlaskClient]]:
    """Serve the web application of some services, with what moves their spool; it ends with the test.

    What is named replaces a part of what operators call.
    """
    opened: list[Door] = []

    def make(services: Container, **admin: object) -> FlaskClient:
        door = open_door(services)
        opened.append(door)
        door.drainer.start()
        edge = build_edge(services, door)
        return create_app(replace(edge, admin=replace(edge.admin, **admin))).test_client()

    yield make
    for door in opened:
        door.drainer.stop()
        door.receiving.close()
        door.spool.close()


@pytest.fixture
def start(
    knowledge_url: str, twilio: FailingTwilio, services_on: Callable[..., Container], serve: Callable[[Container], FlaskClient]
) -> Iterator[Callable[..., Clara]]:
    """Start a Clara with other settings than the usual ones; it ends with the test."""
    with ExitStack() as running:

        def make(**changed: object) -> Clara:
            settings = {
                "clara_channel": "twilio",
                "clara_public_url": PUBLIC_URL,
                "clara_pseudonym_key": PSEUDONYM_KEY,
                "clara_address_key": ADDRESS_KEY,
                "twilio_account_sid": ACCOUNT,
                "twilio_auth_token": TOKEN,
                "twilio_api_url": twilio.url,
            }
            services = services_on(knowledge_url, **settings | changed)
            worker = build_worker(services)
            thread = Thread(target=worker.run, kwargs={"handle_signals": False})
            thread.start()
            running.callback(_ended, thread)
            running.callback(worker.stop)
            return Clara(services, serve(services), twilio)

        yield make


def _ended(thread: Thread) -> None:
    thread.join(timeout=15)
    assert not thread.is_alive()


@pytest.fixture
def clara(start: Callable[..., Clara]) -> Clara:
    """Clara with the usual settings."""
    return start()
