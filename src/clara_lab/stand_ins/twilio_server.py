"""A stand-in for Twilio's REST API: it takes messages, lists them, and reports their delivery with signed callbacks.

Speaks the Messages resource of the 2010-04-01 API as the official client uses it: form in, JSON out, Basic auth.
"""

import asyncio
import base64
import json
import re
import socket
from collections.abc import Callable, Mapping
from dataclasses import InitVar, dataclass, field
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from threading import Event, Thread
from time import monotonic
from typing import Any, Final
from urllib.parse import parse_qs, parse_qsl, urlencode, urlsplit
from uuid import uuid4

from aiohttp import web

from clara_lab.stand_ins.twilio_callbacks import CallbackOptions, Reported, Reporter
from clara_lab.stand_ins.twilio_faults import TAKING, FaultMode, FaultPlan, TwilioFault
from clara_lab.stand_ins.twilio_media import MEDIUM, STORE, Media

MESSAGES: Final = re.compile(r"^/2010-04-01/Accounts/(AC[0-9a-f]{32})/Messages\.json$")
MAX_BODY: Final = 1_600
DEFAULT_PAGE: Final = 50
LARGEST_PAGE: Final = 1_000
LONGEST_HANG_SECONDS: Final = 60.0


@dataclass(frozen=True, slots=True)
class TakenMessage:
    """A message that the stand-in took. `reply` is the number in its status callback's address; `at` by the monotonic clock."""

    sid: str
    sender: str
    recipient: str
    body: str
    reply: int | None = None
    at: float = 0.0


