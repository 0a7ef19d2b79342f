"""Telegram's Bot API on the wire: what is sent, what its refusals mean, and fetching voice notes."""

import socket
from collections.abc import Iterator

import pytest
from structlog.testing import capture_logs
from tests.telegram_stand_in import TelegramFault, TelegramStandIn, error, rate

from clara.answering.ports import Recording, RecordingTooLongError, RecordingUnavailableError
from clara.channels.telegram.bot_api import MAX_WAIT_SECONDS, TelegramSender, TelegramVoices, as_html
from clara.delivery.message import Outgoing
from clara.delivery.ports import LostAnswerError, PermanentSendError, TemporarySendError
from clara_lab.stand_ins.server import Delivery, ScriptedReply

TOKEN = "4242:" + "t0ken_-" * 5
TEXT = "*Plazo*\n3 * 4 < 5 & <b>no</b> snake*case*x ¡Hola! 😀 مرحبا"
OUTGOING = Outgoing(17, "4242", "600000001", TEXT)


def at_once() -> bool:
    """Allow every try."""
    return True


@pytest.fixture
def telegram() -> Iterator[TelegramStandIn]:
    state = TelegramStandIn(token=TOKEN)
    state.serve()
    yield state
    state.close()


@pytest.fixture
def sender(telegram: TelegramStandIn) -> Iterator[TelegramSender]:
    made = TelegramSender(TOKEN, telegram.url, 0.5)
    yield made
    made.close()


@pytest.fixture
def voices(telegram: TelegramStandIn) -> Iterator[TelegramVoices]:
    made = TelegramVoices(TOKEN, telegram.url, max_bytes=1_000)
    yield made
    made.close()


def test_a_reply_arrives_as_it_was_written(telegram: TelegramStandIn, sender: TelegramSender) -> None:
    """What stands between stars is bold; nothing else of the text is markup."""
    assert sender.send(OUTGOING, at_once) == "telegram:17:1"
    (taken,) = telegram.taken
    assert (taken.chat, taken.text, taken.bold) == (600000001, TEXT.replace("*Plazo*", "Plazo"), ("Plazo",))


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("*a* y *b c*.", "<b>a</b> y <b>b c</b>."),
        ("(*112*)", "(<b>112</b>)"),
        ("2*3*4", "2*3*4"),
        ("* a *", "* a *"),
        ("**", "**"),
        ("*a\nb*", "*a\nb*"),
        ("*<i>&*", "<b>&lt;i&gt;&amp;</b>"),
    ],
)
def test_stars_make_bold_as_on_whatsapp(text: str, written: str) -> None:
    """Around words, not between figures, not over a line's end."""
    assert as_html(text) == written


def test_two_people_s_first_messages_have_two_ids(telegram: TelegramStandIn, sender: TelegramSender) -> None:
    """Telegram counts the messages of each chat by themselves; ours are unique, and do not say whose they are."""
    others = [Outgoing(number, "4242", str(600000000 + number), "x") for number in range(3)]
    ids = [str(sender.send(outgoing, at_once)) for outgoing in others]
    assert len({taken.number for taken in telegram.taken}) == 1
    assert len(set(ids)) == 3
    assert not any(outgoing.recipient in "".join(ids) for outgoing in others)


def test_who_stopped_the_bot_gets_nothing_more(telegram: TelegramStandIn, sender: TelegramSender) -> None:
    """The refusal is final, and says nothing of the person."""
    telegram.blocked.add(600000001)
    with pytest.raises(PermanentSendError) as caught:
        sender.send(OUTGOING, at_once)
    assert caught.value.code == "403"
    assert "600000001" not in str(caught.value)


@pytest.mark.parametrize(("text", "code"), [("x" * 4_097, "400"), ("  ", "400")])
def test_what_will_never_be_taken(sender: TelegramSender, text: str, code: str) -> None:
    """Too long, or nothing."""
    with pytest.raises(PermanentSendError) as caught:
        sender.send(Outgoing(1, "4242", "1", text), at_once)
    assert caught.value.code == code


