"""Requests are read whole before a thread serves them, over real connections: slow, endless, torn and large ones as well."""

import json
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, closing
from typing import Any

import pytest
from tests.journeys.talking import until

MOST_BYTES = 1_000
FORM = b"POST /form HTTP/1.1\r\nHost: clara\r\nContent-Type: a/b\r\n"
CHUNKED = FORM + b"Transfer-Encoding: chunked\r\n\r\n"
ENDLESS = FORM + b"Content-Length: 100\r\n\r\nBody=hal"


@pytest.fixture(scope="module")
def port() -> Iterator[int]:
    """Serve the echo with a second of patience and two threads."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        chosen = int(probe.getsockname()[1])
    command = [sys.executable, "-m", "tests.integration.echoing", str(chosen), "1.0", str(MOST_BYTES)]
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
        pytest.param(FORM + b"Content-Length: 1001\r\n\r\n", 413, id="by-its-head"),
        pytest.param(CHUNKED + b"3e9\r\n" + b"a" * 1001 + b"\r\n0\r\n\r\n", 413, id="as-it-comes"),
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
    assert echoed(port, FORM + b"Content-Length: 1000\r\n\r\n" + body)[1] == body.decode()
    assert echoed(port, CHUNKED + b"3e8\r\n" + body + b"\r\n0\r\n\r\n")[1] == body.decode()


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
