"""Tests of HTTP under a deadline that no model server can show: how connections are used."""

import socket
from collections.abc import Iterator
from contextlib import closing
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Event, Thread
from time import perf_counter

import httpcore
import httpx
import pytest

from clara.adapters.http.client import AnswerTooLargeError, DeadlineBackend, bounded_client, reason_of, resolved


class Server(ThreadingHTTPServer):
    """Answers with as many bytes as the path says, and counts its connections."""

    connections = 0

    def process_request(self, request, client_address) -> None:
        self.connections += 1
        super().process_request(request, client_address)


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        size = int(self.path[1:])
        self.send_response(200)
        self.send_header("Content-Length", str(size))
        self.end_headers()
        self.wfile.write(b"x" * size)

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def server() -> Iterator[Server]:
    server = Server(("127.0.0.1", 0), Handler)
    Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()
    yield server
    server.shutdown()
    server.server_close()


def url_of(server: Server, size: int) -> str:
    return f"http://127.0.0.1:{server.server_address[1]}/{size}"


def test_connections_are_reused(server: Server) -> None:
    """Ten requests, one after the other, take one connection: the time of an earlier one does not run on in it."""
    with bounded_client(1_000) as client:
        assert {client.get(url_of(server, 10), timeout=30).content for _ in range(10)} == {b"x" * 10}
    assert server.connections == 1


def test_an_answer_may_have_exactly_the_largest_size(server: Server) -> None:
    """1,000 bytes are taken where 1,000 are the most, 1,001 are not, and the next request is served."""
    with bounded_client(1_000) as client:
        assert len(client.get(url_of(server, 1_000), timeout=30).content) == 1_000
        with pytest.raises(AnswerTooLargeError) as caught:
            client.get(url_of(server, 1_001), timeout=30)
        assert reason_of(caught.value) == "answered with more than is taken"
        assert client.get(url_of(server, 1), timeout=30).status_code == 200


def test_a_server_that_reads_nothing_ends_at_the_deadline() -> None:
    """Sending counts too: a question larger than the buffers in between waits no longer than the deadline."""
    with closing(socket.create_server(("127.0.0.1", 0))) as listening, bounded_client(1_000) as client:
        started = perf_counter()
        with pytest.raises(httpx.TimeoutException) as caught:
            client.post(f"http://127.0.0.1:{listening.getsockname()[1]}/", content=b"x" * 30_000_000, timeout=0.2)
        assert 0.18 < perf_counter() - started < 1.2
    assert reason_of(caught.value) == "did not answer within the deadline"


def test_every_address_of_a_name_is_tried(server: Server) -> None:
    """A server that listens on one of the addresses of "localhost" is found by the name."""
    with bounded_client(1_000) as client:
        assert client.get(url_of(server, 1).replace("127.0.0.1", "localhost"), timeout=30).status_code == 200


class SilentFirst(httpcore.MockBackend):
    """Answers at the address "last"; every other takes all the time it is given."""

    def __init__(self) -> None:
        super().__init__([b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nx"])
        self.given: list[float] = []

    def connect_tcp(self, host: str, port: int, timeout: float | None = None, *rest, **named) -> httpcore.NetworkStream:
        self.given.append(timeout or 0.0)
        if host != "last":
            raise httpcore.ConnectTimeout
        return super().connect_tcp(host, port, timeout)


def test_a_silent_address_leaves_time_for_the_next() -> None:
    """Of 30 seconds and three addresses the first gets ten, and the one behind the silent ones is asked."""
    silent = SilentFirst()
    backend = DeadlineBackend(lambda *_: ["first", "second", "last"], backend=silent)
    backend.connect_tcp("host", 80, perf_counter() + 30)
    assert silent.given == pytest.approx([10, 15, 30], abs=5)


def test_a_name_that_nobody_has_is_a_failed_connection() -> None:
    """A name that cannot be resolved is told as the network's failure."""
    with bounded_client(1_000) as client, pytest.raises(httpx.NetworkError) as caught:
        client.get(f"http://{'a' * 64}.invalid/", timeout=1)
    assert reason_of(caught.value) == "could not be reached (NetworkError)"


def test_finding_an_address_ends_at_the_deadline() -> None:
    """Name servers that do not answer hold nobody for the half minute that the system tries them."""
    never = Event()

    def lookup(_host: str, _port: int) -> list[str]:
        never.wait(30)
        return []

    started = perf_counter()
    with pytest.raises(httpcore.ConnectTimeout):
        resolved("example.org", 443, 0.2, lookup)
    assert perf_counter() - started < 5
    never.set()


def test_a_name_without_an_address_is_a_failure_to_connect() -> None:
    """What the system says of a name comes back under one name."""

    def lookup(_host: str, _port: int) -> list[str]:
        raise socket.gaierror(socket.EAI_NONAME, "unknown")

    with pytest.raises(httpcore.ConnectError):
        resolved("example.invalid", 443, 5.0, lookup)
    assert "127.0.0.1" in resolved("127.0.0.1", 80, 5.0)
