"""Reads every request whole before a thread is given to it: a form that comes slowly, or never ends, holds up nobody.

granian reads on an event loop (its interface RSGI); threads serve with the WSGI application.
"""

import asyncio
import sys
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from http import HTTPStatus
from io import BytesIO
from ipaddress import ip_address
from typing import TYPE_CHECKING, Final

import structlog
from granian.rsgi import ProtocolClosed

from clara.errors import Refused

if TYPE_CHECKING:
    from collections.abc import Callable
    from wsgiref.types import WSGIApplication, WSGIEnvironment

    from granian.rsgi import HTTPProtocol, Scope

# A form is a few kilobytes and comes at once; Twilio itself gives up after 15 seconds. granian is patient only with the head.
READ_SECONDS: Final = 10.0
# What was not read to its end cannot be told from the next request.
CLOSING: Final = [("connection", "close")]
# Headers of the body on its way (RFC 9112, 6): the application gets it whole, with the length that it has.
OF_THE_TRANSFER: Final = ("HTTP_CONTENT_LENGTH", "HTTP_TRANSFER_ENCODING", "HTTP_TRAILER", "HTTP_TE")


# Most forms are below one kilobyte; the longest text of WhatsApp, percent-encoded, makes forty. So much of each body is not
# counted: whoever fills the pool with large bodies takes no room from the small ones.
FREE_BYTES: Final = 8 * 1024
# All other bytes of bodies that are not there whole yet, by the length they tell: four hundred of the longest texts at once.
POOL_BYTES: Final = 16 * 1024 * 1024
# Requests of one address that are not there whole yet. Twilio's are within milliseconds: of fifty a second, one or two are not.
UNFINISHED_PER_ADDRESS: Final = 64


class TooLargeError(Refused):
    """The body is larger than any that is served."""


class CrowdedError(Refused):
    """Too much is unfinished: of this address, or of all."""


# ProtocolClosed: the client went away, and part of the body with it.
REFUSED: Final = {
    TimeoutError: HTTPStatus.REQUEST_TIMEOUT,
    TooLargeError: HTTPStatus.REQUEST_ENTITY_TOO_LARGE,
    CrowdedError: HTTPStatus.SERVICE_UNAVAILABLE,
    ProtocolClosed: HTTPStatus.BAD_REQUEST,
}


@dataclass(frozen=True, slots=True)
class RequestBounds:
    """What one body may have, how long it may take to come, and what may be unfinished at the same moment."""

    most_bytes: int
    seconds: float = READ_SECONDS
    pool_bytes: int = POOL_BYTES
    per_address: int = UNFINISHED_PER_ADDRESS


log = structlog.get_logger()


