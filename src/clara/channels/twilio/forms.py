"""What Twilio calls: a form that says that a message arrived, or that a reply made progress."""

import re
from collections.abc import Mapping, Sequence
from typing import Final

from clara.channels.twilio.codes import retryable_report
from clara.channels.twilio.signature import TwilioSignature
from clara.delivery.message import Incoming, Report
from clara.web.calls import ForgedCallError, UnreadableCallError, WebhookCall

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
STATUS: Final = "/webhook/status"


class TwilioForms:
    """Implements the web's CallReader for forms that carry Twilio's signature.

    A failure for the rate may be overcome by another try within `window_seconds` of the person's message.
    """

    name = "whatsapp"
    # Twilio calls the fallback, on another listener, when /webhook fails: the same form again.
    paths: Sequence[str] = ("/webhook", "/webhook/fallback", STATUS)
    thanks = (EMPTY_TWIML, "text/xml")

    def __init__(self, auth_token: str, window_seconds: float) -> None:
        self._signature = TwilioSignature(auth_token)
        self._window_seconds = window_seconds

    def read(self, call: WebhookCall) -> Incoming | Report | None:
        """Read a form whose signature fits the configured address and every field, cut as Twilio cuts them."""
        form = self._signature.signed_fields(call.url, call.fields, call.headers.get("X-Twilio-Signature", ""))
        if form is None:
            remedy = "The X-Twilio-Signature does not fit. Check TWILIO_AUTH_TOKEN and CLARA_PUBLIC_URL."
            raise ForgedCallError("signature", remedy)
        if call.path == STATUS:
            return report_of(form, call.query.get("reply"), self._window_seconds)
        incoming = incoming_of(form)
        if incoming is None:
            raise UnreadableCallError("A message needs MessageSid and From.")
        return incoming


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


def report_of(form: Mapping[str, str], reply: str | None, window_seconds: float) -> Report | None:
    """Read a delivery report from Twilio's form and the number of the reply in its address; None when it names no message.

    Its words for what became of a message are delivery's own. Only `queued`, `sending` and what follows are seen of a WhatsApp
    message today; `accepted` comes with a Messaging Service, `scheduled` and `canceled` with a message for later (Twilio's
    guide to outbound message status, 2026-07).
    """
    sid = form.get("MessageSid", "")
    if reply is None or not _is_number(reply, ROW_DIGITS) or not 0 < len(sid) <= MAX_ID:
        return None
    told = form.get("ErrorCode", "")
    code = told if _is_number(told, DIGITS) and int(told) else None
    return Report(
        outgoing_id=int(reply),
        provider_sid=sid,
        status=form.get("MessageStatus", ""),
        error_code=code,
        resend_within=window_seconds if retryable_report(code) else 0.0,
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
