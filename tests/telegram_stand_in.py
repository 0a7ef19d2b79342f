"""A stand-in for Telegram's Bot API: it takes messages, gives voice notes, and fails as it is told.

Speaks sendMessage, getFile and the files, in JSON: {"ok": true, "result": ...}, or {"ok": false, "error_code": ..., ...}.
"""

import re
from dataclasses import dataclass, field
from typing import Any, Final

from clara_lab.stand_ins.server import LoopbackStandIn, ScriptedReply, StandInRequest, json_reply

LONGEST: Final = 4_096
TAG: Final = re.compile(r"</?b>")


@dataclass(frozen=True, slots=True)
class TelegramFault:
    """What one request to sendMessage gets. `takes`: the message is taken all the same; its reply is then the fault's body."""

    reply: ScriptedReply
    takes: bool = False


@dataclass(frozen=True, slots=True)
class TelegramMessage:
    """A message that the stand-in took: `text` as a person sees it, `bold` what is bold of it."""

    number: int
    chat: int
    text: str
    bold: tuple[str, ...] = ()


@dataclass
class TelegramStandIn(LoopbackStandIn):
    """The state of the stand-in: what it took, who stopped the bot, the voice notes by their file's id, and what goes wrong."""

    token: str = ""
    taken: list[TelegramMessage] = field(default_factory=list)
    blocked: set[int] = field(default_factory=set)
    files: dict[str, bytes] = field(default_factory=dict)
    faults: list[TelegramFault] = field(default_factory=list)

    async def answer(self, request: StandInRequest) -> ScriptedReply:
        """Answer one request."""
        method, _, file = request.path.partition(f"/bot{self.token}/")[2].partition("/")
        if request.path.startswith("/file/"):
            content = self.files.get(file.removesuffix(".oga"))
            return ScriptedReply(status=404 if content is None else 200, body=content or b"")
        if method == "getFile":
            name = request.query.get("file_id", "")
            known = {"file_id": name, "file_path": f"voice/{name}.oga"}
            return result(known) if name in self.files else error(400, "Bad Request: invalid file_id")
        if method != "sendMessage":
            return error(401, "Unauthorized")
        if not self.faults:
            return self._take(request)
        fault = self.faults.pop(0)
        if fault.takes:
            self._take(request)
        return fault.reply

    def _take(self, request: StandInRequest) -> ScriptedReply:
        asked = request.document
        chat, text = asked["chat_id"], asked["text"]
        shown = TAG.sub("", text)
        if not shown.strip():
            return error(400, "Bad Request: message text is empty")
        if len(shown) > LONGEST:
            return error(400, "Bad Request: message is too long")
        if asked.get("parse_mode") != "HTML" or "<" in shown or text.count("<b>") != text.count("</b>"):
            return error(400, "Bad Request: can't parse entities")
        if chat in self.blocked:
            return error(403, "Forbidden: bot was blocked by the user")
        plain = shown.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")
        number = 1 + sum(message.chat == chat for message in self.taken)  # each chat counts for itself
        self.taken.append(TelegramMessage(number, chat, plain, tuple(re.findall(r"<b>(.*?)</b>", text))))
        return result({"message_id": number, "chat": {"id": chat, "type": "private"}, "date": 0, "text": plain})


def update(number: int, person: int, text: str | None = None, **content: Any) -> dict[str, Any]:
    """Make an update of a private message as Telegram sends it; `content` is what it has besides or instead of a text."""
    sender = {"id": person, "is_bot": False, "first_name": "Ana", "language_code": "es"}
    message = {"message_id": number, "from": sender, "chat": {"id": person, "type": "private"}, "date": 1_764_000_000}
    said = {} if text is None else {"text": text}
    return {"update_id": 700_000_000 + number, "message": {**message, **said, **content}}


def result(value: dict[str, Any]) -> ScriptedReply:
    """Answer well."""
    return json_reply({"ok": True, "result": value})


def error(status: int, description: str, **more: Any) -> ScriptedReply:
    """Refuse."""
    return json_reply({"ok": False, "error_code": status, "description": description, **more}, status)


def rate(seconds: int) -> TelegramFault:
    """Ask for patience."""
    wait = {"retry_after": seconds}
    return TelegramFault(error(429, f"Too Many Requests: retry after {seconds}", parameters=wait))
