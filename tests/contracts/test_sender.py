"""What every Sender promises, run against the local one and Twilio's client talking to a server of its wire format."""

import socket
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import pytest
from structlog.testing import capture_logs
from tests.failing_twilio import TAKING, FailingTwilio, FaultMode, TwilioFault
from tests.journeys.talking import until

from clara.channels.local.channel import LocalSender
from clara.channels.twilio.sender import TwilioSender
from clara.delivery.message import Outgoing
from clara.delivery.ports import LostAnswerError, PermanentSendError, Sender, TemporarySendError

ACCOUNT, TOKEN, STATUS = "AC" + "2" * 32, "token", "http://127.0.0.1:1/webhook/status"
OUTGOING = Outgoing(17, "whatsapp:+15555550100", "whatsapp:+34600000001", "¡Hola! 😀 مرحبا & más = 100 %")
SLOW = {FaultMode.ACCEPT_SLOW, FaultMode.HANG}


def at_once() -> bool:
    """Allow every try."""
    return True


@dataclass
class Twilio:
    """Twilio's client and the server it talks to."""

    sender: TwilioSender
    impatient: TwilioSender
    server: FailingTwilio


@pytest.fixture
def twilio() -> Iterator[Twilio]:
    state = FailingTwilio(ACCOUNT, TOKEN)
    state.serve()
    senders = TwilioSender(ACCOUNT, TOKEN, STATUS, state.url), TwilioSender(ACCOUNT, TOKEN, STATUS, state.url, 0.2)
    yield Twilio(*senders, state)
    for sender in senders:
        sender.close()
    state.close()


@pytest.fixture
def free_port() -> int:
    """A port at which nobody listens."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@pytest.fixture(params=["local", "twilio"])
def sender(request: pytest.FixtureRequest) -> Sender:
    return LocalSender() if request.param == "local" else request.getfixturevalue("twilio").sender


def test_a_reply_is_taken(sender: Sender) -> None:
    """Sending gives the provider's id, or None where there is no provider."""
    sid = sender.send(OUTGOING, at_once)
    assert sid is None or sid.startswith("SM")


def test_what_was_taken_can_be_found_again(sender: Sender) -> None:
    """Whatever got an id is in the list under it, with its text; where there are no ids there is no list."""
    sids = [sender.send(OUTGOING, at_once) for _ in range(2)]
    found = [(taken.sid, taken.text) for taken in sender.taken(OUTGOING)]
    assert found == [(sid, OUTGOING.text) for sid in reversed(sids) if sid is not None]


def test_the_message_arrives_as_it_was_written(twilio: Twilio) -> None:
    """Addresses, our number of the reply, and text, in any script, reach the provider unchanged."""
    sid = twilio.sender.send(OUTGOING, at_once)
    (taken,) = twilio.server.taken
    assert (taken.sid, taken.sender, taken.recipient, taken.body) == (sid, OUTGOING.sender, OUTGOING.recipient, OUTGOING.text)
    assert taken.reply == OUTGOING.id


@pytest.mark.parametrize(
    ("status", "code"), [(429, 20429), (429, 21211), (400, 63018), (400, 21611), (400, 21730), (404, 20404), (400, 63007)]
)
def test_what_may_pass_is_temporary(twilio: Twilio, status: int, code: int) -> None:
    """Rates, maintenance and settings are worth another try."""
    twilio.server.faults.append((status, code))
    with pytest.raises(TemporarySendError):
        twilio.sender.send(OUTGOING, at_once)


@pytest.mark.parametrize(("status", "code"), [(400, 21211), (400, 21610), (400, 63016), (400, 63024), (400, 12345)])
def test_what_will_never_pass_is_permanent(twilio: Twilio, status: int, code: int) -> None:
    """Blocked, invalid and out-of-window recipients are final, and so is what nobody knows; each with its code."""
    twilio.server.faults.append((status, code))
    with pytest.raises(PermanentSendError) as caught:
        twilio.sender.send(OUTGOING, at_once)
    assert caught.value.code == str(code)
    assert "600000001" not in str(caught.value)


def test_a_text_that_is_too_long_is_refused_by_the_provider(twilio: Twilio) -> None:
    """1,600 characters is the provider's limit, and the stand-in keeps it."""
    with pytest.raises(PermanentSendError) as caught:
        twilio.sender.send(Outgoing(1, "a", "b", "x" * 1_601), at_once)
    assert caught.value.code == "21617"


@pytest.mark.parametrize("asks", ["send", "taken"])
def test_a_wrong_token_throws_nothing_away(twilio: Twilio, asks: str) -> None:
    """With a token that was changed, replies wait and the operator reads why."""
    other = TwilioSender(ACCOUNT, "other", STATUS, twilio.server.url)
    with capture_logs() as logs, pytest.raises(TemporarySendError):
        other.send(OUTGOING, at_once) if asks == "send" else other.taken(OUTGOING)
    other.close()
    assert [(line["log_level"], line["event"], line["error"]) for line in logs] == [
        ("error", "Twilio refuses the account", "20003")
    ]
    assert twilio.server.taken == []


