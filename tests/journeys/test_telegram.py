"""Telegram, and Telegram beside WhatsApp in one process: from the update to the message that Telegram takes."""

import json
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from tests.journeys.talking import Clara, until
from tests.telegram_stand_in import TelegramFault, TelegramMessage, TelegramStandIn, rate, update

from clara_lab.stand_ins.server import Delivery, ScriptedReply

BOT, SECRET = "4242:" + "t0ken_-" * 5, "5ec2e7_-ab01" * 3
CHAT = 34600000001


@pytest.fixture
def telegram() -> Iterator[TelegramStandIn]:
    state = TelegramStandIn(token=BOT)
    state.serve()
    yield state
    state.close()


@pytest.fixture
def clara(start: Callable[..., Clara], telegram: TelegramStandIn) -> Clara:
    """Both channels at once."""
    return start(
        clara_channel="twilio,telegram",
        telegram_bot_token=BOT,
        telegram_webhook_secret=SECRET,
        telegram_api_url=telegram.url,
    )


def post(clara: Clara, document: dict[str, Any], secret: str = SECRET) -> int:
    headers = {"X-Telegram-Bot-Api-Secret-Token": secret}
    return clara.web.post("/webhook/telegram", data=json.dumps(document), headers=headers).status_code


def say(
    clara: Clara, telegram: TelegramStandIn, number: int, text: str | None, chat: int = CHAT, **content: Any
) -> TelegramMessage:
    before = len(telegram.taken)
    assert post(clara, update(number, chat, text, **content)) == 200
    until(lambda: len(telegram.taken) > before)
    return telegram.taken[before]


def test_a_question_is_answered(clara: Clara, telegram: TelegramStandIn) -> None:
    """With its source, in the language of the question, to the chat that asked; the row says by which channel."""
    reply = say(clara, telegram, 1, "how do I renew my TIE")
    assert reply.chat == CHAT
    assert "I am Clara" in reply.text
    assert "https://" in reply.text
    assert reply.bold
    assert "*" not in reply.text
    until(lambda: clara.rows("select status from outbox") == [("sent",)])
    ((channel, sid, address, provider),) = clara.rows(
        "select channel, message_sid, address, provider_sid from inbox join outbox on inbox.id = inbox_id"
    )
    assert (channel, sid) == ("telegram", "telegram:4242:700000001")
    assert str(CHAT) not in f"{sid}{bytes(address)!r}{provider}"
    assert clara.twilio.taken == []


def test_an_update_that_comes_twice_is_answered_once(clara: Clara, telegram: TelegramStandIn) -> None:
    """Telegram repeats what it has no answer to."""
    say(clara, telegram, 1, "hola")
    assert [post(clara, update(1, CHAT, "hola")) for _ in range(3)] == [200] * 3
    say(clara, telegram, 2, "gracias")
    assert clara.rows("select count(*) from inbox") == [(2,)]
    assert len(telegram.taken) == 2


def test_forged_and_foreign_updates_do_nothing(clara: Clara) -> None:
    """The wrong secret is refused; a group, an edit and nonsense are not stored, nor sent again."""
    group = update(1, CHAT, "hola", chat={"id": -100, "type": "supergroup"})
    edit = {"update_id": 2, "edited_message": update(2, CHAT, "hola")["message"]}
    assert [post(clara, update(3, CHAT, "hola"), "wrong"), post(clara, group), post(clara, edit), post(clara, {})] == [
        403, 204, 204, 200,
    ]  # fmt: skip
    assert clara.rows("select count(*) from inbox") == [(0,)]


def test_a_voice_note_that_nobody_writes_down(clara: Clara, telegram: TelegramStandIn) -> None:
    """As on WhatsApp: the reply says so."""
    reply = say(clara, telegram, 1, None, voice={"file_id": "AwAC", "duration": 2, "mime_type": "audio/ogg"})
    assert "audio" in reply.text.lower() or "voz" in reply.text.lower()


def test_danger_is_answered_first(clara: Clara, telegram: TelegramStandIn) -> None:
    """By every channel."""
    assert "112" in say(clara, telegram, 1, "mi marido me pega y tengo miedo").text


def test_two_channels_in_one_process(clara: Clara, telegram: TelegramStandIn) -> None:
    """Each is answered by the way it came; the same digits are two people, who do not share a conversation."""
    whatsapp = clara.say("hola", "SM1", f"whatsapp:+{CHAT}")
    assert "soy Clara" in whatsapp.body
    assert "soy Clara" in say(clara, telegram, 1, "hola").text  # for Telegram it is the first contact too
    assert (len(clara.twilio.taken), len(telegram.taken)) == (1, 1)
    assert sorted(clara.rows("select channel, count(distinct pseudonym) from inbox group by channel")) == [
        ("telegram", 1), ("whatsapp", 1),
    ]  # fmt: skip
    assert clara.rows("select count(distinct pseudonym) from inbox") == [(2,)]
    clara.say("olvídame", "SM2", f"whatsapp:+{CHAT}")
    until(lambda: clara.rows("select count(*) from inbox where channel = 'whatsapp' and pseudonym <> ''") == [(0,)])
    assert clara.rows("select count(*) from inbox where channel = 'telegram' and pseudonym <> ''") == [(1,)]


def test_what_goes_wrong_on_the_way_out(clara: Clara, telegram: TelegramStandIn) -> None:
    """A rate is waited out, a lost answer is sent again, and who stopped the bot is left alone."""
    telegram.faults += [rate(1), TelegramFault(ScriptedReply(Delivery.CUT))]
    say(clara, telegram, 1, "hola")
    until(lambda: clara.rows("select status from outbox") == [("sent",)])
    telegram.blocked.add(CHAT + 1)
    assert post(clara, update(2, CHAT + 1, "hola")) == 200
    until(lambda: clara.rows("select status, error_code from outbox order by id")[1:] == [("failed", "403")])
    assert len(telegram.taken) == 1