@pytest.mark.parametrize("address", ["erased", "", "whatsapp:+34600000001", "1" * 30])
def test_an_address_of_another_channel_is_not_written_to(
    telegram: TelegramStandIn, sender: TelegramSender, address: str
) -> None:
    """Telegram is not asked."""
    with pytest.raises(PermanentSendError):
        sender.send(Outgoing(1, "4242", address, "x"), at_once)
    assert telegram.taken == []


@pytest.mark.parametrize(("seconds", "wait"), [(5, 5.0), (100_000, MAX_WAIT_SECONDS)])
def test_a_rate_says_how_long_to_wait(telegram: TelegramStandIn, sender: TelegramSender, seconds: int, wait: float) -> None:
    """`retry_after` reaches whoever schedules the next try, within reason."""
    telegram.faults.append(rate(seconds))
    with pytest.raises(TemporarySendError) as caught:
        sender.send(OUTGOING, at_once)
    assert (caught.value.wait, telegram.taken) == (wait, [])


def test_a_wrong_token_throws_nothing_away(telegram: TelegramStandIn) -> None:
    """With a token that was revoked, replies wait and the operator reads why; the token is in no log and no error."""
    other = TelegramSender("4242:" + "0ther_-" * 5, telegram.url)
    with capture_logs() as logs, pytest.raises(TemporarySendError) as caught:
        other.send(OUTGOING, at_once)
    other.close()
    assert [(line["log_level"], line["event"]) for line in logs] == [("error", "Telegram refuses the bot")]
    assert "0ther" not in f"{logs}{caught.value}{caught.value.__cause__}"


@pytest.mark.parametrize("takes", [True, False])
@pytest.mark.parametrize(
    "reply",
    [
        pytest.param(error(500, "Internal Server Error"), id="500"),
        pytest.param(error(502, "Bad Gateway"), id="502"),
        pytest.param(ScriptedReply(status=429, body=b"<html>"), id="429-of-somebody-between"),
        pytest.param(ScriptedReply(body=b"<html>It works!</html>"), id="something-else"),
        pytest.param(ScriptedReply(body=b'{"ok": true, "result": true}'), id="no-message"),
        pytest.param(ScriptedReply(Delivery.CUT), id="cut"),
        pytest.param(ScriptedReply(Delivery.TRUNCATED, body=b'{"ok": true}'), id="truncated"),
        pytest.param(ScriptedReply(Delivery.HANG), id="hang"),
    ],
)
def test_an_answer_that_does_not_tell_is_lost(
    telegram: TelegramStandIn, sender: TelegramSender, reply: ScriptedReply, takes: bool
) -> None:
    """Once it is written, every failure but a plain refusal leaves open whether it was taken; it is not repeated here."""
    telegram.faults.append(TelegramFault(reply, takes))
    with pytest.raises(LostAnswerError):
        sender.send(OUTGOING, at_once)
    assert len(telegram.taken) == takes
    assert sender.taken(OUTGOING) == ()


def test_nothing_is_sent_too_late(telegram: TelegramStandIn, sender: TelegramSender) -> None:
    """A try that is no longer timely is not taken, and may be repeated at once."""
    with pytest.raises(TemporarySendError) as caught:
        sender.send(OUTGOING, lambda: False)
    assert (caught.value.wait, telegram.taken) == (0.0, [])


def test_a_server_that_is_away_is_temporary() -> None:
    """Without a connection nothing was sent."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    with pytest.raises(TemporarySendError, match="could not be reached"):
        TelegramSender(TOKEN, f"http://127.0.0.1:{port}").send(OUTGOING, pytest.fail)


def test_a_voice_note_is_fetched(telegram: TelegramStandIn, voices: TelegramVoices) -> None:
    """By the place that Telegram gives."""
    telegram.files["AwAC-1"] = b"OggS"
    assert voices.fetch("AwAC-1", 5.0) == Recording(b"OggS", "audio/ogg")


def test_voice_notes_that_cannot_be_heard(telegram: TelegramStandIn, voices: TelegramVoices) -> None:
    """Gone, too large, or at a place that is none."""
    with pytest.raises(RecordingUnavailableError):
        voices.fetch("gone", 5.0)
    telegram.files |= {"large": b"x" * 2_000, "..": b"x"}
    with pytest.raises(RecordingTooLongError):
        voices.fetch("large", 5.0)
    with pytest.raises(RecordingUnavailableError, match="no place"):
        voices.fetch("..", 5.0)
