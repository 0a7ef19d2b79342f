"""The one HTTP client: requests under a deadline, and bounded answers.

Nothing here sends a request twice: no retries, no redirects.
"""

import json
import socket
import ssl
import zlib
from collections.abc import Callable, Iterable, Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from http.cookiejar import CookieJar, DefaultCookiePolicy
from logging import WARNING, getLogger
from math import inf
from queue import Empty, SimpleQueue
from threading import Lock, Thread
from time import perf_counter
from typing import Any, Final

import httpcore
import httpx

from clara.errors import Refused

# What is taken of a server that compresses without being asked.
PACKED = frozenset({b"gzip", b"x-gzip", b"deflate"})


class AnswerTooLargeError(Refused, httpx.TransportError):
    """The answer is larger than the caller takes."""


# As many connections as httpcore's pool has when nobody says.
CONNECTIONS: Final = 10
# Networks forget silent connections (the shortest common limit is a minute), and then the next request is a lost answer.
MAX_IDLE_SECONDS: Final = 30.0


def bounded_client(
    max_bytes: int,
    headers: Mapping[str, str] | None = None,
    *,
    resolve: "Resolve | None" = None,
    unpacking: bool = False,
    connections: int = CONNECTIONS,
) -> httpx.Client:
    """Make a thread-safe client with one pool of so many connections, for requests that each carry a timeout.

    A request's timeout is the time in seconds from asking for a connection to the last byte of the answer, finding the
    address included. Compressed answers are not asked for, because their size is not known before they are unpacked: they are
    refused, or, `unpacking`, unpacked up to the largest size. Proxies and certificates named in the environment are not used;
    redirects are not followed, cookies not kept. `resolve` finds the addresses that are connected to; what it raises, besides
    httpcore's errors, is raised. Requests raise httpx.HTTPError.
    """
    backend = DeadlineBackend(resolve or resolved)
    return client_over(DeadlineTransport(backend, max_bytes, connections, unpacking=unpacking), headers)


def client_over(transport: "DeadlineTransport", headers: Mapping[str, str] | None = None) -> httpx.Client:
    """Make a client over a transport, which follows no redirects, keeps no cookies and heeds no environment."""
    # It tells of every request, with an address that may name a person or hold a token.
    getLogger("httpx").setLevel(WARNING)
    return httpx.Client(
        transport=transport,
        headers={**(headers or {}), "Accept-Encoding": "identity"},
        # What one request was given is not told with the next, which may be another person's.
        cookies=CookieJar(DefaultCookiePolicy(allowed_domains=[])),
        trust_env=False,
        follow_redirects=False,
    )


def reason_of(error: httpx.HTTPError) -> str:
    """Say in a few words why a request failed, without a word of what was asked."""
    if isinstance(error, httpx.TimeoutException):
        return "did not answer within the deadline"
    if isinstance(error, AnswerTooLargeError):
        return "answered with more than is taken"
    return f"could not be reached ({type(error).__name__})"


# Gives the addresses of a host and port, within so many seconds. Raises httpcore.ConnectError and ConnectTimeout.
Resolve = Callable[[str, int, float], list[str]]
Lookup = Callable[[str, int], list[str]]


def looked_up(host: str, port: int) -> list[str]:
    """Ask the system for the addresses of a name, however long it takes. Raises OSError, UnicodeError."""
    return [str(address[0]) for *_, address in socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)]


def resolved(host: str, port: int, seconds: float, lookup: Lookup = looked_up) -> list[str]:
    """Give the addresses of a name within so many seconds. Raises httpcore.ConnectError and ConnectTimeout.

    The system tries its name servers for half a minute, and cannot be interrupted: it is left to finish in a thread of its own,
    which keeps no process from ending.
    """
    found: SimpleQueue[list[str] | OSError | UnicodeError] = SimpleQueue()

    def look() -> None:
        try:
            found.put(lookup(host, port))
        except (OSError, UnicodeError) as error:
            found.put(error)

    Thread(target=look, name="resolving", daemon=True).start()
    try:
        addresses = found.get(timeout=seconds)
    except Empty:
        raise httpcore.ConnectTimeout("the name was not resolved in time") from None
    if isinstance(addresses, list):
        return addresses
    raise httpcore.ConnectError("the name could not be resolved") from addresses