@dataclass(slots=True)
class TwilioStandIn:
    """The state of the stand-in. `url` is its address once it serves.

    `faults` are given first to what is sent, one a request: a Fault, or an error's (HTTP status, Twilio's code); then
    `plan` decides. `list_faults` and `list_plan` do the same for listings. A message appears in listings `list_lag`
    seconds after it was taken. `manner` is how progress is reported, `callbacks` what came of it. `on_message` is called
    in the stand-in's own thread: it must be quick.
    """

    account_sid: str
    auth_token: str
    on_message: Callable[[TakenMessage], None] = lambda _message: None
    url: str = ""
    taken: list[TakenMessage] = field(default_factory=list)
    faults: list[TwilioFault | tuple[int, int]] = field(default_factory=list)
    plan: FaultPlan | None = None
    list_faults: list[TwilioFault | tuple[int, int]] = field(default_factory=list)
    list_plan: FaultPlan | None = None
    list_lag: float = 0.0
    manner: InitVar[CallbackOptions | None] = None
    callbacks: Reporter = field(init=False)
    media: Media = field(default_factory=Media)

    def __post_init__(self, manner: CallbackOptions | None) -> None:
        self.callbacks = Reporter(self.auth_token, manner or CallbackOptions())

    def serve(self, port: int = 0) -> "Serving":
        """Start serving on loopback in a thread; the caller shuts it down. Raises OSError when the port is taken."""
        serving = Serving(self, socket.create_server(("127.0.0.1", port)))
        self.url = f"http://127.0.0.1:{serving.port}"
        return serving

    async def answer(self, request: web.BaseRequest) -> web.StreamResponse:
        """Answer one request."""
        body = await request.read()
        if (answered := self._without_message(request)) is not None:
            return answered
        if request.method == "GET":
            fault = _next(self.list_faults, self.list_plan)
            return _json(200, self._page(request)) if fault is None else await _spoilt(request, fault, self._page(request))
        form = dict(parse_qsl(body.decode(), keep_blank_values=True))
        fault = _next(self.faults, self.plan)
        if fault is not None and fault.kind not in TAKING:
            return await _spoilt(request, fault, {})
        if (problem := _problem(form)) is not None:
            return _error(400, *problem)
        resource = self._resource(self._take(form))
        return _json(201, resource) if fault is None else await _spoilt(request, fault, resource)

    def _without_message(self, request: web.BaseRequest) -> web.Response | None:
        """Give a medium or a refusal; None when the request is about messages."""
        stored = self.media.answer(request) if request.path.startswith(STORE) else None
        return stored or self._refusal(request) or self.media.answer(request)

    def _refusal(self, request: web.BaseRequest) -> web.Response | None:
        path = MESSAGES.match(request.path) or MEDIUM.match(request.path)
        expected = base64.b64encode(f"{self.account_sid}:{self.auth_token}".encode()).decode()
        if path is None or path[1] != self.account_sid or request.method not in {"GET", "POST"}:
            return _error(404, 20404, "The requested resource was not found")
        if request.headers.get("Authorization") != f"Basic {expected}":
            return _error(401, 20003, "Authenticate")
        return None

    def _take(self, form: Mapping[str, str]) -> TakenMessage:
        callback = form.get("StatusCallback", "")
        number = parse_qs(urlsplit(callback).query).get("reply", [""])[0]
        reply = int(number) if number.isdecimal() else None
        message = TakenMessage(f"SM{uuid4().hex}", form["From"], form["To"], form["Body"], reply, monotonic())
        self.taken.append(message)
        self.on_message(message)
        if callback:
            self.callbacks.report(Reported(callback, self.account_sid, message.sid, message.sender, message.recipient))
        return message

    def _page(self, request: web.BaseRequest) -> dict[str, Any]:
        """Give a page of the messages, newest first."""
        wanted = request.query
        size = min(int(wanted.get("PageSize", DEFAULT_PAGE)), LARGEST_PAGE)
        page = int(wanted.get("Page", 0))
        shown = monotonic() - self.list_lag
        found = [
            message
            for message in reversed(self.taken)
            if message.at <= shown
            and wanted.get("To", message.recipient) == message.recipient
            and wanted.get("From", message.sender) == message.sender
        ]
        first = page * size
        messages = [self._resource(message) for message in found[first : first + size]]

        def uri(number: int) -> str:
            return f"{request.path}?{urlencode({**wanted, 'PageSize': size, 'Page': number})}"

        return {
            "end": first + max(len(messages) - 1, 0), "first_page_uri": uri(0),
            "next_page_uri": uri(page + 1) if len(found) > first + size else None, "page": page, "page_size": size,
            "previous_page_uri": uri(page - 1) if page else None, "messages": messages, "start": first, "uri": uri(page),
        }  # fmt: skip

    def _resource(self, message: TakenMessage) -> dict[str, Any]:
        uri = f"/2010-04-01/Accounts/{self.account_sid}/Messages/{message.sid}.json"
        created = format_datetime(datetime.now(UTC) - timedelta(seconds=monotonic() - message.at))
        return {
            "account_sid": self.account_sid, "api_version": "2010-04-01", "body": message.body, "date_created": created,
            "date_sent": None, "date_updated": created, "direction": "outbound-api", "error_code": None,
            "error_message": None, "from": message.sender, "messaging_service_sid": None, "num_media": "0",
            "num_segments": "1", "price": None, "price_unit": None, "sid": message.sid, "status": "queued",
            "subresource_uris": {"media": uri.replace(".json", "/Media.json")}, "to": message.recipient, "uri": uri,
        }  # fmt: skip


