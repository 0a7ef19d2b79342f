"""What Twilio's client writes and when, seen from the other end of the socket."""

import logging
import socket
import struct
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier, Thread
from traceback import format_exception

import pytest
from tests.journeys.talking import until

from clara.channels.twilio.sender import TwilioSender
from clara.delivery.message import Outgoing
from clara.delivery.ports import LostAnswerError, PermanentSendError, TemporarySendError

OUTGOING = Outgoing(17, "whatsapp:+15555550100", "whatsapp:+34600000001", "¡Hola!")
TLS = 22  # the first byte of a handshake
TAKEN = b'{"sid": "SM1", "date_created": "Fri, 21 Nov 2025 10:00:00 +0000"}'


def answer(status: str, body: bytes = b"", *headers: str) -> bytes:
    """Write an HTTP answer."""
    lines = [f"HTTP/1.1 {status}", f"Content-Length: {len(body)}", *headers, "", ""]
    return "\r\n".join(lines).encode() + body


class Wire:
    """A server of bytes: answers each request with the next of `answers`; None closes the connection, b"" resets it."""

    def __init__(self, *answers: bytes | None) -> None:
        self.answers = list(answers)
        self.requests: list[bytes] = []
        self.closed = 0
        self.connections: list[socket.socket] = []
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self._listener.getsockname()[1]}"
        self._thread = Thread(target=self._serve)
        self._thread.start()

    def close(self) -> None:
        self._listener.shutdown(socket.SHUT_RDWR)
        self._thread.join()
        self._listener.close()

    def _serve(self) -> None:
        threads: list[Thread] = []
        while True:
            try:
                connection, _ = self._listener.accept()
            except OSError:
                break
            self.connections.append(connection)
            threads.append(Thread(target=self._talk, args=(connection,)))
            threads[-1].start()
        for thread in threads:
            thread.join()

    def _talk(self, connection: socket.socket) -> None:
        with connection:
            while request := _request(connection):
                self.requests.append(request)
                if not (said := self.answers.pop(0)):
                    if said == b"":
                        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                    break
                connection.sendall(said)
                if b"Connection: close" in said:
                    break
        self.closed += 1


def _request(connection: socket.socket) -> bytes:
    """Read one request whole, or the first of a TLS handshake; what there is of it when the other end closes."""
    read = b""
    try:
        while piece := connection.recv(65_536):
            read += piece
            head, end, body = read.partition(b"\r\n\r\n")
            if read[0] == TLS or (
                end and len(body) == int(head.lower().partition(b"content-length: ")[2].split(b"\r\n")[0] or 0)
            ):
                return read
    except OSError:
        pass
    return read


Start = Callable[..., tuple[TwilioSender, Wire]]


@pytest.fixture
def start() -> Iterator[Start]:
    """Start a server with its answers and a sender that talks to it."""
    made: list[tuple[TwilioSender, Wire]] = []

    def make(*answers: bytes | None, scheme: str = "http") -> tuple[TwilioSender, Wire]:
        wire = Wire(*answers)
        url = wire.url.replace("http", scheme, 1)
        made.append((TwilioSender("AC1", "token", "https://clara.example.org/status", url), wire))
        return made[-1]

    yield make
    for sender, wire in made:
        sender.close()
        wire.close()


def test_what_is_not_timely_writes_nothing(start: Start) -> None:
    """The question comes when the connection stands, and after a no not one byte is written."""
    sender, wire = start()

    def timely() -> bool:
        until(lambda: len(wire.connections) == 1)
        return False

    with pytest.raises(TemporarySendError, match="not sent in time"):
        sender.send(OUTGOING, timely)
    until(lambda: wire.closed == 1)
    assert wire.requests == []


def test_a_kept_connection_asks_as_well(start: Start) -> None:
    """The second request on a connection asks anew, and its no writes nothing either."""
    sender, wire = start(answer("201 Created", TAKEN))
    assert sender.send(OUTGOING, lambda: True) == "SM1"
    with pytest.raises(TemporarySendError, match="not sent in time"):
        sender.send(OUTGOING, lambda: False)
    until(lambda: wire.closed == 1)
    assert (len(wire.requests), len(wire.connections)) == (1, 1)