def test_a_rate_says_how_long_to_wait(twilio: Twilio) -> None:
    """The provider's Retry-After reaches whoever schedules the next try."""
    twilio.server.faults.append(TwilioFault(FaultMode.RATE, seconds=7))
    with pytest.raises(TemporarySendError) as caught:
        twilio.sender.send(OUTGOING, at_once)
    assert caught.value.wait == 7.0


@pytest.mark.parametrize("kind", [kind for kind in FaultMode if kind is not FaultMode.RATE])
def test_an_answer_that_does_not_tell_is_lost(twilio: Twilio, kind: FaultMode) -> None:
    """Once a request is written, every failure but a plain refusal leaves open whether it was taken; it is not repeated."""
    twilio.server.faults.append(TwilioFault(kind))
    with pytest.raises(LostAnswerError):
        (twilio.impatient if kind in SLOW else twilio.sender).send(OUTGOING, at_once)
    assert len(twilio.server.taken) == (kind in TAKING)
    assert twilio.sender.send(OUTGOING, at_once) == twilio.server.taken[-1].sid


def test_nothing_is_sent_too_late(twilio: Twilio) -> None:
    """A try that is no longer timely is not taken, may be repeated at once, and harms none that follows."""
    with pytest.raises(TemporarySendError, match="not sent in time") as caught:
        twilio.sender.send(OUTGOING, lambda: False)
    assert caught.value.wait == 0.0
    assert twilio.sender.send(OUTGOING, at_once) == twilio.server.taken[0].sid


def test_a_server_that_is_away_is_temporary(free_port: int) -> None:
    """Without a connection nothing was sent, and nobody is asked whether it would still be timely."""
    sender = TwilioSender(ACCOUNT, TOKEN, STATUS, f"http://127.0.0.1:{free_port}")
    with pytest.raises(TemporarySendError, match="could not be reached"):
        sender.send(OUTGOING, pytest.fail)
    with pytest.raises(TemporarySendError, match="could not be reached"):
        sender.taken(OUTGOING)


def test_a_lost_message_appears_in_the_list_after_the_lag(twilio: Twilio) -> None:
    """A message that was taken without an answer is not in the list at first, and then it is."""
    twilio.server.list_lag = 0.2
    twilio.server.faults.append(TwilioFault(FaultMode.ACCEPT_THEN_CUT))
    with pytest.raises(LostAnswerError):
        twilio.sender.send(OUTGOING, at_once)
    assert twilio.sender.taken(OUTGOING) == []
    until(lambda: [taken.sid for taken in twilio.sender.taken(OUTGOING)] == [twilio.server.taken[0].sid])


def test_the_list_holds_the_newest_of_this_pair(twilio: Twilio) -> None:
    """Other people's messages, other senders' messages and those before the newest fifty are left out."""
    for number in range(52):
        twilio.sender.send(Outgoing(number, OUTGOING.sender, OUTGOING.recipient, str(number)), at_once)
        twilio.sender.send(Outgoing(number, OUTGOING.sender, "whatsapp:+34600000002", "other"), at_once)
        twilio.sender.send(Outgoing(number, "whatsapp:+15555550199", OUTGOING.recipient, "other"), at_once)
    found = twilio.sender.taken(OUTGOING)
    assert [taken.text for taken in found] == [str(number) for number in range(51, 1, -1)]
    assert all(0.0 <= taken.age < 60.0 for taken in found)


@pytest.mark.parametrize("kind", list(FaultMode))
def test_a_list_that_fails_is_temporary(twilio: Twilio, kind: FaultMode) -> None:
    """Nothing is known of what was taken, which is never the same as that nothing was taken."""
    twilio.sender.send(OUTGOING, at_once)
    twilio.server.list_faults.append(TwilioFault(kind))
    with pytest.raises(TemporarySendError):
        (twilio.impatient if kind in SLOW else twilio.sender).taken(OUTGOING)


def test_threads_share_a_sender(twilio: Twilio) -> None:
    """32 threads send 320 messages through one sender: each is taken once, and only what was timely."""

    def allowed(number: int) -> Callable[[], bool]:
        return lambda: number % 4 != 0

    def send(number: int) -> str | None:
        try:
            return twilio.sender.send(Outgoing(number, OUTGOING.sender, f"whatsapp:+{number}", "x"), allowed(number))
        except TemporarySendError:
            return None

    with ThreadPoolExecutor(32) as pool:
        sids = list(pool.map(send, range(320)))
    timely = [number for number in range(320) if number % 4 != 0]
    assert [number for number, sid in enumerate(sids) if sid is not None] == timely
    assert Counter(taken.reply for taken in twilio.server.taken) == Counter(timely)
