"""A stand-in for Twilio's REST API: it takes messages, lists them, and reports their delivery with signed callbacks.

Speaks the Messages resource of the 2010-04-01 API as the official client uses it: form in, JSON out, Basic auth.
"""

import base64
import re
from collections.abc import Callable, Mapping
from dataclasses import InitVar, dataclass, field, replace
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from enum import StrEnum
from random import Random
from time import monotonic
from typing import Any, Final
from urllib.parse import parse_qs, parse_qsl, urlencode, urlsplit
from uuid import uuid4

from clara_lab.stand_ins.server import Delivery, LoopbackStandIn, ScriptedReply, StandInRequest, json_reply
from clara_lab.stand_ins.twilio_callbacks import CallbackOptions, Reported, Reporter

ACCOUNT: Final = r"^/2010-04-01/Accounts/(AC[0-9a-f]{32})"
MESSAGES: Final = re.compile(rf"{ACCOUNT}/Messages\.json$")
MEDIUM: Final = re.compile(rf"{ACCOUNT}/Messages/((?:MM|SM)[0-9a-f]{{32}}/Media/ME[0-9a-f]{{32}})$")
STORE: Final = "/store/"
MAX_BODY: Final = 1_600
NEEDED: Final = {
    "To": (21604, "A 'To' phone number is required."),
    "From": (21603, "A 'From' phone number is required."),
    "Body": (21602, "Message body is required."),
}
DEFAULT_PAGE: Final = 50
LARGEST_PAGE: Final = 1_000


class FaultMode(StrEnum):
    """How one request goes wrong. In a listing, where nothing is taken, the kinds that take answer alike without that."""

    ERROR = "error"  # answered with the fault's status and code; nothing is taken
    RATE = "rate"  # answered 429 with `Retry-After` of the fault's seconds; nothing is taken
    CUT = "cut"  # the connection is closed before anything is taken
    HANG = "hang"  # nothing is taken and nothing answered, until the client gives up
    ACCEPT_THEN_CUT = "accept_then_cut"  # the message is taken, and the connection closed without an answer
    ACCEPT_THEN_500 = "accept_then_500"  # the message is taken, and the answer is 500
    ACCEPT_SLOW = "accept_slow"  # the message is taken at once, and answered after the fault's seconds
    GARBAGE = "garbage"  # the message is taken, and the answer is 201 with HTML
    TRUNCATED = "truncated"  # the message is taken, and the connection closed in the middle of the answer


TAKING: Final = frozenset(FaultMode) - {FaultMode.ERROR, FaultMode.RATE, FaultMode.CUT, FaultMode.HANG}


@dataclass(frozen=True, slots=True)
class TwilioFault:
    """What one request gets. `status` and `code` count for an error, `seconds` for a rate and a slow answer."""

    kind: FaultMode = FaultMode.ERROR
    status: int = 500
    code: int = 20500
    seconds: float = 1.0


@dataclass(slots=True)
class FaultPlan:
    """Faults by chance: of each kind its share of the requests, from 0 to 1, in sum at most 1.

    The same seed gives the same faults in the same order of requests. `error` is what an error looks like, `slow` how many
    seconds a slow answer takes.
    """

    seed: int
    rates: Mapping[FaultMode, float]
    error: TwilioFault = field(default_factory=TwilioFault)
    slow: float = 1.0
    _chance: Random = field(init=False, repr=False)

    def __post_init__(self) -> None:
        if sum(self.rates.values()) > 1.0 or min(self.rates.values(), default=0.0) < 0.0:
            msg = f"the shares of the faults must be 0 to 1 and at most 1 in sum: {dict(self.rates)}"
            raise ValueError(msg)
        self._chance = Random(self.seed)  # noqa: S311  repeatable on purpose

    def draw(self) -> TwilioFault | None:
        """Draw the next request's fault; None when it goes well."""
        place = self._chance.random()
        for kind, share in self.rates.items():
            if place < share:
                if kind is FaultMode.ERROR:
                    return self.error
                return TwilioFault(kind, seconds=self.slow if kind is FaultMode.ACCEPT_SLOW else 1.0)
            place -= share
        return None


@dataclass(slots=True)
class Media:
    """What was recorded, by name, with its kind; `asked` are the paths that were asked for, and whether with credentials.

    A medium is asked for with credentials, and leads to a store without them. `location` gives where to; by default to the
    stand-in itself.
    """

    held: dict[str, tuple[str, bytes]] = field(default_factory=dict)
    asked: list[tuple[str, bool]] = field(default_factory=list)
    location: Callable[[str], str] = lambda name: f"{STORE}{name}"

    def answer(self, request: StandInRequest) -> ScriptedReply | None:
        """Answer what is asked of media; None for anything else, and for what there is none of."""
        medium = MEDIUM.match(request.path)
        name = medium[2] if medium else request.path.removeprefix(STORE)
        if name not in self.held:
            return ScriptedReply(status=404, body=b"") if medium else None
        self.asked.append((request.path, "authorization" in request.headers))
        if medium is None:
            kind, content = self.held[name]
            return ScriptedReply(body=content, headers={"Content-Type": kind})
        target = self.location(name)
        address = f"http://{request.headers['host']}{target}" if re.match("/[^/]", target) else target
        return ScriptedReply(status=307, body=b"", headers={"Location": address})


