"""Twilio's client over connections that ask before they write, and that know whether they have written.

Whatever is written may have been taken, so nothing here sends a request twice: no retries, no redirects.
"""

import json
import re
import ssl
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from datetime import datetime
from email.utils import parsedate_to_datetime
from logging import ERROR, getLogger
from threading import local
from time import monotonic
from typing import Any, Final
from urllib.parse import urlencode, urlsplit

import certifi
from twilio.http import HttpClient
from twilio.http.response import Response
from urllib3 import HTTPConnectionPool, HTTPSConnectionPool, Timeout, make_headers
from urllib3.connection import HTTPConnection, HTTPSConnection
from urllib3.exceptions import HTTPError
from urllib3.response import BaseHTTPResponse

from clara.channels.twilio.codes import FORBIDDEN, TOO_MANY_REQUESTS, UNAUTHORIZED
from clara.errors import Refused, Unavailable

# A lost SYN is repeated after 1 s and again after 2 s: a little more than both.
CONNECT_SECONDS: Final = 3.05
# Twilio answers a send in well under a second; a longer silence is a lost answer.
READ_SECONDS: Final = 10.0
# The threads of the largest worker: each finds its own connection.
MAX_CONNECTIONS: Final = 32
# Networks forget silent connections (the shortest common limit is a minute), and then the next request is a lost answer.
MAX_IDLE_SECONDS: Final = 30.0
# A page of 50 messages of 1,600 characters, escaped, takes less than 1 MB.
MAX_ANSWER_BYTES: Final = 2_000_000
# Past this, asking again costs less than a wrong or hostile header.
MAX_WAIT_SECONDS: Final = 900.0

OK: Final = range(200, 300)
REFUSED: Final = range(400, 500)
# Statuses that say "not taken" even from something between us and Twilio; other 4xx without Twilio's code say nothing.
CLEAR: Final = frozenset({UNAUTHORIZED, FORBIDDEN, TOO_MANY_REQUESTS})


class NotWrittenError(Unavailable):
    """Nothing of the request was written: it cannot have been taken. `wait` is in seconds, None where nothing is known."""

    def __init__(self, reason: str, wait: float | None = None) -> None:
        super().__init__(reason)
        self.wait = wait


class BrokenExchangeError(Unavailable):
    """The request was written and no answer came that tells whether it was taken."""


class RefusedError(Refused):
    """Twilio answered that it did not take the request. `code` is Twilio's own, `wait` what it asks for, in seconds."""

    def __init__(self, status: int, code: str | None, wait: float | None) -> None:
        super().__init__(f"Twilio answered {status} (code {code})")
        self.status = status
        self.code = code
        self.wait = wait


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


class Transport(HttpClient):  # type: ignore[misc]  # twilio ships no types
    """What Twilio's client speaks through: one pool for all threads, to the host of `base_url` and no other.

    `read_seconds` is the longest silence before and within an answer. Proxies, certificates and regions named in the
    environment are not used. Certificates are checked against certifi's.
    """

    def __init__(self, base_url: str, read_seconds: float = READ_SECONDS) -> None:
        super().__init__(getLogger(__name__), is_async=False)
        # Its warning about odd headers names the address that was asked, and that names a person.
        getLogger("urllib3.connection").setLevel(ERROR)
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

    def request(
        self,
        method: str,
        uri: str,
        params: Mapping[str, Any] | None = None,
        data: Mapping[str, Any] | None = None,
        headers: Mapping[str, str] | None = None,
        auth: tuple[str, str] | None = None,
        **_unused: object,
    ) -> Response:
        """Exchange one request; give an answer of 2xx that is a JSON object.

        Raises NotWrittenError, BrokenExchangeError, RefusedError.
        """
        path = urlsplit(uri).path + (f"?{urlencode(params)}" if params else "")
        body = urlencode(data).encode() if data else None
        known = make_headers(basic_auth=":".join(auth) if auth else None, accept_encoding="identity")
        answer, content = self._exchange(method, path, body, {**(headers or {}), **known})
        answered = {name.lower(): value for name, value in answer.headers.items()}
        document = _document_of(content)
        if answer.status in OK and document is not None:
            return Response(answer.status, content.decode(), answered)
        code = _code_of(document or {})
        if answer.status in REFUSED and (code is not None or answer.status in CLEAR):
            raise RefusedError(answer.status, code, _wait_of(answered))
        raise BrokenExchangeError(f"Twilio answered {answer.status}, or something else than JSON")

    def _exchange(self, method: str, path: str, body: bytes | None, headers: dict[str, str]) -> tuple[BaseHTTPResponse, bytes]:
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
                raise BrokenExchangeError(f"Twilio's answer was lost: {reason}") from error
            raise NotWrittenError(f"Twilio could not be reached: {reason}") from error
        return answer, content


def date_of(headers: Mapping[str, str]) -> datetime | None:
    """Give the moment at which an answer was written, by the clock of who wrote it. Names of headers are in lower case."""
    return _moment(headers.get("date", ""))


def _pool(base_url: str, gate: _Gate, timeout: Timeout) -> HTTPConnectionPool:
    parts = urlsplit(base_url)
    host = str(parts.hostname)
    if parts.scheme == "https":
        context = ssl.create_default_context(cafile=certifi.where())
        return _SecurePool(host, parts.port, timeout=timeout, maxsize=MAX_CONNECTIONS, ssl_context=context, gate=gate)
    return _Pool(host, parts.port, timeout=timeout, maxsize=MAX_CONNECTIONS, gate=gate)


def _document_of(content: bytes) -> Mapping[str, Any] | None:
    try:
        document = json.loads(content)
    except (ValueError, RecursionError):
        return None
    return document if isinstance(document, dict) else None


def _code_of(document: Mapping[str, Any]) -> str | None:
    code = str(document.get("code"))
    return code if re.fullmatch(r"[0-9]{3,6}", code) else None


def _wait_of(headers: Mapping[str, str]) -> float | None:
    asked = headers.get("retry-after", "")
    if re.fullmatch(r"[0-9]{1,9}", asked):
        return min(float(asked), MAX_WAIT_SECONDS)
    until, now = _moment(asked), date_of(headers)
    return None if until is None or now is None else min(max((until - now).total_seconds(), 0.0), MAX_WAIT_SECONDS)


def _moment(text: str) -> datetime | None:
    try:
        moment = parsedate_to_datetime(text)
    except ValueError:
        return None
    return moment if moment.tzinfo is not None else None
