"""What every Sender promises, run against the local one and Twilio's client talking to a server of its wire format."""

from collections.abc import Iterator
from dataclasses import dataclass

import pytest

from clara.adapters.scripted.twilio_server import TwilioStandIn
from clara.adapters.twilio.sender import TwilioSender
from clara.conversation.ports import Outgoing, PermanentSendError, Sender, TemporarySendError
from clara.jobs.working import LocalSender

ACCOUNT, TOKEN = "AC" + "2" * 32, "token"
OUTGOING = Outgoing(1, "whatsapp:+15555550100", "whatsapp:+34600000001", "¡Hola! 😀 مرحبا")


@dataclass
class Twilio:
    """Twilio's client and the server it talks to."""

    sender: TwilioSender
    server: TwilioStandIn


@pytest.fixture
def twilio() -> Iterator[Twilio]:
    state = TwilioStandIn(ACCOUNT, TOKEN)
    server = state.serve()
    yield Twilio(TwilioSender(ACCOUNT, TOKEN, "http://127.0.0.1:1/webhook/status", state.url), state)
    server.shutdown()
    server.server_close()


@pytest.fixture(params=["local", "twilio"])
def sender(request: pytest.FixtureRequest) -> Sender:
    return LocalSender() if request.param == "local" else request.getfixturevalue("twilio").sender


def test_a_reply_is_taken(sender: Sender) -> None:
    """Sending gives the provider's id, or None where there is no provider."""
    sid = sender.send(OUTGOING)
    assert sid is None or sid.startswith("SM")


def test_the_message_arrives_as_it_was_written(twilio: Twilio) -> None:
    """Addresses and text, in any script, reach the provider unchanged."""
    sid = twilio.sender.send(OUTGOING)
    (taken,) = twilio.server.taken
    assert (taken.sid, taken.sender, taken.recipient, taken.body) == (sid, OUTGOING.sender, OUTGOING.recipient, OUTGOING.text)


@pytest.mark.parametrize(("status", "code"), [(429, 20429), (500, 20500), (503, 20503), (400, 63018)])
def test_what_may_pass_is_temporary(twilio: Twilio, status: int, code: int) -> None:
    """Rates and server errors are worth another try."""
    twilio.server.faults.append((status, code))
    with pytest.raises(TemporarySendError):
        twilio.sender.send(OUTGOING)


@pytest.mark.parametrize(("status", "code"), [(400, 21211), (400, 21610), (400, 63016), (400, 63024), (401, 20003)])
def test_what_will_never_pass_is_permanent(twilio: Twilio, status: int, code: int) -> None:
    """Blocked, invalid and out-of-window recipients are final, with their code."""
    twilio.server.faults.append((status, code))
    with pytest.raises(PermanentSendError) as caught:
        twilio.sender.send(OUTGOING)
    assert caught.value.code == str(code)


def test_a_text_that_is_too_long_is_refused_by_the_provider(twilio: Twilio) -> None:
    """1,600 characters is the provider's limit, and the stand-in keeps it."""
    with pytest.raises(PermanentSendError) as caught:
        twilio.sender.send(Outgoing(1, "a", "b", "x" * 1_601))
    assert caught.value.code == "21617"


def test_a_wrong_token_is_not_let_in() -> None:
    """The stand-in checks the account's credentials as Twilio does."""
    state = TwilioStandIn(ACCOUNT, TOKEN)
    server = state.serve()
    with pytest.raises(PermanentSendError) as caught:
        TwilioSender(ACCOUNT, "other", "http://127.0.0.1:1/", state.url).send(OUTGOING)
    server.shutdown()
    server.server_close()
    assert (caught.value.code, state.taken) == ("20003", [])


def test_a_server_that_is_away_is_temporary() -> None:
    """No connection says nothing about the message."""
    with pytest.raises(TemporarySendError, match="could not be reached"):
        TwilioSender(ACCOUNT, TOKEN, "http://127.0.0.1:1/", "http://127.0.0.1:1").send(OUTGOING)
