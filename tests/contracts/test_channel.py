"""What every Channel promises: what it lets in, what it keeps, whose it is, and what it takes."""

import base64
import hashlib
import hmac
import json
from collections.abc import Callable
from dataclasses import dataclass, field
from types import SimpleNamespace
from urllib.parse import urlencode

import pytest
from flask.testing import FlaskClient
from structlog.testing import capture_logs
from tests.telegram_stand_in import update
from werkzeug.test import TestResponse

from clara.adapters.postgres.delivery.inbox import pseudonym
from clara.channels.ports import Channel
from clara.channels.registry import CHANNELS, open_channels
from clara.delivery.message import Incoming, Report, split, units
from clara.delivery.ports import RefusedError, StoreUnavailableError
from clara.settings import NEEDED_BY, Settings
from clara.web.app import Edge, create_app
from clara.web.calls import ChannelIntake

KEY, SECRET, TOKEN = "2b7e91c05f8da346" * 4, "5ec2e7_-ab01" * 3, "70ce" * 8
EVERYTHING = {
    "clara_public_url": "https://clara.example.org/base",
    "clara_pseudonym_key": KEY,
    "clara_address_key": "c4e81f0a7d3952b6" * 4,
    "telegram_bot_token": "4242:" + "t0ken_-" * 5,
    "telegram_webhook_secret": SECRET,
    "twilio_account_sid": "AC" + "1" * 32,
    "twilio_auth_token": TOKEN,
}


@dataclass
class MemoryIntake:
    """Keeps what comes; raises what it is told to."""

    error: Exception | None = None
    messages: list[Incoming] = field(default_factory=list)
    reports: list[Report] = field(default_factory=list)

    def accept(self, incoming: Incoming) -> bool:
        if self.error:
            raise self.error
        self.messages.append(incoming)
        return True

    def delivery(self, report: Report) -> bool:
        self.reports.append(report)
        return True


def by_twilio(client: FlaskClient, text: str, *, genuine: bool = True) -> TestResponse:
    fields = {"Body": text, "From": "whatsapp:+34600000001", "MessageSid": "SM1", "NumMedia": "0", "To": "whatsapp:+1"}
    signed = "https://clara.example.org/base/webhook" + "".join(name + value for name, value in sorted(fields.items()))
    key = TOKEN if genuine else "wrong"
    signature = base64.b64encode(hmac.new(key.encode(), signed.encode(), hashlib.sha1).digest()).decode()
    kind = "application/x-www-form-urlencoded"
    return client.post("/webhook", data=urlencode(fields), content_type=kind, headers={"X-Twilio-Signature": signature})


def by_telegram(client: FlaskClient, text: str, *, genuine: bool = True) -> TestResponse:
    headers = {"X-Telegram-Bot-Api-Secret-Token": SECRET if genuine else "wrong"}
    return client.post("/base/webhook/telegram", data=json.dumps(update(1, 34600000001, text)), headers=headers)


def by_the_page(client: FlaskClient, text: str, *, genuine: bool = True) -> TestResponse:
    base = "http://localhost" if genuine else "http://elsewhere.example"
    return client.post("/chat/messages", base, json={"conversation": "one", "text": text})


SAY: dict[str, Callable[..., TestResponse]] = {"local": by_the_page, "telegram": by_telegram, "twilio": by_twilio}


@dataclass
class Served:
    """One channel, served on a memory intake."""

    channel: Channel
    intake: MemoryIntake
    client: FlaskClient
    say: Callable[..., TestResponse]


@pytest.fixture(params=sorted(CHANNELS))
def served(request: pytest.FixtureRequest) -> Served:
    (channel,) = open_channels(Settings(clara_channel=request.param, **EVERYTHING)).values()
    intake = MemoryIntake()
    edge = Edge([channel.routes(ChannelIntake(intake, intake, None, str))], {}, SimpleNamespace(counters=dict))
    return Served(channel, intake, create_app(edge).test_client(), SAY[request.param])


def test_what_there_is_can_be_configured() -> None:
    """Whatever is registered may stand in CLARA_CHANNEL, and the other way round; no two share the name in their rows."""
    assert set(CHANNELS) == set(NEEDED_BY) == set(SAY)
    made = [make(Settings(**EVERYTHING)) for make in CHANNELS.values()]
    assert len({channel.name for channel in made}) == len(CHANNELS)