class WholeRequests:
    """Serves a WSGI application on so many threads; refuses what is over the bounds: too large (413), slow (408), many (503).

    The bound by address is not for addresses inside: there are proxies, behind which everybody has the same one.
    """

    def __init__(self, application: "WSGIApplication", threads: int, bounds: RequestBounds) -> None:
        self._application = application
        self._threads = ThreadPoolExecutor(threads, "request")
        self._bounds = bounds
        self._pooled = 0
        self._unfinished: Counter[str] = Counter()

    async def __call__(self, scope: "Scope", protocol: "HTTPProtocol") -> None:
        """Serve a request."""
        try:
            with self._counted(_address(scope.client)[0]):
                async with asyncio.timeout(self._bounds.seconds):
                    body = await self._body(scope, protocol)
        except tuple(REFUSED) as error:
            status = REFUSED[type(error)]
            log.warning("request not read", status=status.value, reason=status.phrase)
            protocol.response_empty(status, CLOSING)
        else:
            await asyncio.get_running_loop().run_in_executor(self._threads, self._serve, scope, protocol, body)

    @contextmanager
    def _counted(self, address: str) -> Iterator[None]:
        """Count a request as unfinished. Raises CrowdedError when its address has too many."""
        if self._unfinished[address] >= self._bounds.per_address and not is_inside(address):
            raise CrowdedError
        self._unfinished[address] += 1
        try:
            yield
        finally:
            self._unfinished[address] -= 1
            if not self._unfinished[address]:
                del self._unfinished[address]

    async def _body(self, scope: "Scope", protocol: "HTTPProtocol") -> bytes:
        told = scope.headers.get("content-length")
        if told is not None and int(told) > self._bounds.most_bytes:
            raise TooLargeError
        if "transfer-encoding" in scope.headers:
            return await self._gathered(protocol)
        if told is None:
            return b""
        with self._pool() as take:
            take(int(told))
            return await protocol()

    async def _gathered(self, protocol: "HTTPProtocol") -> bytes:
        """Read a body whose length nobody told."""
        body = bytearray()  # grows in place: a body in many small chunks must not be copied for each of them
        with self._pool() as take:
            async for chunk in protocol:
                body += chunk
                if len(body) > self._bounds.most_bytes:
                    raise TooLargeError
                take(len(body))
        return bytes(body)

    @contextmanager
    def _pool(self) -> Iterator["Callable[[int], None]"]:
        """Give what takes room for a body of so many bytes, before they are read. It raises CrowdedError; all is given back."""
        taken = 0

        def take(size: int) -> None:
            nonlocal taken
            more = max(size - FREE_BYTES, 0) - taken
            if self._pooled + more > self._bounds.pool_bytes and more > 0:
                raise CrowdedError
            taken += more
            self._pooled += more

        try:
            yield take
        finally:
            self._pooled -= taken

    def _serve(self, scope: "Scope", protocol: "HTTPProtocol", body: bytes) -> None:
        answer = _Answer()
        chunks = self._application(environment(scope, body), answer)
        try:
            content = b"".join([*answer.written, *chunks])
        finally:
            if hasattr(chunks, "close"):
                chunks.close()
        protocol.response_bytes(answer.status, answer.headers, content)


class _Answer:
    """What the application says before it gives the body of its answer."""

    def __init__(self) -> None:
        self.status = 0
        self.headers: list[tuple[str, str]] = []
        self.written: list[bytes] = []

    def __call__(self, status: str, headers: list[tuple[str, str]], _error: object = None, /) -> "Callable[[bytes], object]":
        self.status, self.headers = int(status.partition(" ")[0]), headers
        return self.written.append


def environment(scope: "Scope", body: bytes) -> "WSGIEnvironment":
    """Give the request as PEP 3333 wants it.

    A header whose name has an underscore is left out: behind a proxy it could pass for one with a hyphen. So is what says how
    the body came: it is here whole, and Werkzeug reads nothing of one that it takes for chunks.
    """
    server, port = _address(scope.server)
    headers = {f"HTTP_{name.upper().replace('-', '_')}": value for name, value in scope.headers.items() if "_" not in name}
    kind = headers.pop("HTTP_CONTENT_TYPE", None)
    for name in OF_THE_TRANSFER:
        headers.pop(name, None)
    return {
        **headers,
        **({} if kind is None else {"CONTENT_TYPE": kind}),
        "CONTENT_LENGTH": str(len(body)),
        "REQUEST_METHOD": scope.method,
        "SCRIPT_NAME": "",
        "PATH_INFO": scope.path.encode().decode("latin-1"),
        "QUERY_STRING": scope.query_string,
        "REMOTE_ADDR": _address(scope.client)[0],
        "SERVER_NAME": server,
        "SERVER_PORT": port,
        "SERVER_PROTOCOL": f"HTTP/{scope.http_version}",
        "wsgi.version": (1, 0),
        "wsgi.url_scheme": scope.scheme,
        "wsgi.input": BytesIO(body),
        "wsgi.errors": sys.stderr,
        "wsgi.multithread": True,
        "wsgi.multiprocess": False,
        "wsgi.run_once": False,
    }


def is_inside(address: str) -> bool:
    """Whether an address is of this machine or of a private network, where proxies are."""
    try:
        return ip_address(address).is_private
    except ValueError:  # a socket of the file system has none
        return True


def _address(name: str) -> tuple[str, str]:
    """Part an address from its port; one of IPv6 stands in brackets."""
    address, _, port = name.rpartition(":")
    return address.strip("[]"), port