def test_without_tls_nothing_is_written(start: Start) -> None:
    """A handshake that fails says that nothing was taken, and is over before anybody is asked."""
    sender, wire = start(b"HTTP/1.1 400 Bad Request\r\n\r\n", scheme="https")
    with pytest.raises(TemporarySendError, match="could not be reached"):
        sender.send(OUTGOING, pytest.fail)
    assert not any(b"Messages.json" in request for request in wire.requests)


@pytest.mark.parametrize(
    "said",
    [
        pytest.param(None, id="closed"),
        pytest.param(b"", id="reset"),
        pytest.param(b"SMTP ready\r\n\r\n", id="no HTTP"),
        pytest.param(b"HTTP/1.1 201 Created\r\nContent-Length: 500\r\nConnection: close\r\n\r\n{}", id="cut in the body"),
        pytest.param(b"HTTP/1.1 201 Created\r\nConnection: close\r\nContent-Le", id="cut in the headers"),
        pytest.param(b"HTTP/1.1 201 Created\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\nzz\r\n", id="bad chunk"),
        pytest.param(answer("200 OK", b"<html>Please log in</html>"), id="HTML"),
        pytest.param(answer("201 Created", b"[1, 2]"), id="a list"),
        pytest.param(answer("201 Created", b"[" * 100_000), id="nested without end"),
        pytest.param(answer("201 Created", b"{}"), id="no id"),
        pytest.param(answer("201 Created", b'{"sid": 7, "date_created": "yesterday"}'), id="odd fields"),
        pytest.param(answer("201 Created", b'{"sid": "' + b"x" * 2_000_001 + b'"}'), id="without end"),
        pytest.param(answer("302 Found", b"", "Location: /elsewhere"), id="a redirect"),
        pytest.param(answer("400 Bad Request", b"<html>Bad Request</html>"), id="refused by something else"),
        pytest.param(answer("500 Oops", b'{"code": 20500}'), id="500"),
        pytest.param(answer("503 Unavailable", b"", "Retry-After: 1"), id="503"),
    ],
)
def test_a_written_request_is_lost_and_never_repeated(start: Start, said: bytes | None) -> None:
    """Whatever comes back that is neither the message nor Twilio's refusal: nobody knows, and one request was written."""
    sender, wire = start(said)
    with pytest.raises(LostAnswerError) as caught:
        sender.send(OUTGOING, lambda: True)
    assert len(wire.requests) == 1
    assert "600000001" not in str(caught.value)


def test_a_connection_that_ends_under_a_request_is_not_replaced(start: Start) -> None:
    """A kept connection that the server closes when the next request arrives loses its answer; there is no second request."""
    sender, wire = start(answer("201 Created", TAKEN), None)
    sender.send(OUTGOING, lambda: True)
    with pytest.raises(LostAnswerError):
        sender.send(OUTGOING, lambda: True)
    assert (len(wire.requests), len(wire.connections)) == (2, 1)


def test_a_connection_that_ended_between_requests_is_replaced(start: Start) -> None:
    """What the server has closed in peace is noticed before anything is written."""
    sender, wire = start(answer("201 Created", TAKEN), answer("201 Created", TAKEN))
    sender.send(OUTGOING, lambda: True)
    wire.connections[0].shutdown(socket.SHUT_RDWR)
    assert sender.send(OUTGOING, lambda: True) == "SM1"
    assert (len(wire.requests), len(wire.connections)) == (2, 2)


@pytest.mark.parametrize("status", ["401 Unauthorized", "403 Forbidden", "429 Too Many Requests"])
@pytest.mark.parametrize(
    ("body", "headers"),
    [
        pytest.param(b"<html>No</html>", [], id="HTML"),
        pytest.param(b"\x1f\x8b", ["Content-Encoding: gzip"], id="packed unasked"),
        pytest.param(b"x" * 3_000_000, [], id="larger than is taken"),
    ],
)
def test_a_refusal_without_a_code_is_clear_by_its_status(start: Start, status: str, body: bytes, headers: list[str]) -> None:
    """These say "not taken" even from something between us and Twilio, whatever else they say."""
    sender, _ = start(answer(status, body, *headers))
    with pytest.raises(TemporarySendError):
        sender.send(OUTGOING, lambda: True)


def test_nothing_of_one_answer_goes_with_the_next_request(start: Start) -> None:
    """A cookie would tell one person's request by another's."""
    sender, wire = start(answer("201 Created", TAKEN, "Set-Cookie: who=1; Path=/"), answer("201 Created", TAKEN))
    for _ in range(2):
        assert sender.send(OUTGOING, lambda: True) == "SM1"
    assert b"cookie" not in wire.requests[1].lower()


