"""The stand-in for Twilio: what it refuses, how chance strikes, how it reports."""

from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from urllib.parse import parse_qsl

import pytest
from tests.failing_twilio import CallbackOptions, FailingTwilio, FaultMode, FaultPlan, TwilioFault
from tests.journeys.talking import signature, until
from twilio.base.exceptions import TwilioRestException
from twilio.rest import Client

ACCOUNT, TOKEN = "AC" + "3" * 32, "token"
MESSAGE = {"from_": "whatsapp:+15555550100", "to": "whatsapp:+34600000001", "body": "¡Hola!"}


class Listener(BaseHTTPRequestHandler):
    """Where callbacks arrive: keeps the forms, and whether each was signed."""

    forms: list[dict[str, str]]
    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        form = self.rfile.read(int(self.headers["Content-Length"])).decode()
        signed = self.headers["X-Twilio-Signature"] == signature(f"http://{self.headers['Host']}{self.path}", form, TOKEN)
        self.forms.append({**dict(parse_qsl(form)), "path": self.path, "signed": str(signed)})
        self.send_response(204)
        self.end_headers()

    def log_message(self, *_: object) -> None:
        """Stay quiet."""


@pytest.fixture
def listener() -> Iterator[type[Listener]]:
    class Here(Listener):
        forms: list[dict[str, str]] = []  # noqa: RUF012  one for each test
        url = ""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Here)
    Here.url = f"http://127.0.0.1:{server.server_address[1]}/status?reply=17"
    thread = Thread(target=server.serve_forever)
    thread.start()
    yield Here
    server.shutdown()
    server.server_close()
    thread.join()


Start = Callable[..., tuple[FailingTwilio, Client]]


@pytest.fixture
def start() -> Iterator[Start]:
    """Start a stand-in and the official client, as it comes, that talks to it."""
    with ExitStack() as stack:

        def make(**settings: object) -> tuple[FailingTwilio, Client]:
            stand_in = FailingTwilio(ACCOUNT, TOKEN, **settings)
            stand_in.serve()
            stack.callback(stand_in.close)
            client = Client(ACCOUNT, TOKEN)
            stack.callback(client.http_client.session.close)
            client.api.base_url = stand_in.url
            return stand_in, client

        yield make


@pytest.mark.parametrize(
    ("change", "code"),
    [
        ({"to": ""}, 21604),
        ({"from_": ""}, 21603),
        ({"body": ""}, 21602),
        ({"body": "x" * 1_601}, 21617),
        ({"status_callback": "/status"}, 21609),
        ({"status_callback": "ftp://clara.example.org/status"}, 21609),
    ],
)
def test_what_twilio_refuses_is_refused(start: Start, change: dict[str, str], code: int) -> None:
    """The stand-in takes no message that Twilio would not."""
    stand_in, client = start()
    with pytest.raises(TwilioRestException) as caught:
        client.messages.create(**{**MESSAGE, **change})
    assert (caught.value.status, caught.value.code, stand_in.taken) == (400, code, [])


def test_the_official_client_pages_through_the_list(start: Start) -> None:
    """Every message comes once, newest first, over as many pages as it takes."""
    _, client = start()
    sids = [client.messages.create(**MESSAGE).sid for _ in range(7)]
    assert [message.sid for message in client.messages.list(to=MESSAGE["to"], page_size=3)] == sids[::-1]
    assert client.messages.list(to="whatsapp:+34600000002") == []


def test_faults_in_the_queue_come_before_the_plan(start: Start) -> None:
    """A queued fault strikes one request; then chance decides."""
    stand_in, client = start(plan=FaultPlan(1, {FaultMode.ERROR: 1.0}, TwilioFault(FaultMode.ERROR, 400, 63016)))
    stand_in.faults.append((429, 20429))
    codes = []
    for _ in range(2):
        with pytest.raises(TwilioRestException) as caught:
            client.messages.create(**MESSAGE)
        codes.append(caught.value.code)
    assert codes == [20429, 63016]


def test_a_plan_repeats_itself() -> None:
    """The same seed draws the same faults, each kind about as often as its share says."""
    rates = {FaultMode.CUT: 0.1, FaultMode.ACCEPT_SLOW: 0.2, FaultMode.ERROR: 0.0}
    first, second = (
        [plan.draw() for _ in range(2_000)] for plan in (FaultPlan(5, rates, slow=9.0), FaultPlan(5, rates, slow=9.0))
    )
    assert first == second
    counted = Counter(fault.kind if fault else None for fault in first)
    assert set(counted) == {None, FaultMode.CUT, FaultMode.ACCEPT_SLOW}
    assert counted[FaultMode.CUT] == pytest.approx(200, abs=60)
    assert {fault.seconds for fault in first if fault and fault.kind is FaultMode.ACCEPT_SLOW} == {9.0}


def test_shares_that_cannot_be_are_refused() -> None:
    """More than every request cannot fail."""
    with pytest.raises(ValueError, match="at most 1 in sum"):
        FaultPlan(1, {FaultMode.CUT: 0.6, FaultMode.HANG: 0.5})


def test_progress_is_reported(start: Start, listener: type[Listener]) -> None:
    """Callbacks come in order, signed, with our number of the reply in their address, and are counted."""
    stand_in, client = start()
    sid = client.messages.create(**MESSAGE, status_callback=listener.url).sid
    until(lambda: stand_in.callbacks.waiting == 0)
    assert [(form["MessageStatus"], form["MessageSid"], form["signed"]) for form in listener.forms] == [
        ("sent", sid, "True"),
        ("delivered", sid, "True"),
    ]
    assert {form["path"] for form in listener.forms} == {"/status?reply=17"}
    assert stand_in.callbacks.outcomes == Counter({"204": 2})
    assert stand_in.taken[0].reply == 17


def test_progress_is_reported_in_any_manner(start: Start, listener: type[Listener]) -> None:
    """Out of order, twice, late, and with a failure in the end."""
    manner = CallbackOptions(("sent", "delivered", "read"), shuffled=True, delay=0.01, repeated=1.0, failing=1.0, seed=3)
    stand_in, client = start(manner=manner)
    client.messages.create(**MESSAGE, status_callback=listener.url)
    until(lambda: stand_in.callbacks.waiting == 0)
    told = [(form["MessageStatus"], form.get("ErrorCode")) for form in listener.forms]
    assert Counter(told) == Counter({("sent", None): 2, ("delivered", None): 2, ("failed", "63018"): 2})
    assert told != sorted(told, key=lambda one: ["sent", "delivered", "failed"].index(one[0]))


def test_nobody_has_to_be_told(start: Start, listener: type[Listener]) -> None:
    """Reports may be off, and whoever is away is not told twice."""
    silent, client = start(manner=CallbackOptions(()))
    client.messages.create(**MESSAGE, status_callback=listener.url)
    speaking, other = start()
    other.messages.create(**MESSAGE, status_callback="http://127.0.0.1:1/status")
    until(lambda: speaking.callbacks.outcomes == Counter({"unreachable": 2}))
    assert (silent.callbacks.outcomes, listener.forms) == (Counter(), [])
