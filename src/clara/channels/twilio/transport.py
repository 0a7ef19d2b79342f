"""What Twilio's client speaks through, and what Twilio's answers are to it."""

import json
import re
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from datetime import datetime
from email.utils import parsedate_to_datetime
from logging import getLogger
from typing import Any, Final
from urllib.parse import urlencode, urlsplit

from twilio.http import HttpClient
from twilio.http.response import Response
from urllib3 import make_headers

from clara.adapters.http.gated_pool import READ_SECONDS, BrokenExchangeError, GatedPool
from clara.channels.twilio.codes import FORBIDDEN, TOO_MANY_REQUESTS, UNAUTHORIZED
from clara.errors import Refused

# Past this, asking again costs less than a wrong or hostile header.
MAX_WAIT_SECONDS: Final = 900.0

OK: Final = range(200, 300)
REFUSED: Final = range(400, 500)
# Statuses that say "not taken" even from something between us and Twilio; other 4xx without Twilio's code say nothing.
CLEAR: Final = frozenset({UNAUTHORIZED, FORBIDDEN, TOO_MANY_REQUESTS})


class TwilioRefusedError(Refused):
    """Twilio answered that it did not take the request. `code` is Twilio's own, `wait` what it asks for, in seconds."""

    def __init__(self, status: int, code: str | None, wait: float | None) -> None:
        super().__init__(f"Twilio answered {status} (code {code})")
        self.status = status
        self.code = code
        self.wait = wait


class TwilioTransport(HttpClient):  # type: ignore[misc]  # twilio ships no types
    """Implements the client's HttpClient over a gated pool, to the host of `base_url` and no other."""

    def __init__(self, base_url: str, read_seconds: float = READ_SECONDS) -> None:
        super().__init__(getLogger(__name__), is_async=False)
        self._pool = GatedPool(base_url, read_seconds)

    def asking(self, timely: Callable[[], bool]) -> AbstractContextManager[None]:
        """Have this thread's requests ask `timely` at the last moment before they are written."""
        return self._pool.asking(timely)

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

        Raises NotWrittenError, BrokenExchangeError, TwilioRefusedError.
        """
        path = urlsplit(uri).path + (f"?{urlencode(params)}" if params else "")
        body = urlencode(data).encode() if data else None
        known = make_headers(basic_auth=":".join(auth) if auth else None, accept_encoding="identity")
        answer = self._pool.exchange(method, path, body, {**(headers or {}), **known})
        document = _document_of(answer.content)
        if answer.status in OK and document is not None:
            return Response(answer.status, answer.content.decode(), answer.headers)
        code = _code_of(document or {})
        if answer.status in REFUSED and (code is not None or answer.status in CLEAR):
            raise TwilioRefusedError(answer.status, code, _wait_of(answer.headers))
        raise BrokenExchangeError(f"Twilio answered {answer.status}, or something else than JSON")


def date_of(headers: Mapping[str, str]) -> datetime | None:
    """Give the moment at which an answer was written, by the clock of who wrote it. Names of headers are in lower case."""
    return _moment(headers.get("date", ""))


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
