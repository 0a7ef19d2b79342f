"""A web server that says what it is told to, well or badly: a stand-in for the hosts that sources lie on."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import ClassVar

from clara_lab.stand_ins.server import Delivery, LoopbackStandIn, ScriptedReply, StandInRequest


@dataclass(frozen=True, slots=True)
class WebPage:
    """What is answered to one path. With an `etag`, whoever has it is told that nothing changed."""

    body: bytes = b""
    status: int = 200
    media_type: str = "text/html; charset=utf-8"
    headers: Mapping[str, str] = field(default_factory=dict)
    etag: str | None = None
    delivery: Delivery = Delivery.ANSWER

    def reply_to(self, request: StandInRequest) -> ScriptedReply:
        """Give the page, or say that it has not changed."""
        tag = {"ETag": self.etag} if self.etag else {}
        if self.etag and request.headers.get("if-none-match") == self.etag:
            return ScriptedReply(status=304, body=b"", headers=tag)
        kind = {"Content-Type": self.media_type} if self.media_type else {}
        return ScriptedReply(self.delivery, self.status, self.body, {**kind, **self.headers, **tag})


@dataclass
class ScriptedWeb(LoopbackStandIn):
    """The pages of a host by target; of several pages the first ones are given once, the last one ever after."""

    drip_bytes: ClassVar[int] = 16
    pages: dict[str, list[WebPage]] = field(default_factory=dict)
    asked: list[StandInRequest] = field(default_factory=list)

    def put(self, target: str, *pages: WebPage) -> None:
        """Say what a target answers from now on."""
        self.pages[target] = list(pages)

    def paths(self) -> list[str]:
        """Give the targets that were asked for, in order, without robots.txt."""
        return [asked.target for asked in self.asked if asked.target != "/robots.txt"]

    async def answer(self, request: StandInRequest) -> ScriptedReply:
        """Note a request and give its answer; 404 for a target that nobody wrote."""
        self.asked.append(request)
        held = self.pages.get(request.target) or [WebPage(b"<p>nothing here</p>", 404)]
        return (held.pop(0) if len(held) > 1 else held[0]).reply_to(request)

    @contextmanager
    def serving(self, port: int = 0) -> Iterator[str]:
        """Serve on this machine, and give the address."""
        try:
            yield self.serve(port).url
        finally:
            self.close()
