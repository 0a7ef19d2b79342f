"""A stand-in for Twilio's REST API: it takes messages, lists them, and reports their delivery with signed callbacks.

Speaks the Messages resource of the 2010-04-01 API as the official client uses it: form in, JSON out, Basic auth.
"""

import base64
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from time import monotonic
from typing import Any, Final
from urllib.parse import parse_qs, parse_qsl, urlencode, urlsplit
from uuid import uuid4

from clara_lab.stand_ins.server import LoopbackStandIn, ScriptedReply, StandInRequest, json_reply
from clara_lab.stand_ins.twilio_callbacks import Reported, Reporter

ACCOUNT: Final = r"^/2010-04-01/Accounts/(AC[0-9a-f]{32})"
MESSAGES: Final = re.compile(rf"{ACCOUNT}/Messages\.json$")
MAX_BODY: Final = 1_600
NEEDED: Final = {
    "To": (21604, "A 'To' phone number is required."),
    "From": (21603, "A 'From' phone number is required."),
    "Body": (21602, "Message body is required."),
}
DEFAULT_PAGE: Final = 50
LARGEST_PAGE: Final = 1_000


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

    `callbacks` report the progress. `on_message` is called in the stand-in's own thread: it must be quick.
    """

    account_sid: str
    auth_token: str
    on_message: Callable[[TakenMessage], None] = lambda _message: None
    taken: list[TakenMessage] = field(default_factory=list)
    callbacks: Reporter = field(init=False)

    def __post_init__(self) -> None:
        self.callbacks = Reporter(self.auth_token)

    async def ended(self) -> None:
        """Drop the callbacks that are still to come."""
        await self.callbacks.close()

    async def answer(self, request: StandInRequest) -> ScriptedReply:
        """Answer one request."""
        if (refused := self.refusal(request, MESSAGES)) is not None:
            return refused
        if request.method == "GET":
            return json_reply(self._page(request))
        form = dict(parse_qsl(request.body.decode(), keep_blank_values=True))
        if (problem := _problem(form)) is not None:
            return error(400, *problem)
        return json_reply(self._resource(self._take(form)), 201)

    def refusal(self, request: StandInRequest, resource: re.Pattern[str]) -> ScriptedReply | None:
        """Give the answer to a request for something else than the resource of this account, or with other credentials."""
        path = resource.match(request.path)
        expected = base64.b64encode(f"{self.account_sid}:{self.auth_token}".encode()).decode()
        if path is None or path[1] != self.account_sid or request.method not in {"GET", "POST"}:
            return error(404, 20404, "The requested resource was not found")
        if request.headers.get("authorization") != f"Basic {expected}":
            return error(401, 20003, "Authenticate")
        return None

    def listed(self) -> list[TakenMessage]:
        """Give the messages that a listing has, oldest first."""
        return self.taken

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
        found = [
            message
            for message in reversed(self.listed())
            if wanted.get("To", message.recipient) == message.recipient and wanted.get("From", message.sender) == message.sender
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


def error(status: int, code: int, message: str, headers: Mapping[str, str] | None = None) -> ScriptedReply:
    """Refuse as Twilio does."""
    more = f"https://www.twilio.com/docs/errors/{code}"
    return json_reply({"code": code, "message": message, "more_info": more, "status": status}, status, headers)
