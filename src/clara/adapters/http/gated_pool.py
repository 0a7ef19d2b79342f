"""Requests that ask before they are written, and that know whether they were: for what must not be done twice.

Whatever is written may have been taken, so nothing here sends a request twice: no retries, no redirects.
"""

import ssl
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from logging import ERROR, getLogger
from threading import local
from time import monotonic
from typing import Any, Final
from urllib.parse import urlsplit

import certifi
from urllib3 import HTTPConnectionPool, HTTPSConnectionPool, Timeout
from urllib3.connection import HTTPConnection, HTTPSConnection
from urllib3.exceptions import HTTPError

from clara.errors import Refused, Unavailable

# A lost SYN is repeated after 1 s and again after 2 s: a little more than both.
CONNECT_SECONDS: Final = 3.05
# A service that sends messages answers in well under a second; a longer silence is a lost answer.
READ_SECONDS: Final = 10.0
# The threads of the largest worker: each finds its own connection.
MAX_CONNECTIONS: Final = 32
# Networks forget silent connections (the shortest common limit is a minute), and then the next request is a lost answer.
MAX_IDLE_SECONDS: Final = 30.0
# A page of 50 messages of 1,600 characters, escaped, takes less than 1 MB.
MAX_ANSWER_BYTES: Final = 2_000_000


class NotWrittenError(Unavailable):
    """Nothing of the request was written: it cannot have been taken. `wait` is in seconds, None where nothing is known."""

    def __init__(self, reason: str, wait: float | None = None) -> None:
        super().__init__(reason)
        self.wait = wait


class BrokenExchangeError(Unavailable):
    """The request was written and no answer came that tells whether it was taken."""


@dataclass(frozen=True, slots=True)
class Exchange:
    """An answer: its status, its headers by their names in lower case, and its content, cut where it is too large."""

    status: int
    headers: Mapping[str, str]
    content: bytes


class _NotTimelyError(Refused):
    """The request may no longer be written."""


class _Gate(local):
    """What this thread's request has to ask before it is written, and whether it was."""

    timely: Callable[[], bool] | None = None
    written: bool = False


class _Gated(HTTPConnection):
    """Writes a request in one piece, after asking; no earlier than that is the network waited for."""

    # The library's arguments are handed on as they are, hence Any.
    def __init__(self, *args: Any, gate: _Gate, **named: Any) -> None:  # noqa: ANN401
        super().__init__(*args, **named)
        self._gate = gate
        self._pieces: list[bytes] | None = None
        self._used_at = monotonic()

    def request(self, *args: Any, **named: Any) -> None:  # noqa: ANN401
        if self.sock is None:
            self.connect()
        self._pieces = []
        super().request(*args, **named)
        request, self._pieces = b"".join(self._pieces), None
        if self._gate.timely is not None and not self._gate.timely():
            raise _NotTimelyError
        self._gate.written = True
        self._used_at = monotonic()
        self.send(request)

    def send(self, data: Any) -> None:  # noqa: ANN401
        if self._pieces is None:
            super().send(data)
        else:
            self._pieces.append(data)

    @property
    def is_connected(self) -> bool:
        """Whether the pool may use it again."""
        return super().is_connected and monotonic() - self._used_at < MAX_IDLE_SECONDS


class _GatedSecurely(_Gated, HTTPSConnection):
    """The same over TLS."""


class _Pool(HTTPConnectionPool):
    ConnectionCls = _Gated


class _SecurePool(HTTPSConnectionPool):
    ConnectionCls = _GatedSecurely


class GatedPool:
    """One pool of connections for all threads, to the host of `base_url` and no other.

    `read_seconds` is the longest silence before and within an answer. Proxies, certificates and regions named in the
    environment are not used. Certificates are checked against certifi's.
    """

    def __init__(self, base_url: str, read_seconds: float = READ_SECONDS) -> None:
        # What they write names the address that was asked, and that names a person or holds a token.
        for name in ("urllib3.connection", "urllib3.connectionpool"):
            getLogger(name).setLevel(ERROR)
        self._gate = _Gate()
        self._pool = _pool(base_url, self._gate, Timeout(connect=CONNECT_SECONDS, read=read_seconds))

    @contextmanager
    def asking(self, timely: Callable[[], bool]) -> Iterator[None]:
        """Have this thread's requests ask `timely` at the last moment before they are written."""
        self._gate.timely = timely
        try:
            yield
        finally:
            self._gate.timely = None

    def close(self) -> None:
        """Close the connections that wait for a request."""
        self._pool.close()

    def exchange(self, method: str, path: str, body: bytes | None, headers: Mapping[str, str]) -> Exchange:
        """Write one request and read its answer. Raises NotWrittenError, BrokenExchangeError."""
        self._gate.written = False
        try:
            answer = self._pool.urlopen(
                method, path, body, headers, retries=False, redirect=False, preload_content=False, decode_content=False
            )
            content = answer.read(MAX_ANSWER_BYTES)
            if len(content) >= MAX_ANSWER_BYTES:
                answer.close()
        except _NotTimelyError as error:
            raise NotWrittenError("not sent in time", 0.0) from error
        except (HTTPError, OSError) as error:
            reason = type(error).__name__
            if self._gate.written:
                raise BrokenExchangeError(f"the answer was lost: {reason}") from error
            raise NotWrittenError(f"the service could not be reached: {reason}") from error
        return Exchange(answer.status, {name.lower(): value for name, value in answer.headers.items()}, content)


def _pool(base_url: str, gate: _Gate, timeout: Timeout) -> HTTPConnectionPool:
    parts = urlsplit(base_url)
    host = str(parts.hostname)
    if parts.scheme == "https":
        context = ssl.create_default_context(cafile=certifi.where())
        return _SecurePool(host, parts.port, timeout=timeout, maxsize=MAX_CONNECTIONS, ssl_context=context, gate=gate)
    return _Pool(host, parts.port, timeout=timeout, maxsize=MAX_CONNECTIONS, gate=gate)
