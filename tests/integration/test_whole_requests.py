"""Requests are read whole before a thread serves them, over real connections: slow, endless, torn and large ones as well."""

import asyncio
import json
import socket
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, closing
from dataclasses import dataclass, field
from typing import Any

import pytest
from tests.journeys.talking import until

from clara.processes.request_bounds import RequestBounds, WholeRequests

MOST_BYTES, POOL_BYTES = 100_000, 300_000
FORM = b"POST /form HTTP/1.1\r\nHost: clara\r\nContent-Type: a/b\r\n"
CHUNKED = FORM + b"Transfer-Encoding: chunked\r\n\r\n"
ENDLESS = FORM + b"Content-Length: 100\r\n\r\nBody=hal"


@pytest.fixture(scope="module")
def port() -> Iterator[int]:
    """Serve the echo with a second of patience and two threads."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        chosen = int(probe.getsockname()[1])
    command = [sys.executable, "-m", "tests.integration.echoing", str(chosen), "1.0", str(MOST_BYTES), str(POOL_BYTES)]
    with subprocess.Popen(command) as process:
        until(lambda: listens(chosen))
        yield chosen
        process.terminate()


def listens(port: int) -> bool:
    try:
        socket.create_connection(("127.0.0.1", port)).close()
    except OSError:
        return False
    return True


def connected(port: int, sent: bytes) -> socket.socket:
    connection = socket.create_connection(("127.0.0.1", port), timeout=30)
    connection.sendall(sent)
    return connection


def answer(connection: socket.socket) -> tuple[int, bytes]:
    """Read one answer; give its status and the rest of what came until the connection was closed or the body was there."""
    with closing(connection), connection.makefile("rb") as stream:
        status = int(stream.readline().split()[1])
        headers = dict(line.rstrip().lower().split(b": ", 1) for line in iter(stream.readline, b"\r\n"))
        length = headers.get(b"content-length")
        if headers.get(b"transfer-encoding") == b"chunked":
            body = b"".join(stream.read(int(size, 16) + 2)[:-2] for size in iter(stream.readline, b"0\r\n"))
        else:
            body = stream.read(int(length or 0))
        if headers.get(b"connection") == b"close":
            assert stream.read() == b""
    return status, body


def echoed(port: int, sent: bytes) -> tuple[dict[str, Any], str]:
    status, body = answer(connected(port, sent))
    assert status == 200
    words, said = json.loads(body)
    return words, said


def test_forms_that_never_end_hold_up_nobody(port: int) -> None:
    """Many more than there are threads; each is told so after the patience, and its connection is closed."""
    with ExitStack() as held:
        endless = [held.enter_context(closing(connected(port, ENDLESS))) for _ in range(20)]
        assert echoed(port, FORM + b"Content-Length: 3\r\n\r\nabc")[1] == "abc"
        assert {answer(connection)[0] for connection in endless} == {408}


def test_a_form_that_comes_in_pieces_is_served(port: int) -> None:
    """Head and body may come apart."""
    connection = connected(port, FORM + b"Content-Length: 6\r\n\r\nabc")
    connection.sendall(b"def")
    status, body = answer(connection)
    assert (status, json.loads(body)[1]) == (200, "abcdef")


@pytest.mark.parametrize(
    ("sent", "status"),
    [
        pytest.param(FORM + b"Content-Length: 100001\r\n\r\n", 413, id="by-its-head"),
        pytest.param(CHUNKED + b"186a1\r\n" + b"a" * 100_001 + b"\r\n0\r\n\r\n", 413, id="as-it-comes"),
        pytest.param(CHUNKED + b"3\r\nabc\r\n", 408, id="endless-in-chunks"),
        pytest.param(FORM + b"Content-Length: many\r\n\r\nabc", 400, id="no-length"),
        pytest.param(b"GET /broken HTTP/1.1\r\nHost: clara\r\n\r\n", 500, id="a-mistake-of-the-application"),
    ],
)
def test_what_is_refused(port: int, sent: bytes, status: int) -> None:
    """Too large, too slow, or nonsense."""
    assert answer(connected(port, sent))[0] == status


def test_a_torn_form_is_not_served(port: int) -> None:
    """Half of a form looks whole when its end is not asked for; it must not reach the application."""
    connection = connected(port, ENDLESS)
    connection.shutdown(socket.SHUT_WR)
    assert answer(connection)[0] >= 400


def test_the_largest_that_is_taken(port: int) -> None:
    """Both ways of saying how long it is."""
    body = b"a" * MOST_BYTES
    assert echoed(port, FORM + b"Content-Length: 100000\r\n\r\n" + body)[1] == body.decode()
    assert echoed(port, CHUNKED + b"186a0\r\n" + body + b"\r\n0\r\n\r\n")[1] == body.decode()


def test_large_bodies_that_never_end_leave_room_for_small_ones(port: int) -> None:
    """What is unfinished of all large bodies together is bounded: the next one is refused at once, a small one is served."""
    large = FORM + b"Content-Length: 90000\r\n\r\n" + b"a" * 89_000
    with ExitStack() as held:
        unfinished = [held.enter_context(closing(connected(port, large))) for _ in range(12)]
        assert echoed(port, FORM + b"Content-Length: 3\r\n\r\nabc")[1] == "abc"
        statuses = sorted(answer(connection)[0] for connection in unfinished)
    assert statuses.count(408) <= POOL_BYTES // 80_000
    assert statuses.count(503) >= len(unfinished) - POOL_BYTES // 80_000
    assert set(statuses) == {408, 503}
    body = b"a" * 90_000  # the room is free again
    assert len(echoed(port, FORM + b"Content-Length: 90000\r\n\r\n" + body)[1]) == len(body)


def test_a_torn_large_form_is_not_served(port: int) -> None:
    """As a small one."""
    connection = connected(port, FORM + b"Content-Length: 90000\r\n\r\n" + b"a" * 50_000)
    connection.shutdown(socket.SHUT_WR)
    assert answer(connection)[0] >= 400


@dataclass
class Silent:
    """A request whose body never comes, from an address; what it was answered."""

    client: str
    headers: Mapping[str, str] = field(default_factory=lambda: {"content-length": "100"})
    answered: list[int] = field(default_factory=list)

    async def __call__(self) -> bytes:
        await asyncio.sleep(3_600)
        return b""

    def response_empty(self, status: int, _headers: object) -> None:
        self.answered.append(int(status))


@pytest.mark.parametrize(
    ("address", "waiting"),
    [
        pytest.param("8.8.8.8:1", 3, id="from-outside"),
        pytest.param("[2a00:1450:4003::1]:1", 3, id="from-outside-by-IPv6"),
        pytest.param("127.0.0.1:1", 9, id="a-proxy-on-this-machine"),
        pytest.param("10.1.2.3:1", 9, id="a-proxy-inside"),
    ],
)
def test_one_address_has_so_many_unfinished_requests(address: str, waiting: int) -> None:
    """The others are refused at once; another address is not; where a proxy is, everybody has the same one."""
    serve = WholeRequests(lambda _environ, _start: [], 1, RequestBounds(1_000, 3_600.0, per_address=3))

    async def crowd() -> list[int]:
        requests = [Silent(address) for _ in range(9)] + [Silent("9.9.9.9:1")]
        tasks = [asyncio.create_task(serve(one, one)) for one in requests]  # type: ignore[arg-type]
        for _ in range(3):
            await asyncio.sleep(0)
        unfinished = sum(not one.answered for one in requests[:9])
        assert not requests[9].answered
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        assert not serve._unfinished
        return [unfinished, *{status for one in requests for status in one.answered}]

    assert asyncio.run(crowd()) == [waiting, *([503] if waiting < 9 else [])]


def test_what_the_application_is_told(port: int) -> None:
    """As PEP 3333 has it; a header with an underscore cannot pass for one with a hyphen."""
    head = b"POST /caf%C3%A9?q=%C3%A9 HTTP/1.1\r\nHost: clara:1\r\nX-Twilio-Signature: s\r\nX_Twilio_Signature: forged\r\n"
    words, _ = echoed(port, head + b"Content-Type: a/b\r\nContent-Length: 3\r\n\r\nabc")
    told = {
        "REQUEST_METHOD": "POST",
        "SCRIPT_NAME": "",
        "PATH_INFO": "/caf\u00c3\u00a9",
        "QUERY_STRING": "q=%C3%A9",
        "CONTENT_TYPE": "a/b",
        "CONTENT_LENGTH": "3",
        "HTTP_HOST": "clara:1",
        "HTTP_X_TWILIO_SIGNATURE": "s",
        "REMOTE_ADDR": "127.0.0.1",
        "SERVER_PORT": str(port),
        "wsgi.url_scheme": "http",
    }
    assert {name: words[name] for name in told} == told
