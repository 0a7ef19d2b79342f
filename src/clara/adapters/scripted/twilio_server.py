"""A stand-in for Twilio's REST API: it takes messages, remembers them, and reports their delivery with signed callbacks.

Speaks the Messages resource of the 2010-04-01 API as the official client uses it: form in, JSON out, Basic auth.
"""

import base64
import json
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from email.utils import formatdate
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Lock, Thread
from typing import Any
from urllib.error import URLError
from urllib.parse import parse_qs, urlencode, urlsplit
from urllib.request import Request, urlopen
from uuid import uuid4

from twilio.request_validator import RequestValidator

MESSAGES = re.compile(r"^/2010-04-01/Accounts/(AC[0-9a-f]{32})/Messages\.json$")
MAX_BODY = 1_600
CALLBACK_TIMEOUT_SECONDS = 5.0


@dataclass(frozen=True, slots=True)
class TakenMessage:
    """A message that the stand-in took."""

    sid: str
    sender: str
    recipient: str
    body: str


@dataclass(slots=True)
class TwilioStandIn:
    """The state of the stand-in. `url` is its address once it serves.

    `faults` are answered first, one a request: (HTTP status, Twilio's error code).
    """

    account_sid: str
    auth_token: str
    on_message: Callable[[TakenMessage], None] = lambda _message: None
    url: str = ""
    taken: list[TakenMessage] = field(default_factory=list)
    faults: list[tuple[int, int]] = field(default_factory=list)
    lock: Lock = field(default_factory=Lock)

    def serve(self, port: int = 0) -> ThreadingHTTPServer:
        """Start serving on loopback in a thread; the caller shuts it down."""
        stand_in = self

        class Handler(_Handler):
            state = stand_in

        server = ThreadingHTTPServer(("127.0.0.1", port), Handler)
        self.url = f"http://127.0.0.1:{server.server_address[1]}"
        Thread(target=server.serve_forever, daemon=True).start()
        return server

    def take(self, form: dict[str, str]) -> tuple[int, dict[str, Any]]:
        """Answer POST Messages.json."""
        with self.lock:
            if self.faults:
                status, code = self.faults.pop(0)
                return status, _error(status, code, "scripted fault")
        if not form.get("To") or not form.get("From"):
            return 400, _error(400, 21604, "A 'To' phone number is required.")
        if not 0 < len(form.get("Body", "")) <= MAX_BODY:
            return 400, _error(400, 21617, "The concatenated message body exceeds the 1600 character limit.")
        message = TakenMessage(f"SM{uuid4().hex}", form["From"], form["To"], form["Body"])
        with self.lock:
            self.taken.append(message)
        self.on_message(message)
        if callback := form.get("StatusCallback"):
            Thread(target=self._report, args=(callback, message), daemon=True).start()
        return 201, self._resource(message)

    def _report(self, callback: str, message: TakenMessage) -> None:
        for status in ("sent", "delivered"):
            fields = {
                "MessageSid": message.sid,
                "MessageStatus": status,
                "To": message.recipient,
                "From": message.sender,
            }
            signature = RequestValidator(self.auth_token).compute_signature(callback, fields)
            request = Request(callback, urlencode(fields).encode(), {"X-Twilio-Signature": signature})  # noqa: S310
            try:
                urlopen(request, timeout=CALLBACK_TIMEOUT_SECONDS).close()  # noqa: S310  our own server's address
            except (URLError, OSError):
                return  # Twilio does not repeat a status callback either

    def _resource(self, message: TakenMessage) -> dict[str, Any]:
        uri = f"/2010-04-01/Accounts/{self.account_sid}/Messages/{message.sid}.json"
        now = formatdate(usegmt=False)
        return {
            "account_sid": self.account_sid, "api_version": "2010-04-01", "body": message.body, "date_created": now,
            "date_sent": None, "date_updated": now, "direction": "outbound-api", "error_code": None,
            "error_message": None, "from": message.sender, "messaging_service_sid": None, "num_media": "0",
            "num_segments": "1", "price": None, "price_unit": None, "sid": message.sid, "status": "queued",
            "subresource_uris": {"media": uri.replace(".json", "/Media.json")}, "to": message.recipient, "uri": uri,
        }  # fmt: skip


class _Handler(BaseHTTPRequestHandler):
    state: TwilioStandIn
    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        form = parse_qs(self.rfile.read(int(self.headers.get("Content-Length", "0"))).decode(), keep_blank_values=True)
        path = MESSAGES.match(urlsplit(self.path).path)
        expected = base64.b64encode(f"{self.state.account_sid}:{self.state.auth_token}".encode()).decode()
        if path is None or path[1] != self.state.account_sid:
            self._answer(404, _error(404, 20404, "The requested resource was not found"))
        elif self.headers.get("Authorization") != f"Basic {expected}":
            self._answer(401, _error(401, 20003, "Authenticate"))
        else:
            self._answer(*self.state.take({name: values[0] for name, values in form.items()}))

    def log_message(self, *_: object) -> None:
        """Stay quiet: messages hold personal text."""

    def _answer(self, status: int, document: dict[str, Any]) -> None:
        content = json.dumps(document).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)


def _error(status: int, code: int, message: str) -> dict[str, Any]:
    return {
        "code": code,
        "message": message,
        "more_info": f"https://www.twilio.com/docs/errors/{code}",
        "status": status,
    }
