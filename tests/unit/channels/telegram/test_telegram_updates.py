"""What is read of an update of Telegram's, and who may send one."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.telegram_stand_in import update

from clara.channels.telegram.channel import TelegramUpdates
from clara.delivery.message import Incoming
from clara.web.calls import ForgedCallError, UnreadableCallError, WebhookCall

BOT, SECRET, CHAT = "4242", "s" * 16 + "ecret_-" * 4, 600000001
READER = TelegramUpdates(BOT, SECRET)
HEADER = "X-Telegram-Bot-Api-Secret-Token"
JSON = st.recursive(st.none() | st.booleans() | st.integers() | st.text(max_size=8), lambda more: st.lists(more, max_size=3))
FILE = {"file_id": "AwACAgQ_-1", "file_unique_id": "x", "duration": 3, "mime_type": "audio/ogg"}


def read(document: object, secret: str = SECRET) -> Incoming | None:
    body = document if isinstance(document, bytes) else json.dumps(document).encode()
    return READER.read(WebhookCall("/webhook/telegram", "", {}, {HEADER: secret}, (), body))


def test_a_text() -> None:
    """The chat is the sender, the bot the recipient; the id holds neither the chat nor a number that another chat has too."""
    assert read(update(7, CHAT, "¿NIE?")) == Incoming("telegram:4242:700000007", "telegram", str(CHAT), BOT, "¿NIE?")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("/start", "hola"), ("/start from_a_poster", "hola"), ("/menu", "menu"), ("/menu@clara_bot", "menu"),
        ("/ayuda con el NIE", "ayuda con el NIE"), ("/", "/"), ("/Menu", "/Menu"), ("24/7", "24/7"), ("/a/b", "/a/b"),
    ],
)  # fmt: skip
def test_commands_are_words(text: str, said: str) -> None:
    """What the button sends is a greeting; a command is the word behind its stroke; nothing else is touched."""
    assert read(update(1, CHAT, text)).text == said


@pytest.mark.parametrize(
    ("content", "kinds", "recordings"),
    [
        pytest.param({"voice": FILE}, ("audio/ogg",), (FILE["file_id"],), id="voice"),
        pytest.param({"voice": {"file_id": "../x"}}, ("audio/ogg",), (), id="voice-with-a-strange-id"),
        pytest.param({"voice": 1}, ("audio/ogg",), (), id="voice-that-is-none"),
        pytest.param({"photo": [{"file_id": "x"}]}, ("image/jpeg",), (), id="photo"),
        pytest.param({"document": {"mime_type": "application/pdf"}}, ("application/pdf",), (), id="document"),
        pytest.param({"document": {"mime_type": "x" * 9_000}}, ("x" * 256,), (), id="document-of-a-long-kind"),
        pytest.param({"location": {"latitude": 1, "longitude": 2}}, ("location/coordinates",), (), id="location"),
        pytest.param({"poll": {}}, ("unknown",), (), id="poll"),
    ],
)
def test_other_kinds(content: dict[str, Any], kinds: tuple[str, ...], recordings: tuple[str, ...]) -> None:
    """Each is a message without words, answered as on WhatsApp; of the addresses that came only a voice note's id is kept."""
    incoming = read(update(1, CHAT, **content))
    assert (incoming.text, incoming.media_types, incoming.recordings) == (None, kinds, recordings)


def test_a_caption_is_a_text() -> None:
    """What stands under a picture was written by the person."""
    incoming = read(update(1, CHAT, photo=[{}], caption="¿NIE?"))
    assert (incoming.text, incoming.media_types) == ("¿NIE?", ("image/jpeg",))


@pytest.mark.parametrize(
    "document",
    [
        pytest.param({"update_id": 1, "edited_message": update(1, CHAT, "x")["message"]}, id="an-edit"),
        pytest.param({"update_id": 1, "my_chat_member": {}}, id="the-bot-was-stopped"),
        pytest.param(update(1, CHAT, "x", chat={"id": -100, "type": "supergroup"}), id="a-group"),
        pytest.param(update(1, CHAT, "x", chat={"id": "1", "type": "private"}), id="a-chat-without-number"),
        pytest.param(update(1, CHAT, new_chat_members=[]), id="somebody-joined"),
        pytest.param(update(1, CHAT, pinned_message={}), id="a-message-was-pinned"),
    ],
)
def test_what_asks_nothing_is_passed_over(document: dict[str, Any]) -> None:
    """Neither stored nor sent again: an edit, a group, a notice."""
    assert read(document) is None


@pytest.mark.parametrize("secret", ["", "wrong", SECRET[:-1], SECRET + "x", SECRET.upper(), "\udcff", "ñ"])
def test_without_the_secret_nothing_is_read(secret: str) -> None:
    """Whoever does not know it is told what an operator should look at, and nothing else."""
    with pytest.raises(ForgedCallError, match="TELEGRAM_WEBHOOK_SECRET"):
        read(b"{", secret)


@pytest.mark.parametrize("body", [b"", b"{", b"[]", b"1", b"{}", b'{"update_id": true}', b"[" * 100_000, b"\xff"])
def test_what_is_no_update(body: bytes) -> None:
    """With the secret and without sense."""
    with pytest.raises(UnreadableCallError):
        read(body)


@given(st.dictionaries(st.sampled_from(["chat", "text", "voice", "photo", "caption", "document"]), JSON))
def test_any_message(message: dict[str, Any]) -> None:
    """Any JSON is read or passed over, never an error."""
    private = {"chat": {"id": CHAT, "type": "private"}} | message
    incoming = read({"update_id": 1, "message": private})
    assert incoming is None or incoming.sender == str(CHAT)
