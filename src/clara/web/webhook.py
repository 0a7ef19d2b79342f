"""What Twilio calls: a message arrived, or a reply made progress."""

from collections.abc import Callable, Mapping, Sequence

import structlog
from flask import Blueprint, Response, abort, request

from clara.conversation.message import Incoming
from clara.conversation.ports import DeliveryReports, Inbox, StoreUnavailableError

EMPTY_TWIML = '<?xml version="1.0" encoding="UTF-8"?><Response/>'
# More media than this is not a question; Twilio itself sends at most ten.
MAX_MEDIA = 10
DIGITS = 10  # no honest count has so many, and Python refuses to read thousands of them
log = structlog.get_logger()


Genuine = Callable[[str, Sequence[tuple[str, str]], str], bool]


class Webhook:
    """Serves POST /webhook and POST /webhook/status for forms that carry Twilio's signature."""

    def __init__(self, inbox: Inbox, reports: DeliveryReports, genuine: Genuine, public_url: str) -> None:
        self._inbox = inbox
        self._reports = reports
        self._genuine = genuine
        self._public_url = public_url

    def blueprint(self) -> Blueprint:
        """Give the routes."""
        routes = Blueprint("webhook", __name__)
        routes.before_request(self.refuse_forgeries)
        routes.add_url_rule("/webhook", view_func=self.receive, methods=["POST"])
        routes.add_url_rule("/webhook/status", view_func=self.report, methods=["POST"])
        return routes

    def refuse_forgeries(self) -> None:
        """Answer 403 unless the signature fits the configured address and every field."""
        query = request.query_string.decode("latin-1")
        url = f"{self._public_url}{request.path}{f'?{query}' if query else ''}"
        fields = list(request.form.items(multi=True))
        if not self._genuine(url, fields, request.headers.get("X-Twilio-Signature", "")):
            log.warning("webhook refused", reason="signature", path=request.path)
            abort(403, "The X-Twilio-Signature does not fit. Check TWILIO_AUTH_TOKEN and CLARA_PUBLIC_URL.")

    def receive(self) -> Response:
        """Store the message and its job, then acknowledge with an empty TwiML document."""
        incoming = incoming_of(request.form)
        if incoming is None:
            abort(400, "A message needs MessageSid and From.")
        try:
            new = self._inbox.accept(incoming)
        except StoreUnavailableError as error:
            log.exception("message not stored", error=str(error))
            abort(503, "The message could not be stored. Send it again.")
        log.info("message accepted", new=new)
        return Response(EMPTY_TWIML, mimetype="text/xml")

    def report(self) -> Response:
        """Record what became of a reply."""
        form = request.form
        try:
            known = self._reports.delivery(
                request.args.get("reply", 0, type=int), form.get("MessageStatus", ""), form.get("ErrorCode")
            )
        except StoreUnavailableError:
            abort(503, "The report could not be stored. Send it again.")
        if not known:
            log.info("delivery report ignored", reason="unknown message or status")
        return Response(status=204)


def incoming_of(form: Mapping[str, str]) -> Incoming | None:
    """Read a message from Twilio's form; None when it lacks its id or its sender."""
    if not form.get("MessageSid") or not form.get("From"):
        return None
    media = [form.get(f"MediaContentType{number}", "unknown") for number in range(_media_count(form.get("NumMedia")))]
    if "Latitude" in form:
        media.append("location/coordinates")
    return Incoming(
        sid=form["MessageSid"],
        channel="whatsapp",
        sender=form["From"],
        recipient=form.get("To", ""),
        text=form.get("Body"),
        media_types=tuple(media),
    )


def _media_count(value: str | None) -> int:
    if value is None or not value.isascii() or not value.isdigit():
        return 0
    return min(int(value), MAX_MEDIA) if len(value) < DIGITS else MAX_MEDIA
