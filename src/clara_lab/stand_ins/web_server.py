"""A web server that says what it is told to, well or badly: a stand-in for the hosts that sources lie on."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from enum import StrEnum
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Event, Thread
from typing import Any, Final

SLICE: Final = 16


class PageDelivery(StrEnum):
    """How an answer is sent."""

    AT_ONCE = "at once"
    CUT = "cut"
    DRIP = "drip"
    DRIP_HEAD = "drip head"
    HANG = "hang"


@dataclass(frozen=True, slots=True)
class WebPage:
    """What is answered to one path. With an `etag`, whoever has it is told that nothing changed."""

    body: bytes = b""
    status: int = 200
    media_type: str = "text/html; charset=utf-8"
    headers: Mapping[str, str] = field(default_factory=dict)
    etag: str | None = None
    pace: PageDelivery = PageDelivery.AT_ONCE


@dataclass(frozen=True, slots=True)
class WebRequest:
    """A request that came: the path with its query, and the headers, their names in small letters."""

    path: str
    headers: Mapping[str, str]


@dataclass(slots=True)
class ScriptedWeb:
    """The pages of a host by path; of several pages the first ones are given once, the last one ever after."""

    pages: dict[str, list[WebPage]] = field(default_factory=dict)
    asked: list[WebRequest] = field(default_factory=list)
    drip_seconds: float = 0.05
    closing: Event = field(default_factory=Event)

    def put(self, path: str, *pages: WebPage) -> None:
        """Say what a path answers from now on."""
        self.pages[path] = list(pages)

    def paths(self) -> list[str]:
        """Give the paths that were asked for, in order, without robots.txt."""
        return [asked.path for asked in self.asked if asked.path != "/robots.txt"]

    def answer(self, asked: WebRequest) -> WebPage:
        """Note a request and give its answer; 404 for a path that nobody wrote."""
        self.asked.append(asked)
        held = self.pages.get(asked.path)
        if not held:
            return WebPage(b"<p>nothing here</p>", 404)
        page = held.pop(0) if len(held) > 1 else held[0]
        return WebPage(status=304, etag=page.etag) if page.etag and asked.headers.get("if-none-match") == page.etag else page

    @contextmanager
    def serving(self, port: int = 0) -> Iterator[str]:
        """Serve on this machine, and give the address."""
        server = _WebServer(("127.0.0.1", port), _WebHandler)
        server.web = self
        thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_address[1]}"
        finally:
            self.closing.set()
            server.shutdown()
            server.server_close()


class _WebServer(ThreadingHTTPServer):
    web: ScriptedWeb
    daemon_threads = True
    block_on_close = False

    def handle_error(self, request: Any, client_address: Any) -> None:  # noqa: ANN401  as in the library
        """Say nothing: whoever asked hung up."""


class _WebHandler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: _WebServer

    def do_GET(self) -> None:
        web = self.server.web
        page = web.answer(WebRequest(self.path, {name.lower(): value for name, value in self.headers.items()}))
        head = self._head(page)
        with suppress(OSError):
            match page.pace:
                case PageDelivery.AT_ONCE:
                    self.wfile.write(head + page.body)
                case PageDelivery.CUT:
                    self.wfile.write(head + page.body[: len(page.body) // 2])
                    self.close_connection = True
                case PageDelivery.DRIP:
                    self._drip(head, page.body)
                case PageDelivery.DRIP_HEAD:
                    self._drip(b"", head + page.body)
                case PageDelivery.HANG:
                    web.closing.wait(30)
                    self.close_connection = True

    def _head(self, page: WebPage) -> bytes:
        headers = {"Content-Type": page.media_type, "Content-Length": str(len(page.body)), **page.headers}
        if page.status == 304:  # noqa: PLR2004  has no content
            headers = dict(page.headers)
        if page.etag:
            headers["ETag"] = page.etag
        lines = [f"HTTP/1.1 {page.status} X", *(f"{name}: {value}" for name, value in headers.items() if value)]
        return ("\r\n".join(lines) + "\r\n\r\n").encode("latin-1")

    def _drip(self, first: bytes, rest: bytes) -> None:
        self.wfile.write(first)
        for start in range(0, len(rest), SLICE):
            if self.server.web.closing.wait(self.server.web.drip_seconds):
                break
            self.wfile.write(rest[start : start + SLICE])
        self.close_connection = True

    def log_message(self, *_: object) -> None:
        pass