class DeadlineTransport(httpx.BaseTransport):
    """One pool of connections, any number of them for None, in which a request's timeout is its whole time.

    Where answers need not be `whole`, what is taken of them is given, packed or cut as it is, for the sake of their status.
    """

    def __init__(
        self,
        backend: "DeadlineBackend",
        max_bytes: int,
        connections: int | None,
        *,
        unpacking: bool = False,
        whole: bool = True,
    ) -> None:
        self._pool = httpcore.ConnectionPool(
            ssl_context=httpx.create_ssl_context(trust_env=False),
            max_connections=connections,
            max_keepalive_connections=CONNECTIONS if connections is None else connections,
            keepalive_expiry=MAX_IDLE_SECONDS,
            network_backend=backend,
        )
        self._max_bytes = max_bytes
        self._unpacking = unpacking
        self._whole = whole

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        """Exchange one request. Raises httpx.TransportError, DecodingError."""
        seconds: float = request.extensions["timeout"]["read"]
        # httpcore hands these three on to the stream and the backend below as they are: there they are moments, not spans.
        moments = dict.fromkeys(("connect", "read", "write"), perf_counter() + seconds)
        asked = httpcore.Request(
            request.method,
            httpcore.URL(
                scheme=request.url.raw_scheme,
                host=request.url.raw_host,
                port=request.url.port,
                target=request.url.raw_path,
            ),
            headers=request.headers.raw,
            content=request.stream,
            extensions={"timeout": {"pool": seconds, **moments}},
        )
        try:
            response = self._pool.handle_request(asked)
            try:
                content = self._content(response)
            finally:
                response.close()
        except httpcore.TimeoutException as error:
            raise httpx.ReadTimeout(type(error).__name__, request=request) from error
        except (httpcore.NetworkError, httpcore.ProtocolError, httpcore.UnsupportedProtocol) as error:
            raise httpx.NetworkError(type(error).__name__, request=request) from error
        headers = [(name, value) for name, value in response.headers if name.lower() != b"content-encoding"]
        return httpx.Response(response.status, headers=headers, stream=httpx.ByteStream(content))

    def close(self) -> None:
        """Close the connections that wait for a request."""
        self._pool.close()

    def _content(self, response: httpcore.Response) -> bytes:
        encodings = {value.strip().lower() for name, value in response.headers if name.lower() == b"content-encoding"}
        packed = encodings - {b"identity", b""}
        if packed and self._whole and not (self._unpacking and packed <= PACKED):
            raise httpx.DecodingError("a compressed answer was not asked for")
        content = bytearray()
        # One byte more than is taken shows that there is more, however much that would be unpacked.
        unpacker = zlib.decompressobj(zlib.MAX_WBITS | 32) if packed and self._unpacking else None
        for piece in response.iter_stream():
            content += _unpacked(unpacker, piece, self._max_bytes + 1 - len(content)) if unpacker else piece
            if len(content) > self._max_bytes:
                if not self._whole:
                    return bytes(content[: self._max_bytes])
                raise AnswerTooLargeError(f"more than {self._max_bytes} bytes")
        if unpacker is not None and not unpacker.eof:
            raise httpx.DecodingError("the compressed answer is cut short")
        return bytes(content)


def _unpacked(unpacker: "zlib._Decompress", piece: bytes, most: int) -> bytes:
    try:
        return unpacker.decompress(piece, most)
    except zlib.error as error:
        raise httpx.DecodingError("the compressed answer is broken") from error


_Streams = Callable[[httpcore.NetworkStream], httpcore.NetworkStream]