@dataclass(frozen=True, slots=True)
class TakenMessage:
    """A message that the stand-in took. `reply` is the number in its status callback's address; `at` by the monotonic clock."""

    sid: str
    sender: str
    recipient: str
    body: str
    reply: int | None = None
    at: float = 0.0


@dataclass
class TwilioStandIn(LoopbackStandIn):
    """The state of the stand-in. `url` is its address once it serves.

    `faults` are given first to what is sent, one a request: a TwilioFault, or an error's (HTTP status, Twilio's code); then
    `plan` decides. `list_faults` and `list_plan` do the same for listings. A message appears in listings `list_lag`
    seconds after it was taken. `manner` is how progress is reported, `callbacks` what came of it. `on_message` is called
    in the stand-in's own thread: it must be quick.
    """

    account_sid: str
    auth_token: str
    on_message: Callable[[TakenMessage], None] = lambda _message: None
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

    async def ended(self) -> None:
        """Drop the callbacks that are still to come."""
        await self.callbacks.close()

    async def answer(self, request: StandInRequest) -> ScriptedReply:
        """Answer one request."""
        stored = self.media.answer(request) if request.path.startswith(STORE) else None
        if (answered := stored or self._refusal(request) or self.media.answer(request)) is not None:
            return answered
        if request.method == "GET":
            return _spoilt(json_reply(self._page(request)), _next(self.list_faults, self.list_plan))
        form = dict(parse_qsl(request.body.decode(), keep_blank_values=True))
        fault = _next(self.faults, self.plan)
        if fault is not None and fault.kind not in TAKING:
            return _spoilt(ScriptedReply(), fault)
        if (problem := _problem(form)) is not None:
            return _error(400, *problem)
        return _spoilt(json_reply(self._resource(self._take(form)), 201), fault)

    def _refusal(self, request: StandInRequest) -> ScriptedReply | None:
        path = MESSAGES.match(request.path) or MEDIUM.match(request.path)
        expected = base64.b64encode(f"{self.account_sid}:{self.auth_token}".encode()).decode()
        if path is None or path[1] != self.account_sid or request.method not in {"GET", "POST"}:
            return _error(404, 20404, "The requested resource was not found")
        if request.headers.get("authorization") != f"Basic {expected}":
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

    def _page(self, request: StandInRequest) -> dict[str, Any]:
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


def _next(queue: list[TwilioFault | tuple[int, int]], plan: FaultPlan | None) -> TwilioFault | None:
    if queue:
        fault = queue.pop(0)
        return fault if isinstance(fault, TwilioFault) else TwilioFault(FaultMode.ERROR, *fault)
    return plan.draw() if plan is not None else None


def _spoilt(reply: ScriptedReply, fault: TwilioFault | None) -> ScriptedReply:
    """Answer as the fault says. What it takes was taken before."""
    if fault is None:
        return reply
    wrong = {
        FaultMode.ERROR: _error(fault.status, fault.code, "scripted fault"),
        FaultMode.RATE: _error(429, 20429, "Too Many Requests", {"Retry-After": f"{fault.seconds:.0f}"}),
        FaultMode.CUT: ScriptedReply(Delivery.CUT),
        FaultMode.HANG: ScriptedReply(Delivery.HANG),
        FaultMode.ACCEPT_THEN_CUT: ScriptedReply(Delivery.CUT),
        FaultMode.ACCEPT_THEN_500: _error(500, 20500, "An internal server error has occurred"),
        FaultMode.ACCEPT_SLOW: replace(reply, delay=fault.seconds),
        FaultMode.GARBAGE: ScriptedReply(status=201, body=b"<html>It works!</html>", headers={"Content-Type": "text/html"}),
        FaultMode.TRUNCATED: replace(reply, delivery=Delivery.TRUNCATED, status=201),
    }
    return wrong[fault.kind]


def _problem(form: Mapping[str, str]) -> tuple[int, str] | None:
    """Say what Twilio would refuse about a message: its code and its words."""
    for name, problem in NEEDED.items():
        if not form.get(name):
            return problem
    if len(form["Body"]) > MAX_BODY:
        return 21617, "The concatenated message body exceeds the 1600 character limit."
    callback = urlsplit(form.get("StatusCallback", "http://none"))
    if callback.scheme not in {"http", "https"} or not callback.hostname:
        return 21609, "The 'StatusCallback' URL is not a valid URL."
    return None


def _error(status: int, code: int, message: str, headers: Mapping[str, str] | None = None) -> ScriptedReply:
    more = f"https://www.twilio.com/docs/errors/{code}"
    return json_reply({"code": code, "message": message, "more_info": more, "status": status}, status, headers)
