"""What Twilio calls: a message arrived, or a reply made progress."""

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Final
from urllib.parse import unquote, urlsplit

import structlog
from flask import Blueprint, Response, abort, g, request

from clara.delivery.message import Incoming, Report
from clara.delivery.ports import DeliveryReports, Inbox, RefusedError, StoreUnavailableError

EMPTY_TWIML: Final = '<?xml version="1.0" encoding="UTF-8"?><Response/>'
# More media than this is not a question; Twilio itself sends at most ten.
MAX_MEDIA: Final = 10
DIGITS: Final = 10  # no honest count or error code has so many, and Python refuses to read thousands of them
ROW_DIGITS: Final = 19  # of the largest number that a row can have
# WhatsApp takes 4,096 characters from a person. The rest is room for another way of counting them.
MAX_TEXT: Final = 8_192
# Twilio's ids have 34 characters, addresses and kinds of media some dozens. What is longer is none, and may fit no index.
MAX_ID: Final = 64
MAX_ADDRESS: Final = 256
# A voice note that is kept: exactly the address of a medium of one of our account's messages, nothing before or after it.
RECORDING: Final = re.compile(
    r"https://api\.twilio\.com/2010-04-01/Accounts/(AC[0-9a-f]{32})/Messages/((?:MM|SM)[0-9a-f]{32}/Media/ME[0-9a-f]{32})"
)
log = structlog.get_logger()


# The fields that a genuine form says, by the names that the channel documents; None for any other. (address, fields, signature)
Signed = Callable[[str, Sequence[tuple[str, str]], str], Mapping[str, str] | None]


class Webhook:
    """Serves POST /webhook, /webhook/fallback and /webhook/status for forms that carry Twilio's signature.

    `public_url` is the address that Twilio was given, without /webhook. When it has a path, the proxy in front may take
    that away or leave it there.
    """

    def __init__(self, inbox: Inbox, reports: DeliveryReports, signed: Signed, public_url: str) -> None:
        self._inbox = inbox
        self._reports = reports
        self._signed = signed
        self._public_url = public_url.rstrip("/")
        self._path_of_rule: dict[str, str] = {}

    def blueprint(self) -> Blueprint:
        """Give the routes."""
        routes = Blueprint("webhook", __name__)
        routes.before_request(self.refuse_forgeries)
        # Twilio calls the fallback, on another listener, when /webhook fails: the same form again.
        views = {"/webhook": self.receive, "/webhook/fallback": self.receive, "/webhook/status": self.report}
        for prefix in dict.fromkeys(("", unquote(urlsplit(self._public_url).path))):
            for path, view in views.items():
                self._path_of_rule[prefix + path] = path
                routes.add_url_rule(prefix + path, path.strip("/").replace("/", "-"), view, methods=["POST"])
        return routes

    def refuse_forgeries(self) -> None:
        """Answer 403 unless the signature fits the configured address and every field, cut as Twilio cuts them."""
        query = request.query_string.decode("latin-1")
        url = f"{self._public_url}{self._path()}{f'?{query}' if query else ''}"
        fields = list(request.form.items(multi=True))
        g.signed = self._signed(url, fields, request.headers.get("X-Twilio-Signature", ""))
        if g.signed is None:
            log.warning("webhook refused", reason="signature", path=self._path())
            abort(403, "The X-Twilio-Signature does not fit. Check TWILIO_AUTH_TOKEN and CLARA_PUBLIC_URL.")

    def receive(self) -> Response:
        """Store the message and its job, then acknowledge with an empty TwiML document."""
        incoming = incoming_of(g.signed)
        if incoming is None:
            abort(400, "A message needs MessageSid and From.")
        try:
            new = self._inbox.accept(incoming)
        except StoreUnavailableError as error:
            log.exception("message not stored", error=str(error), path=self._path())
            abort(503, "The message could not be stored. Send it again.")
        except RefusedError as error:
            log.error("message refused", reason=str(error), path=self._path())  # noqa: TRY400  the traceback says no more
            abort(400, "The message cannot be stored as it is.")
        log.info("message accepted", new=new, path=self._path())
        return Response(EMPTY_TWIML, mimetype="text/xml")

    def report(self) -> Response:
        """Record what became of a reply."""
        report = report_of(g.signed, request.args.get("reply"))
        try:
            known = report is not None and self._reports.delivery(report)
        except StoreUnavailableError as error:
            log.warning("delivery report not stored", error=str(error))
            abort(503, "The report could not be stored. Send it again.")
        if not known:
            log.info("delivery report ignored", reason="unknown message or status")
        return Response(status=204)

    def _path(self) -> str:
        """Give the path below the public address that this request is for, wherever the proxy left it."""
        return self._path_of_rule[request.url_rule.rule if request.url_rule else ""]


def incoming_of(form: Mapping[str, str]) -> Incoming | None:
    """Read a message from Twilio's form; None when it lacks its id or its sender."""
    sid, sender, recipient, text = form.get("MessageSid"), form.get("From"), form.get("To", ""), form.get("Body")
    if not sid or not sender or len(sid) > MAX_ID or max(len(sender), len(recipient)) > MAX_ADDRESS:
        return None
    media = [form.get(f"MediaContentType{number}", "unknown") for number in range(_media_count(form.get("NumMedia")))]
    if "Latitude" in form:
        media.append("location/coordinates")
    return Incoming(
        sid=sid,
        channel="whatsapp",
        sender=sender,
        recipient=recipient,
        text=None if text is None else text[:MAX_TEXT],
        media_types=tuple(kind[:MAX_ADDRESS] for kind in media),
        recordings=_recordings(form, len(media)),
    )


def report_of(form: Mapping[str, str], reply: str | None) -> Report | None:
    """Read a delivery report from Twilio's form and the number of the reply in its address; None when it names no message."""
    sid = form.get("MessageSid", "")
    if reply is None or not _is_number(reply, ROW_DIGITS) or not 0 < len(sid) <= MAX_ID:
        return None
    code = form.get("ErrorCode", "")
    return Report(
        outgoing_id=int(reply),
        provider_sid=sid,
        status=form.get("MessageStatus", ""),
        error_code=code if _is_number(code, DIGITS) and int(code) else None,
    )


def _recordings(form: Mapping[str, str], count: int) -> tuple[str, ...]:
    """Name the voice notes: never by the address that came, which is not fetched, but by the ids that stand in it."""
    found = []
    for number in range(count):
        address = RECORDING.fullmatch(form.get(f"MediaUrl{number}", ""))
        spoken = form.get(f"MediaContentType{number}", "").startswith("audio/")
        if address and spoken and address[1] == form.get("AccountSid"):
            found.append(address[2])
    return tuple(found)


def _media_count(value: str | None) -> int:
    if value is None or not value.isascii() or not value.isdigit():
        return 0
    return min(int(value), MAX_MEDIA) if len(value) < DIGITS else MAX_MEDIA


def _is_number(value: str, most_digits: int) -> bool:
    return value.isascii() and value.isdigit() and len(value) <= most_digits
