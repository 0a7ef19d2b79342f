"""The one server of all stand-ins: it answers on loopback as it is told, well or badly, in an event loop in a thread."""

import asyncio
import json
import socket
import struct
from asyncio import StreamReader, StreamWriter
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from enum import StrEnum
from http import HTTPStatus
from http.client import responses
from threading import Event, Lock, Thread
from typing import Any, ClassVar, Final, Self
from urllib.parse import parse_qsl, urlsplit
from weakref import WeakSet

import click

# Between two pieces of a drip: well below every sensible timeout, so that only a total deadline ends it.
DRIP_SECONDS: Final = 0.02
LONGEST_HANG_SECONDS: Final = 60.0
# Bytes of the head of a request, and connections that wait to be accepted.
MOST_HEAD: Final = 1 << 16
# Until a connection that came at the last moment is served: a server that closes while it accepts one leaves it open.
LATE_SECONDS: Final = 0.01
BACKLOG: Final = 512


class Delivery(StrEnum):
    """How a reply is sent. After everything but an answer the connection ends."""

    ANSWER = "answer"
    HANG = "hang"
    DRIP_HEADERS = "drip headers"
    DRIP_BODY = "drip body"
    TRUNCATED = "truncated"
    RESET = "reset"
    CUT = "cut"  # closed without a byte


@dataclass(frozen=True, slots=True)
class ScriptedReply:
    """What one request gets, `delay` seconds later; status, body and headers count only where the delivery sends them."""

    delivery: Delivery = Delivery.ANSWER
    status: int = 200
    body: bytes = b"{}"
    headers: Mapping[str, str] = field(default_factory=dict)
    delay: float = 0.0

    def head(self) -> bytes:
        """Give the status line and the headers."""
        length = {} if self.status == HTTPStatus.NOT_MODIFIED else {"Content-Length": str(len(self.body))}
        lines = (f"{name}: {value}\r\n" for name, value in {**length, **self.headers}.items())
        return f"HTTP/1.1 {self.status} {responses.get(self.status, 'Other')}\r\n{''.join(lines)}\r\n".encode("latin-1")


def json_reply(document: Any, status: int = 200, headers: Mapping[str, str] | None = None) -> ScriptedReply:  # noqa: ANN401
    """Give a document as JSON."""
    kind = {"Content-Type": "application/json", **(headers or {})}
    return ScriptedReply(status=status, body=json.dumps(document).encode(), headers=kind)


@dataclass(frozen=True, slots=True)
class StandInRequest:
    """A request that a stand-in saw. `target` is the path with its query; names of headers are in lower case."""

    method: str
    target: str
    headers: Mapping[str, str]
    body: bytes = b""

    @property
    def path(self) -> str:
        """The path without its query."""
        return urlsplit(self.target).path

    @property
    def query(self) -> dict[str, str]:
        """The query, each name once."""
        return dict(parse_qsl(urlsplit(self.target).query, keep_blank_values=True))

    @property
    def document(self) -> Any:  # noqa: ANN401  whatever JSON has
        """The body as JSON; empty, it is an empty object."""
        return json.loads(self.body or b"{}")


@dataclass
class LoopbackStandIn:
    """A service of this machine. `url` is its address once it serves. One of its own says in `answer` what a request gets."""

    drip_bytes: ClassVar[int] = 1
    url: str = field(default="", init=False)
    lock: Lock = field(default_factory=Lock, init=False)
    _ended: asyncio.Event = field(default_factory=asyncio.Event, init=False, repr=False)
    _loop: asyncio.AbstractEventLoop | None = field(default=None, init=False, repr=False)
    _thread: Thread | None = field(default=None, init=False, repr=False)

    async def answer(self, request: StandInRequest) -> ScriptedReply:
        """Give the reply to a request, in the event loop."""
        raise NotImplementedError

    async def ended(self) -> None:
        """Let go, in the event loop, of what runs beside the requests."""

    def serve(self, port: int = 0) -> Self:
        """Start serving in a thread; `close` ends it. Raises OSError when the port is taken."""
        listener, ready = socket.create_server(("127.0.0.1", port), backlog=BACKLOG), Event()
        self.url = f"http://127.0.0.1:{listener.getsockname()[1]}"
        self._thread = Thread(target=lambda: asyncio.run(self._serve(listener, ready)), name="stand-in", daemon=True)
        self._thread.start()
        ready.wait()
        return self

    def serve_until_interrupted(self, port: int, said: str) -> None:
        """Serve until the process is interrupted; print `said` with the address when it is ready."""
        self.serve(port)
        click.echo(said.format(url=self.url))
        with suppress(KeyboardInterrupt):
            Event().wait()
        self.close()

    def close(self) -> None:
        """Let every hanging request go and stop serving; safe to repeat."""
        if self._loop is not None and self._thread is not None and self._thread.is_alive():
            self._loop.call_soon_threadsafe(self._ended.set)
            self._thread.join()

    async def _serve(self, listener: socket.socket, ready: Event) -> None:
        self._loop, self._ended = asyncio.get_running_loop(), asyncio.Event()
        self._transports: WeakSet[asyncio.WriteTransport] = WeakSet()
        server = await asyncio.start_server(self._converse, sock=listener, limit=MOST_HEAD)
        ready.set()
        await self._ended.wait()
        await asyncio.sleep(LATE_SECONDS)
        server.close()
        await self.ended()
        for transport in list(self._transports):  # what nobody reads would stay open behind the loop
            transport.abort()
        await asyncio.sleep(0)

    async def _converse(self, reader: StreamReader, writer: StreamWriter) -> None:
        self._transports.add(writer.transport)
        try:
            while await self._deliver(writer, await self.answer(await _read(reader))):
                await writer.drain()
            writer.close()
        except (ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
            writer.transport.abort()  # whoever hangs up had enough, as a fault is meant to make it

    async def _deliver(self, writer: StreamWriter, reply: ScriptedReply) -> bool:
        """Send a reply; say whether the connection stays."""
        await asyncio.sleep(reply.delay)
        match reply.delivery:
            case Delivery.ANSWER:
                writer.write(reply.head() + reply.body)
            case Delivery.HANG:
                await asyncio.sleep(LONGEST_HANG_SECONDS)
            case Delivery.DRIP_HEADERS:
                await self._drip(writer, reply.head() + reply.body)
            case Delivery.DRIP_BODY:
                writer.write(reply.head())
                await self._drip(writer, reply.body)
            case Delivery.TRUNCATED:
                writer.write(reply.head() + reply.body[: len(reply.body) // 2])
            case Delivery.RESET:
                writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                writer.transport.abort()
            case Delivery.CUT:
                writer.transport.abort()
        return reply.delivery is Delivery.ANSWER

    async def _drip(self, writer: StreamWriter, content: bytes) -> None:
        for place in range(0, len(content), self.drip_bytes):
            writer.write(content[place : place + self.drip_bytes])
            await writer.drain()
            await asyncio.sleep(DRIP_SECONDS)


async def _read(reader: StreamReader) -> StandInRequest:
    head, *lines = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").rstrip("\r\n").split("\r\n")
    method, target, _ = head.split(" ")
    headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
    return StandInRequest(method, target, headers, await reader.readexactly(int(headers.get("content-length", "0"))))
