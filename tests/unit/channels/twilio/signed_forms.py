"""Genuine webhooks as Twilio documents them, without Twilio's code, and the application that takes them."""

import base64
import hashlib
import hmac
import json
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from importlib.resources import files
from types import SimpleNamespace
from urllib.parse import urlencode

from flask.testing import FlaskClient
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st

from clara.channels.twilio.forms import TwilioForms
from clara.channels.twilio.signature import TwilioSignature
from clara.delivery.message import Incoming, Report
from clara.web.app import Edge, create_app
from clara.web.calls import ChannelIntake
from clara.web.webhook import Webhook

TOKEN, PUBLIC_URL = "a-token", "https://clara.example.org"
SID = "SM0123456789abcdef0123456789abcdef"
ACCOUNT = "AC" + "1" * 32
Fields = tuple[tuple[str, str], ...]
# The same examples in every run, so that the number of forgeries that were tried is known; a failure names its variant, and
# looking for a smaller one would take minutes.
MANY = settings(
    max_examples=30,
    deadline=None,
    derandomize=True,
    database=None,
    phases=(Phase.explicit, Phase.generate),
    suppress_health_check=list(HealthCheck),
)


def digest(url: str, fields: Sequence[tuple[str, str]], token: str = TOKEN) -> bytes:
    """Sign: the address, then every field by its name, name and value run together; each field once."""
    signed = url + "".join(name + value for name, value in sorted(set(fields)))
    return hmac.new(token.encode(), signed.encode(), hashlib.sha1).digest()


def signature(url: str, fields: Sequence[tuple[str, str]], token: str = TOKEN) -> str:
    return base64.b64encode(digest(url, fields, token)).decode()


@dataclass(frozen=True)
class Sent:
    """A webhook: where it was sent, and with what."""

    url: str
    fields: Fields
    signature: str = ""

    def but(self, **changes: object) -> "Sent":
        return replace(self, **changes)

    def accepted(self, token: str = TOKEN) -> bool:
        return TwilioSignature(token).signed_fields(self.url, self.fields, self.signature) is not None


def signed(url: str, fields: Fields) -> Sent:
    return Sent(url, fields, signature(url, fields))


MESSAGE: Fields = (
    ("AccountSid", ACCOUNT),
    ("ApiVersion", "2010-04-01"),
    ("From", "whatsapp:+34600000001"),
    ("MessageSid", SID),
    ("NumMedia", "0"),
    ("SmsMessageSid", SID),
    ("SmsSid", SID),
    ("SmsStatus", "received"),
    ("To", "whatsapp:+15555550100"),
    ("WaId", "34600000001"),
)
STATUS: Fields = (
    ("AccountSid", ACCOUNT),
    ("ApiVersion", "2010-04-01"),
    ("From", "whatsapp:+15555550100"),
    ("MessageSid", SID),
    ("SmsSid", SID),
    ("To", "whatsapp:+34600000001"),
)
HARD_TEXTS = (
    *("", " ", "+", "a+b c", "100%", "50%20", "a&b=c;d", "MessageSid"),
    *("¿NIE?", "\U0001f600 \U0001f469\u200d\U0001f467", "كيف أحصل على NIE؟", "e\u0301 o\u0308", "\ufdfa", "\u202ex\u200b"),
)
TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=40) | st.sampled_from(HARD_TEXTS)
# Names that Twilio may add one day. Whether one that begins like a known name can be told from it hangs on what follows.
KNOWN = [name.rstrip("#") for name in json.loads((files("clara.channels.twilio") / "fields.json").read_text("utf-8"))["names"]]
NAMES = st.from_regex(r"\A[A-Z][A-Za-z0-9]{1,12}\Z").filter(
    lambda name: not any(name.casefold().startswith(known.casefold()) for known in KNOWN)
)


@st.composite
def messages(draw: st.DrawFn) -> Fields:
    """A person's message, with fields nobody knows yet."""
    extra = draw(st.lists(st.tuples(NAMES, TEXTS), max_size=4, unique_by=lambda field: field[0]))
    fields = [*MESSAGE, ("Body", draw(TEXTS)), ("ProfileName", draw(TEXTS)), *extra]
    return tuple(draw(st.permutations(fields)))


def text_of(fields: Fields) -> str:
    """Give the text as it is read: what stands between it and the next known name may be a part of it."""
    behind = sorted(field for field in fields if "Body" < field[0] < "From")
    return dict(fields)["Body"] + "".join(name + value for name, value in behind)


def genuine_requests() -> st.SearchStrategy[Sent]:
    """Draw messages to both addresses for them, and delivery reports."""
    places = st.sampled_from([f"{PUBLIC_URL}/webhook", f"{PUBLIC_URL}/webhook/fallback"])
    return st.builds(signed, places, messages()) | delivery_reports()


def delivery_reports() -> st.SearchStrategy[Sent]:
    """A delivery report of any reply, with any status."""
    known = st.sampled_from(["queued", "sent", "delivered", "read", "undelivered", "failed"])
    return st.builds(
        lambda reply, status: signed(
            f"{PUBLIC_URL}/webhook/status?reply={reply}", (*STATUS, ("MessageStatus", status), ("SmsStatus", status))
        ),
        st.integers(1, 2**63 - 1),
        known,
    )


# The addresses for operators are not built here: no token is configured.
NO_DESK = SimpleNamespace(counters=dict)


@dataclass
class Listener:
    """The web application on fakes that remember; `client` posts to it."""

    public_url: str = PUBLIC_URL
    messages: list[Incoming] = field(default_factory=list)
    reports: list[Report] = field(default_factory=list)

    def __post_init__(self) -> None:
        routes = Webhook(TwilioForms(TOKEN, 60.0), ChannelIntake(self, self, None, str), self.public_url).blueprint()
        edge = Edge(channels=[routes], probes={}, admin=NO_DESK)
        self.client: FlaskClient = create_app(edge).test_client()

    def accept(self, incoming: Incoming) -> bool:
        self.messages.append(incoming)
        return True

    def delivery(self, report: Report) -> bool:
        self.reports.append(report)
        return True

    def post(self, path: str, form: Fields | str, sign: str | None, **headers: str) -> int:
        """Post fields, or a form that is encoded already, to a path that may have a query."""
        data = form if isinstance(form, str) else urlencode(form, errors="surrogatepass")
        if sign is not None:
            headers = {"X-Twilio-Signature": sign, **headers}
        answer = self.client.post(path, data=data.encode(), content_type="application/x-www-form-urlencoded", headers=headers)
        return answer.status_code