def test_more_threads_than_any_pool_holds_ask_at_once(start: Start) -> None:
    """A thread waits for no other's connection: the moment until which a message may be sent would pass meanwhile."""
    together = 40
    sender, _ = start(*[answer("201 Created", TAKEN)] * together)
    gathered = Barrier(together)

    def timely() -> bool:
        gathered.wait(timeout=20)
        return True

    with ThreadPoolExecutor(together) as threads:
        assert list(threads.map(lambda _: sender.send(OUTGOING, timely), range(together))) == ["SM1"] * together


NOW = "Date: Fri, 21 Nov 2025 10:00:00 GMT"


@pytest.mark.parametrize(
    ("headers", "wait"),
    [
        (["Retry-After: 0"], 0.0),
        (["retry-after: 12"], 12.0),
        (["Retry-After: 86400"], 900.0),
        ([NOW, "Retry-After: Fri, 21 Nov 2025 10:01:30 GMT"], 90.0),
        ([NOW, "Retry-After: Fri, 21 Nov 2025 09:00:00 GMT"], 0.0),
        ([NOW, "Retry-After: Sat, 22 Nov 2025 10:00:00 GMT"], 900.0),
        ([NOW, "Retry-After: Fri, 21 Nov 2025 10:01:30 +9999999999"], None),
        (["Retry-After: Fri, 21 Nov 2025 10:01:30 GMT"], None),
        (["Retry-After: soon"], None),
        (["Retry-After: -1"], None),
        ([], None),
    ],
)
def test_how_long_to_wait(start: Start, headers: list[str], wait: float | None) -> None:
    """Seconds, or a moment by the answer's own clock, and never more than a quarter of an hour."""
    sender, _ = start(answer("429 Too Many Requests", b'{"code": 20429}', *headers))
    with pytest.raises(TemporarySendError) as caught:
        sender.send(OUTGOING, lambda: True)
    assert caught.value.wait == wait


def test_what_is_refused_says_nothing_of_the_person(start: Start) -> None:
    """Twilio's own words quote the number; ours do not."""
    quoting = (
        b'{"code": 21211, "message": "The \'To\' number whatsapp:+34600000001 is not a valid phone number.", "status": 400}'
    )
    sender, _ = start(answer("400 Bad Request", quoting))
    with pytest.raises(PermanentSendError) as caught:
        sender.send(OUTGOING, lambda: True)
    assert caught.value.code == "21211"
    assert "600000001" not in "".join(format_exception(caught.value))


PAGE = (
    b'{"messages": [{"sid": "SM2", "body": "b", "date_created": "Fri, 21 Nov 2025 09:59:30 +0000"},'
    b' {"sid": "SM1", "body": null, "date_created": null}], "page": 0, "uri": "/"}'
)


@pytest.mark.parametrize(("header", "age"), [(NOW, 30.0), ("date: Fri, 21 Nov 2025 09:59:00 GMT", 0.0), ("Date: today", 0.0)])
def test_ages_are_counted_by_the_channels_clock(start: Start, header: str, age: float) -> None:
    """The list's Date is the clock; where it or a message's date is missing or odd, the age is none."""
    sender, wire = start(answer("200 OK", PAGE, header))
    assert [(taken.sid, taken.age) for taken in sender.taken(OUTGOING)] == [("SM2", age), ("SM1", 0.0)]
    assert wire.requests[0].startswith(
        b"GET /2010-04-01/Accounts/AC1/Messages.json?"
        b"To=whatsapp%3A%2B34600000001&From=whatsapp%3A%2B15555550100&PageSize=50 HTTP/1.1\r\n"
    )


def test_no_answer_puts_anybody_into_the_log(start: Start, caplog: pytest.LogCaptureFixture) -> None:
    """The libraries tell of requests, and of headers they cannot read, with the address asked, which names the person."""
    caplog.set_level(logging.INFO)
    sender, _ = start(answer("200 OK", PAGE, NOW), answer("200 OK", PAGE, "no header at all", NOW))
    sender.taken(OUTGOING)
    with pytest.raises(TemporarySendError):
        sender.taken(OUTGOING)
    assert "600000001" not in caplog.text