def test_a_genuine_message_is_kept_and_acknowledged(served: Served) -> None:
    """Once, with its text, under the channel's own name."""
    assert served.say(served.client, "¿NIE? 😀").status_code in {200, 202}
    (incoming,) = served.intake.messages
    assert (incoming.channel, incoming.text) == (served.channel.name, "¿NIE? 😀")
    assert incoming.sid
    assert incoming.sender


def test_a_forged_message_is_not(served: Served) -> None:
    """Whoever cannot prove that the channel sent it is refused, and nothing is kept."""
    assert served.say(served.client, "hola", genuine=False).status_code in {400, 403}
    assert served.intake.messages == []


def test_what_cannot_be_kept_now_is_not_acknowledged(served: Served) -> None:
    """The channel is to send it again; it learns nothing of the store."""
    served.intake.error = StoreUnavailableError("host=10.0.0.1")
    answer = served.say(served.client, "hola")
    assert answer.status_code == 503
    assert "10.0.0.1" not in answer.text


def test_what_can_never_be_kept_does_not_come_for_ever(served: Served) -> None:
    """The channel knows that it need not send it again; Telegram, which repeats what is not acknowledged, is thanked."""
    served.intake.error = RefusedError("x")
    with capture_logs() as logs:
        assert served.say(served.client, "hola").status_code == (200 if served.channel.name == "telegram" else 400)
    assert served.channel.name == "local" or [(line["event"], line["reason"]) for line in logs] == [("message refused", "x")]


@pytest.mark.parametrize("body", [b"", b"{", b"[]", b'{"update_id": "telegram:34600000001"}', b"[" * 100_000])
def test_what_telegram_sends_without_sense_does_not_come_for_ever(body: bytes) -> None:
    """It is acknowledged and told of, without a word of what came; nothing is kept."""
    (channel,) = open_channels(Settings(clara_channel="telegram", **EVERYTHING)).values()
    intake = MemoryIntake()
    edge = Edge([channel.routes(ChannelIntake(intake, intake, None, str))], {}, SimpleNamespace(counters=dict))
    headers = {"X-Telegram-Bot-Api-Secret-Token": SECRET}
    with capture_logs() as logs:
        answer = create_app(edge).test_client().post("/webhook/telegram", data=body, headers=headers)
    assert (answer.status_code, intake.messages, intake.reports) == (200, [], [])
    assert [line["event"] for line in logs] == ["message refused"]
    assert "34600000001" not in str(logs)


def test_its_routes_take_nothing_else(served: Served) -> None:
    """A GET at the address of the webhook is no message."""
    paths = [rule.rule for rule in served.client.application.url_map.iter_rules() if rule.methods == {"POST", "OPTIONS"}]
    assert paths
    assert {served.client.get(path, base_url="http://localhost").status_code for path in paths} == {405}


def test_a_long_reply_is_cut_to_what_it_takes(served: Served) -> None:
    """Every part is within the limit, and nothing is lost."""
    text = "palabra 😀 " * 2_000
    parts = split(text, served.channel.limits.longest)
    assert all(0 < units(part) <= served.channel.limits.longest for part in parts)
    assert "".join("".join(parts).split()) == "".join(text.split())


def test_a_window_says_what_is_recorded_when_it_is_closed(served: Served) -> None:
    """Where an answer may come too late there is a code for it; elsewhere it never does."""
    limits = served.channel.limits
    assert limits.timely(0.0)
    assert limits.timely(1e9) is (limits.window_seconds is None)
    assert bool(limits.window_code) is (limits.window_seconds is not None)


def test_its_sender_and_recordings_are_built_without_asking_anybody(served: Served) -> None:
    """No connection is opened before there is something to send: sockets that leave this machine are refused here."""
    served.channel.sender()
    if (recordings := served.channel.recordings()) is not None:
        recordings.close()


def test_two_channels_never_give_one_person() -> None:
    """Whatever an address looks like; and those of the first releases are named as they were."""
    addresses = ["34600000001", "whatsapp:+34600000001", "telegram:1", "local:one"]
    names = ["local", "telegram", "another"]
    given = {pseudonym(KEY, address, channel) for address in addresses for channel in names}
    assert len(given) == len(addresses) * len(names)
    before = hmac.new(KEY.encode(), b"whatsapp:+34600000001", hashlib.sha256).hexdigest()
    assert pseudonym(KEY, "whatsapp:+34600000001", "whatsapp") == before
