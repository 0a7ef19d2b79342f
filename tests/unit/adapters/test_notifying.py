"""Alerts are posted as JSON, again after failures that pass; what cannot be delivered is an error that names the host."""

import json
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread

import pytest

from clara.adapters.notifying import AlertFailedError, post_alert


class Receiver(ThreadingHTTPServer):
    """Answers with the given statuses, one after the other; keeps what was posted."""

    def __init__(self, *statuses: int) -> None:
        self.statuses = list(statuses)
        self.posted: list[object] = []
        super().__init__(("127.0.0.1", 0), _Handler)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}/hook?secret=1"


class _Handler(BaseHTTPRequestHandler):
    server: Receiver

    def do_POST(self) -> None:
        self.server.posted.append(json.loads(self.rfile.read(int(self.headers["content-length"]))))
        self.send_response(self.server.statuses.pop(0))
        self.send_header("content-length", "0")
        self.end_headers()

    def log_message(self, *_: object) -> None:
        """Be quiet."""


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    with Receiver() as server:
        thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield server
        server.shutdown()
        thread.join()


def test_an_alert_is_posted_once(receiver: Receiver) -> None:
    """What was taken is not sent again."""
    receiver.statuses = [204]
    post_alert(receiver.url, {"facts": ["nié"]})
    assert receiver.posted == [{"facts": ["nié"]}]


def test_a_receiver_that_is_back_gets_it(receiver: Receiver) -> None:
    """Failures that may pass are tried again, after a pause."""
    receiver.statuses, waited = [503, 500, 200], list[float]()
    post_alert(receiver.url, {}, waited.append)
    assert len(receiver.posted) == 3
    assert waited == [1.0, 5.0]


@pytest.mark.parametrize(("statuses", "tries"), [([404], 1), ([503, 503, 503], 3)])
def test_what_is_not_taken_is_an_error(receiver: Receiver, statuses: list[int], tries: int) -> None:
    """The error names the host and the answer, and not the address, which may hold a secret."""
    receiver.statuses = list(statuses)
    with pytest.raises(AlertFailedError, match=f"127.0.0.1 answered {statuses[0]}") as error:
        post_alert(receiver.url, {}, lambda _seconds: None)
    assert len(receiver.posted) == tries
    assert "secret" not in str(error.value)


@pytest.mark.parametrize("url", ["no address", "ftp://127.0.0.1/x", "http://127.0.0.1:1/closed", "http://[::1"])
def test_an_address_that_cannot_be_asked_is_an_error(url: str) -> None:
    """Nothing listens, or the address is none."""
    with pytest.raises(AlertFailedError):
        post_alert(url, {}, lambda _seconds: None)
