"""Telegram: an update of the Bot API becomes a message; what sends and fetches is imported when it is built."""

import hmac
import json
import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from clara.delivery.message import Incoming
from clara.delivery.ports import ChannelLimits
from clara.settings import Settings
from clara.web.calls import ChannelIntake, ForgedCallError, UnreadableCallError, WebhookCall

if TYPE_CHECKING:
    from flask import Blueprint

    from clara.channels.telegram.bot_api import TelegramSender, TelegramVoices

PUBLIC_URL: Final = "https://api.telegram.org"
# What a message may be instead of text, as kinds of media; what is not here (somebody joined, a pinned message) asks nothing.
UNKNOWN: Final = "unknown"
KINDS: Final = {
    "photo": "image/jpeg", "voice": "audio/ogg", "audio": "audio/mpeg", "video": "video/mp4", "video_note": "video/mp4",
    "animation": "video/mp4", "document": "application/octet-stream", "sticker": "image/webp",
    "location": "location/coordinates", "contact": "text/vcard", "poll": UNKNOWN, "dice": UNKNOWN, "story": UNKNOWN,
}  # fmt: skip
MAX_KIND: Final = 256
FILE_ID: Final = re.compile(r"[A-Za-z0-9_-]{1,200}")
# A command of Telegram's: "/menu", "/menu@clara_bot".
COMMAND: Final = re.compile(r"/([a-z0-9_]{1,32})(?:@\w+)?(?!\S)")
# What the button sends with which every conversation begins.
START: Final = "start"
GREETING: Final = "hola"


class TelegramChannel:
    """Implements Channel. Nobody reports what became of a message, and an answer is taken however late it is."""

    name = "telegram"
    limits = ChannelLimits(4_096)

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._token = settings.secret("telegram_bot_token")
        self._api_url = settings.telegram_api_url or PUBLIC_URL

    def routes(self, intake: ChannelIntake) -> "Blueprint":
        """Give the address that Telegram calls. Raises SettingsError: without a secret anybody could call it."""
        from clara.web.webhook import Webhook

        self._settings.require_channel()
        updates = TelegramUpdates(self._token.partition(":")[0], self._settings.secret("telegram_webhook_secret"))
        return Webhook(updates, intake, self._settings.clara_public_url or "", repeats=True).blueprint()

    def sender(self) -> "TelegramSender":
        """Build what sends."""
        from clara.channels.telegram.bot_api import TelegramSender

        return TelegramSender(self._token, self._api_url)

    def recordings(self) -> "TelegramVoices":
        """Build what fetches voice notes."""
        from clara.channels.telegram.bot_api import TelegramVoices

        return TelegramVoices(self._token, self._api_url)


class TelegramUpdates:
    """Implements the web's CallReader for updates that carry the secret that the webhook was set with. `bot` is the bot's id.

    Only private chats are read: in a group an answer about somebody's papers would be everybody's.
    """

    name = "telegram"
    paths: Sequence[str] = ("/webhook/telegram",)
    thanks = ("", "text/plain")

    def __init__(self, bot: str, secret: str) -> None:
        self._bot = bot
        self._secret = secret.encode()

    def read(self, call: WebhookCall) -> Incoming | None:
        """Read an update; None for one that is no message of a person to the bot."""
        told = call.headers.get("X-Telegram-Bot-Api-Secret-Token", "")
        if not hmac.compare_digest(told.encode("utf-8", "replace"), self._secret):
            raise ForgedCallError("secret", "The secret token does not fit. Check TELEGRAM_WEBHOOK_SECRET.")
        try:
            update = json.loads(call.body)
        except (ValueError, RecursionError) as error:
            raise UnreadableCallError("An update is JSON.") from error
        number = update.get("update_id") if isinstance(update, dict) else None
        if type(number) is not int:
            raise UnreadableCallError("An update needs update_id.")
        message = update.get("message")
        return self._incoming(number, message) if isinstance(message, dict) else None

    def _incoming(self, number: int, message: Mapping[str, Any]) -> Incoming | None:
        chat = message.get("chat")
        if not isinstance(chat, dict) or chat.get("type") != "private" or type(chat.get("id")) is not int:
            return None
        text = message.get("text", message.get("caption"))
        media = tuple(_kind(message[name], kind) for name, kind in KINDS.items() if name in message)
        if not media and not isinstance(text, str):
            return None
        return Incoming(
            # Neither the chat nor the message's own number: the first is the person's, the second is counted in each chat.
            sid=f"telegram:{self._bot}:{number}",
            channel=self.name,
            sender=str(chat["id"]),
            recipient=self._bot,
            text=_words(text) if isinstance(text, str) else None,
            media_types=media,
            recordings=_recordings(message.get("voice")),
        )


def _kind(content: object, usual: str) -> str:
    told = content.get("mime_type") if isinstance(content, dict) else None
    return told[:MAX_KIND] if isinstance(told, str) and told else usual


def _recordings(voice: object) -> tuple[str, ...]:
    name = voice.get("file_id") if isinstance(voice, dict) else None
    return (name,) if isinstance(name, str) and FILE_ID.fullmatch(name) else ()


def _words(text: str) -> str:
    """Give a command of Telegram's as people write it elsewhere, and any other text as it is."""
    command = COMMAND.match(text)
    if command is None:
        return text
    return GREETING if command[1] == START else command[1] + text[command.end() :]
