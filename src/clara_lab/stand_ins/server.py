"""Serving on loopback in a thread: what the stand-ins for services have in common."""

import sys
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Event, Lock, Thread
from typing import Any, ClassVar, Self


class _LoopbackServer(ThreadingHTTPServer):
    def handle_error(self, request: Any, client_address: Any) -> None:  # noqa: ANN401  as in the library
        """Stay quiet about a client that hangs up, as a fault is meant to make it."""
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)


@dataclass
class LoopbackStandIn:
    """A service of this machine. `url` is its address once it serves; `closing` is set when it ends.

    `handler` answers a request; it finds the stand-in in its attribute `state`.
    """

    handler: ClassVar[type[BaseHTTPRequestHandler]]
    url: str = field(default="", init=False)
    lock: Lock = field(default_factory=Lock, init=False)
    closing: Event = field(default_factory=Event, init=False)
    server: ThreadingHTTPServer | None = field(default=None, init=False)

    def serve(self, port: int = 0) -> Self:
        """Start serving in a thread; `close` ends it. Raises OSError when the port is taken."""
        self.server = _LoopbackServer(("127.0.0.1", port), type("Handler", (self.handler,), {"state": self}))
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}"
        # Closing waits for the next poll.
        Thread(target=self.server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()
        return self

    def close(self) -> None:
        """Let every hanging request go and stop serving."""
        self.closing.set()
        if self.server:
            self.server.shutdown()
            self.server.server_close()