class DeadlineBackend(httpcore.NetworkBackend):
    """Connects to each address of a name in turn; what httpcore hands on as a span of time is a moment here."""

    def __init__(
        self,
        resolve: Resolve = resolved,
        connect_seconds: float = inf,
        stream: "_Streams | None" = None,
        backend: httpcore.NetworkBackend | None = None,
    ) -> None:
        self._backend = backend or httpcore.SyncBackend()
        self._resolve = resolve
        self._connect_seconds = connect_seconds
        self._stream = stream or DeadlineStream

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[httpcore.SOCKET_OPTION] | None = None,
    ) -> httpcore.NetworkStream:
        """Connect until the moment `timeout`. Raises httpcore.ConnectError, ConnectTimeout, and what resolving raises."""
        timeout = min(timeout or 0.0, perf_counter() + self._connect_seconds)
        addresses = self._resolve(host, port, _left(timeout))
        refused: Exception = httpcore.ConnectError("the name has no address")
        # One by one: given the name, the system would start the time anew with each of its addresses.
        for left, address in zip(range(len(addresses), 0, -1), addresses, strict=True):
            try:
                # A silent address leaves their share of the time to those behind it.
                stream = self._backend.connect_tcp(address, port, _left(timeout) / left, local_address, socket_options)
            except (httpcore.ConnectError, httpcore.ConnectTimeout) as error:
                refused = error
            else:
                return self._stream(stream)
        raise refused


class DeadlineStream(httpcore.NetworkStream):
    """A connection in which every `timeout` is a moment."""

    def __init__(self, stream: httpcore.NetworkStream) -> None:
        self._stream = stream

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        """Read what has come. Raises httpcore.ReadTimeout, ReadError."""
        return self._stream.read(max_bytes, _left(timeout))

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        """Write everything. Raises httpcore.WriteTimeout, WriteError."""
        connection: socket.socket = self._stream.get_extra_info("socket")
        try:
            connection.settimeout(_left(timeout))
            # The time of sendall is for the whole buffer; httpcore's own write starts it anew with every piece.
            connection.sendall(buffer)
        except TimeoutError as error:
            raise httpcore.WriteTimeout(str(error)) from error
        except OSError as error:
            raise httpcore.WriteError(str(error)) from error

    def close(self) -> None:
        """Close the connection."""
        self._stream.close()

    def start_tls(
        self, ssl_context: ssl.SSLContext, server_hostname: str | None = None, timeout: float | None = None
    ) -> httpcore.NetworkStream:
        """Speak TLS from here on. Raises httpcore.ConnectError, ConnectTimeout."""
        return self._over(self._stream.start_tls(ssl_context, server_hostname, _left(timeout)))

    def _over(self, stream: httpcore.NetworkStream) -> "DeadlineStream":
        return DeadlineStream(stream)

    def get_extra_info(self, info: str) -> object:
        """Give what the stream below knows: its socket, its addresses."""
        return self._stream.get_extra_info(info)


def _left(moment: float | None) -> float:
    left = (moment or 0.0) - perf_counter()
    if left <= 0:
        raise httpcore.ReadTimeout("the deadline has passed")
    return left


def asked_patience(header: str | None, now: datetime | None = None) -> float | None:
    """Read a header Retry-After, seconds or a date, as seconds from now; None without one or for something else."""
    if not header:
        return None
    if header.strip().isascii() and header.strip().isdigit():
        return float(min(int(header.strip()[:12]), 10**9))
    try:
        moment = parsedate_to_datetime(header)
    except (ValueError, OverflowError):
        return None
    aware = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    return max(0.0, (aware - (now or datetime.now(UTC))).total_seconds())


class HostPace:
    """Gives each host its pause, by a monotonic clock; safe to share between threads. Other processes are not known of."""

    def __init__(self, clock: Callable[[], float], wait: Callable[[float], None]) -> None:
        self._clock = clock
        self._wait = wait
        self._lock = Lock()
        self._free_at: dict[str, float] = {}

    def take(self, host: str, pause: float) -> None:
        """Wait until the host may be asked again, and take that turn: the next one comes `pause` seconds later."""
        with self._lock:
            turn = max(self._clock(), self._free_at.get(host, 0.0))
            self._free_at[host] = turn + pause
        if (seconds := turn - self._clock()) > 0:
            self._wait(seconds)


def json_object(content: bytes) -> Mapping[str, Any] | None:
    """Read an answer that is a JSON object; None for anything else."""
    try:
        document = json.loads(content)
    except (ValueError, RecursionError):
        return None
    return document if isinstance(document, dict) else None
