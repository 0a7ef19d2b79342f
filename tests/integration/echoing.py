"""A server that says what reached its application: python -m tests.integration.echoing PORT SECONDS MOST_BYTES POOL_BYTES."""

import json
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from granian.constants import HTTPModes, Interfaces
from granian.log import LogLevels
from granian.server import Server

from clara.processes.request_bounds import RequestBounds, WholeRequests

if TYPE_CHECKING:
    from wsgiref.types import StartResponse, WSGIEnvironment


def echo(environ: "WSGIEnvironment", start_response: "StartResponse") -> Iterable[bytes]:
    """Answer with the environment's words and the body; /broken breaks."""
    if environ["PATH_INFO"] == "/broken":
        raise ZeroDivisionError
    words = {name: value for name, value in environ.items() if isinstance(value, str)}
    write = start_response("200 OK", [("Content-Type", "application/json")])
    write(b"[")
    return [json.dumps(words).encode(), b",", json.dumps(environ["wsgi.input"].read().decode()).encode(), b"]"]


@dataclass(frozen=True)
class Loader:
    """Builds what is served."""

    seconds: float
    most_bytes: int
    pool_bytes: int

    def __call__(self) -> WholeRequests:
        """Build it in the process that serves."""
        return WholeRequests(echo, 2, RequestBounds(self.most_bytes, self.seconds, self.pool_bytes))


if __name__ == "__main__":
    server = Server(
        "echo",
        port=int(sys.argv[1]),
        interface=Interfaces.RSGI,
        http=HTTPModes.http1,
        websockets=False,
        log_level=LogLevels.error,
    )
    server.serve(target_loader=Loader(float(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4])), wrap_loader=False)