class Serving:
    """A stand-in that serves, in an event loop in a thread of its own."""

    def __init__(self, state: TwilioStandIn, listener: socket.socket) -> None:
        self._state = state
        self._listener = listener
        self.port: int = listener.getsockname()[1]
        self._loop = asyncio.new_event_loop()
        self._stop = asyncio.Event()
        self._ready = Event()
        self._thread = Thread(target=self._run, name="twilio-stand-in", daemon=True)
        self._thread.start()
        self._ready.wait()

    def shutdown(self) -> None:
        """Stop serving and close every connection; safe to repeat."""
        if self._thread.is_alive():
            self._loop.call_soon_threadsafe(self._stop.set)
            self._thread.join()

    def server_close(self) -> None:
        """Do what shutdown does."""
        self.shutdown()

    def _run(self) -> None:
        with asyncio.Runner(loop_factory=lambda: self._loop) as runner:  # which also ends what was cancelled
            runner.run(self._serve())

    async def _serve(self) -> None:
        # Requests under way end with the stand-in, as a killed server's do. To the library, 0 seconds mean no limit.
        runner = web.ServerRunner(web.Server(self._state.answer, access_log=None), shutdown_timeout=0.01)
        await runner.setup()
        await web.SockSite(runner, self._listener, backlog=512).start()
        self._ready.set()
        await self._stop.wait()
        await self._state.callbacks.close()
        await runner.cleanup()


def _next(queue: list[TwilioFault | tuple[int, int]], plan: FaultPlan | None) -> TwilioFault | None:
    if queue:
        fault = queue.pop(0)
        return fault if isinstance(fault, TwilioFault) else TwilioFault(FaultMode.ERROR, *fault)
    return plan.draw() if plan is not None else None


async def _spoilt(request: web.BaseRequest, fault: TwilioFault, document: Mapping[str, Any]) -> web.StreamResponse:
    """Answer as the fault says. What it takes was taken before."""
    if (wrong := _wrong(fault)) is not None:
        return wrong
    if fault.kind is FaultMode.ACCEPT_SLOW:
        await asyncio.sleep(fault.seconds)
        return _json(201 if request.method == "POST" else 200, document)
    if fault.kind is FaultMode.TRUNCATED:
        return await _half(request, json.dumps(document).encode())
    if fault.kind is FaultMode.HANG:
        await asyncio.sleep(LONGEST_HANG_SECONDS)
    if request.transport is not None:
        request.transport.abort()
    return web.Response()


def _wrong(fault: TwilioFault) -> web.Response | None:
    """Give the whole answer that is wrong; None when the fault is no such answer."""
    match fault.kind:
        case FaultMode.ERROR:
            return _error(fault.status, fault.code, "scripted fault")
        case FaultMode.RATE:
            return _error(429, 20429, "Too Many Requests", {"Retry-After": f"{fault.seconds:.0f}"})
        case FaultMode.ACCEPT_THEN_500:
            return _error(500, 20500, "An internal server error has occurred")
        case FaultMode.GARBAGE:
            return web.Response(status=201, text="<html>It works!</html>", content_type="text/html")
        case _:
            return None


async def _half(request: web.BaseRequest, content: bytes) -> web.StreamResponse:
    response = web.StreamResponse(status=201, headers={"Content-Length": str(len(content))})
    await response.prepare(request)
    await response.write(content[: len(content) // 2])
    if request.transport is not None:
        request.transport.close()
    return response


def _problem(form: Mapping[str, str]) -> tuple[int, str] | None:
    """Say what Twilio would refuse about a message: its code and its words."""
    if not form.get("To"):
        return 21604, "A 'To' phone number is required."
    if not form.get("From"):
        return 21603, "A 'From' phone number is required."
    if not form.get("Body"):
        return 21602, "Message body is required."
    if len(form["Body"]) > MAX_BODY:
        return 21617, "The concatenated message body exceeds the 1600 character limit."
    callback = urlsplit(form.get("StatusCallback", "http://none"))
    if callback.scheme not in {"http", "https"} or not callback.hostname:
        return 21609, "The 'StatusCallback' URL is not a valid URL."
    return None


def _json(status: int, document: Mapping[str, Any], headers: Mapping[str, str] | None = None) -> web.Response:
    return web.Response(status=status, body=json.dumps(document).encode(), content_type="application/json", headers=headers)


def _error(status: int, code: int, message: str, headers: Mapping[str, str] | None = None) -> web.Response:
    more = f"https://www.twilio.com/docs/errors/{code}"
    return _json(status, {"code": code, "message": message, "more_info": more, "status": status}, headers)
