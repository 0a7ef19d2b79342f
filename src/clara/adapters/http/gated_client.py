"""Requests that ask before they are written, and that know whether they were: for what must not be done twice."""

from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import partial
from threading import local
from typing import Final
from urllib.parse import urlsplit
from weakref import finalize

import httpcore
import httpx

from clara.adapters.http.client import DeadlineBackend, DeadlineStream, DeadlineTransport, client_over
from clara.errors import Refused, Unavailable

# A lost SYN is repeated after 1 s and again after 2 s: a little more than both.
CONNECT_SECONDS: Final = 3.05
# A service that sends messages answers in well under a second; a longer silence is a lost answer.
ANSWER_SECONDS: Final = 10.0
# A page of 50 messages of 1,600 characters, escaped, takes less than 1 MB.
MAX_GATED_BYTES: Final = 2_000_000


class NotWrittenError(Unavailable):
    """Nothing of the request was written: it cannot have been taken. `wait` is in seconds, None where nothing is known."""

    def __init__(self, reason: str, wait: float | None = None) -> None:
        super().__init__(reason)
        self.wait = wait


class BrokenExchangeError(Unavailable):
    """The request was written and no answer came that tells whether it was taken."""


class _NotTimelyError(Refused):
    """The request may no longer be written."""


class _Gate(local):
    """What this thread's request has to ask before it is written, and whether it was."""

    timely: Callable[[], bool] = staticmethod(lambda: False)
    written: bool = False


class _GatedStream(DeadlineStream):
    """Writes a request in one piece, after asking, when its answer is waited for: the network is not waited for in between."""

    def __init__(self, stream: httpcore.NetworkStream, gate: _Gate) -> None:
        super().__init__(stream)
        self._gate = gate
        self._pieces: list[bytes] = []

    def write(self, buffer: bytes, timeout: float | None = None) -> None:  # noqa: ARG002  it is read's that counts
        self._pieces.append(buffer)

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        if self._pieces:
            if not self._gate.timely():
                raise _NotTimelyError
            self._gate.written = True
            request, self._pieces = b"".join(self._pieces), []
            with suppress(httpcore.WriteError):  # who stops listening may have answered before
                super().write(request, timeout)
        return super().read(max_bytes, timeout)

    def _over(self, stream: httpcore.NetworkStream) -> "_GatedStream":
        return _GatedStream(stream, self._gate)


class GatedClient:
    """Requests that ask before they are written, and that know whether they were: for what must not be done twice.

    One for all threads, each with a connection, to the host of `base_url` and no other. An answer is lost after `seconds`; one
    that is packed or too large is given as it is, cut, for its status says what became of the request.
    """

    def __init__(self, base_url: str, seconds: float = ANSWER_SECONDS) -> None:
        parts = urlsplit(base_url)
        self._origin = f"{parts.scheme}://{parts.netloc}"
        self._seconds = seconds
        self._gate = _Gate()
        backend = DeadlineBackend(connect_seconds=CONNECT_SECONDS, stream=partial(_GatedStream, gate=self._gate))
        self._http = client_over(DeadlineTransport(backend, MAX_GATED_BYTES, None, whole=False))
        # A sender lasts as long as its worker, and nobody has to close it.
        finalize(self, self._http.close)

    def close(self) -> None:
        """Close the connections that wait for a request."""
        self._http.close()

    def exchange(
        self, method: str, path: str, body: bytes | None, headers: Mapping[str, str], timely: Callable[[], bool]
    ) -> httpx.Response:
        """Write one request, if it is still `timely` once the connection stands, and give its answer.

        Raises NotWrittenError, BrokenExchangeError.
        """
        self._gate.timely, self._gate.written = timely, False
        try:
            return self._http.request(method, self._origin + path, content=body, headers=headers, timeout=self._seconds)
        except _NotTimelyError as error:
            raise NotWrittenError("not sent in time", 0.0) from error
        except httpx.HTTPError as error:
            if self._gate.written:
                raise BrokenExchangeError(f"the answer was lost: {type(error).__name__}") from error
            raise NotWrittenError(f"the service could not be reached: {type(error).__name__}") from error
        finally:
            self._gate.timely = _Gate.timely
