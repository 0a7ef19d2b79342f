"""Telegram's Bot API: sending a message, and fetching a voice note. The token is a part of each address: none is ever told."""

import html
import json
import re
from collections.abc import Callable, Mapping, Sequence
from http import HTTPStatus
from time import perf_counter
from typing import Any, Final
from urllib.parse import urlsplit

import httpx
import structlog

from clara.adapters.http.client import AnswerTooLargeError, bounded_client, json_object, reason_of
from clara.adapters.http.gated_client import ANSWER_SECONDS, BrokenExchangeError, GatedClient, NotWrittenError
from clara.answering.ports import Recording, RecordingTooLongError, RecordingUnavailableError
from clara.delivery.message import Outgoing, Taken
from clara.delivery.ports import LostAnswerError, PermanentSendError, TemporarySendError

# Past this, asking again costs less than a wrong answer (Telegram asks for seconds, of a bot in disgrace for hours).
MAX_WAIT_SECONDS: Final = 900.0
# The token was revoked, or is none: nothing is wrong with the message, and somebody has to act.
OF_THE_TOKEN: Final = frozenset({HTTPStatus.UNAUTHORIZED, HTTPStatus.NOT_FOUND})
ADDRESS: Final = re.compile(r"-?[0-9]{1,19}")
# Replies are written for WhatsApp, where stars make bold.
BOLD: Final = re.compile(r"(?<![\w*])\*([^\s*](?:[^*\n]*[^\s*])?)\*(?![\w*])")
# As of Twilio's: three minutes of Opus are under half of it.
MAX_VOICE_BYTES: Final = 4_000_000
FILE_PATH: Final = re.compile(r"[A-Za-z0-9_-]+(?:[/.][A-Za-z0-9_-]+){0,8}")
log = structlog.get_logger()


class TelegramSender:
    """Implements delivery's Sender; one for all threads. After so many `seconds` an answer counts as lost.

    Telegram keeps no list for its bots. So a message whose answer was lost is sent again, and may come twice.
    """

    def __init__(self, token: str, api_url: str, seconds: float = ANSWER_SECONDS) -> None:
        self._http = GatedClient(api_url, seconds)
        self._path = f"{urlsplit(api_url).path.rstrip('/')}/bot{token}/sendMessage"

    def send(self, outgoing: Outgoing, timely: Callable[[], bool]) -> str | None:
        """Send with stars as bold and without previews, for which Telegram would fetch the pages that a reply names.

        The id has our number of the part in it: Telegram's own is counted in each chat.
        """
        if not ADDRESS.fullmatch(outgoing.recipient):
            raise PermanentSendError("address", "This is no chat of Telegram's.")
        asked = {
            "chat_id": int(outgoing.recipient),
            "text": as_html(outgoing.text),
            "parse_mode": "HTML",
            "link_preview_options": {"is_disabled": True},
        }
        try:
            answer = self._http.exchange(
                "POST", self._path, json.dumps(asked).encode(), {"Content-Type": "application/json"}, timely
            )
        except NotWrittenError as error:
            raise TemporarySendError(str(error), error.wait) from error
        except BrokenExchangeError as error:
            raise LostAnswerError(str(error)) from error
        number = _object(_told(answer).get("result")).get("message_id")
        if type(number) is not int:
            raise LostAnswerError("Telegram answered without the message's id")
        return f"telegram:{outgoing.id}:{number}"

    def taken(self, outgoing: Outgoing) -> Sequence[Taken]:
        """Know of nothing: there is no list to ask."""
        del outgoing
        return ()

    def close(self) -> None:
        """Close the connections that wait for a request."""
        self._http.close()


class TelegramVoices:
    """Implements the conversation's Recordings; safe to share between threads."""

    def __init__(self, token: str, api_url: str, max_bytes: int = MAX_VOICE_BYTES) -> None:
        self._http = bounded_client(max_bytes)
        self._asking = f"{api_url.rstrip('/')}/bot{token}/getFile"
        self._files = f"{api_url.rstrip('/')}/file/bot{token}/"

    def fetch(self, name: str, seconds: float) -> Recording:
        """Ask where the file lies, then fetch it. Raises RecordingUnavailableError, RecordingTooLongError."""
        until = perf_counter() + seconds
        told = _object((json_object(self._get(self._asking, until, {"file_id": name})) or {}).get("result"))
        path = told.get("file_path")
        if not isinstance(path, str) or not FILE_PATH.fullmatch(path):
            raise RecordingUnavailableError("has no place at Telegram")
        return Recording(self._get(self._files + path, until), "audio/ogg")

    def close(self) -> None:
        """Close the connections."""
        self._http.close()

    def _get(self, address: str, until: float, query: Mapping[str, str] | None = None) -> bytes:
        try:
            answer = self._http.get(address, params=query, timeout=max(until - perf_counter(), 0.001))
        except AnswerTooLargeError as error:
            raise RecordingTooLongError("is larger than is taken") from error
        except httpx.HTTPError as error:
            raise RecordingUnavailableError(reason_of(error)) from error
        if answer.status_code != httpx.codes.OK:
            raise RecordingUnavailableError(f"answered {answer.status_code}")
        return answer.content


def as_html(text: str) -> str:
    """Write a reply in Telegram's HTML: nothing of it is markup but bold between stars."""
    return BOLD.sub(r"<b>\1</b>", html.escape(text, quote=False))


def _told(answer: httpx.Response) -> Mapping[str, Any]:
    """Give what Telegram answered when it took the message. Raises what Sender promises.

    Its own words are left out of errors: nobody knows what they quote.
    """
    document = json_object(answer.content) or {}
    if answer.status_code == HTTPStatus.OK and document.get("ok") is True:
        return document
    if document.get("ok") is not False or not answer.is_client_error:
        raise LostAnswerError(f"Telegram answered {answer.status_code}, or something else than its JSON")
    if answer.status_code == HTTPStatus.TOO_MANY_REQUESTS:
        wait = _object(document.get("parameters")).get("retry_after")
        seconds = min(float(wait), MAX_WAIT_SECONDS) if type(wait) is int and wait >= 0 else None
        raise TemporarySendError("Telegram wants it slower", seconds)
    if answer.status_code in OF_THE_TOKEN:
        log.error(
            "Telegram refuses the bot", status=answer.status_code, reason="Check TELEGRAM_BOT_TOKEN and TELEGRAM_API_URL."
        )
        raise TemporarySendError("Telegram does not know the bot")
    raise PermanentSendError(str(answer.status_code), "Telegram will not take it: the person stopped the bot, or is gone.")


def _object(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}
