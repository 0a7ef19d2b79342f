"""A running Clara without processes of its own: the web application, a worker thread, and a stand-in for Twilio."""

from collections.abc import Callable, Iterator
from threading import Thread

import pytest
from tests.journeys.talking import ACCOUNT, PUBLIC_URL, TOKEN, Clara

from clara.adapters.scripted.twilio_server import TwilioStandIn
from clara.bootstrap import Services
from clara.jobs.serving import build_app
from clara.jobs.working import build_worker


@pytest.fixture
def twilio() -> Iterator[TwilioStandIn]:
    state = TwilioStandIn(ACCOUNT, TOKEN)
    server = state.serve()
    yield state
    server.shutdown()
    server.server_close()


@pytest.fixture
def clara(knowledge_url: str, twilio: TwilioStandIn, services_on: Callable[..., Services]) -> Iterator[Clara]:
    services = services_on(
        knowledge_url,
        clara_channel="twilio",
        clara_public_url=PUBLIC_URL,
        clara_pseudonym_key="k" * 32,
        twilio_account_sid=ACCOUNT,
        twilio_auth_token=TOKEN,
        twilio_api_url=twilio.url,
    )
    worker = build_worker(services)
    thread = Thread(target=worker.run, kwargs={"handle_signals": False})
    thread.start()
    yield Clara(services, build_app(services).test_client(), twilio)
    worker.stop()
    thread.join(timeout=15)
    assert not thread.is_alive()
