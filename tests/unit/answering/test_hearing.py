"""Voice notes in the conversation: heard, shown as understood, or kindly refused."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace

import pytest
from structlog.testing import capture_logs

from clara.answering.journey import Tools, converse
from clara.answering.message import Message, ReplyStatus
from clara.answering.ports import ModelUnavailableError, Recording, RecordingTooLongError, RecordingUnavailableError
from clara.answering.voice_notes import SHOWN, Listener, shown

VOICE = Message(None, ("audio/ogg",), ("MM1/Media/ME1",))


@dataclass
class Channel:
    """Holds one recording, and what was asked of the transcriber; `said` may raise instead."""

    said: Callable[[], str]
    trouble: RecordingUnavailableError | None = None
    asked: list[tuple[str, float]] = field(default_factory=list)

    def fetch(self, name: str, seconds: float) -> Recording:
        """Give the recording."""
        self.asked.append((name, seconds))
        if self.trouble is not None:
            raise self.trouble
        return Recording(b"OggS", "audio/ogg")

    def transcribe(self, audio: bytes, media_type: str, seconds: float) -> str:
        """Write it down."""
        self.asked.append((f"{media_type} {len(audio)}", seconds))
        return self.said()


@pytest.fixture
def tools(tools_with: Callable[..., Tools]) -> Tools:
    """The tools of a conversation without a database."""
    return tools_with()


def listening(tools: Tools, channel: Channel) -> Tools:
    """Give the tools with somebody who listens; the clock stands still."""
    return replace(tools, listener=Listener(channel, channel, lambda: 100.0))


def test_a_voice_note_is_answered_like_a_question(tools: Tools) -> None:
    """The reply begins with what was understood, and goes on as for the same words in writing."""
    channel = Channel(lambda: "qué es el NIE")
    reply = converse(VOICE, listening(tools, channel))
    written = converse(Message("qué es el NIE"), tools)
    assert reply.text == f"He entendido: «qué es el NIE»\n\n{written.text}"
    assert reply.status is written.status
    assert channel.asked == [("MM1/Media/ME1", 1.5), ("audio/ogg 4", 3.5)]


@pytest.mark.parametrize(
    ("said", "trouble", "name"),
    [
        (lambda: "", None, "voice_not_heard"),
        (lambda: " … ", None, "voice_not_heard"),
        (lambda: "hola", RecordingUnavailableError("answered 404"), "voice_not_heard"),
        (lambda: "hola", RecordingTooLongError("is larger"), "voice_too_long"),
    ],
)
def test_what_cannot_be_heard_is_said(
    tools: Tools, said: Callable[[], str], trouble: RecordingUnavailableError | None, name: str
) -> None:
    """Silence, a lost or a long recording: the person is asked to write, in the language of the conversation."""
    with capture_logs():
        reply = converse(VOICE, listening(tools, Channel(said, trouble)), previous_language="uk")
    assert (reply.text, reply.status) == (tools.say("uk", name), ReplyStatus.UNREADABLE)


def test_a_transcriber_that_fails_is_no_error(tools: Tools) -> None:
    """The person is asked to write; the log says why, without a word of the recording."""

    def fail() -> str:
        raise ModelUnavailableError("did not answer within the deadline")

    with capture_logs() as logs:
        reply = converse(VOICE, listening(tools, Channel(fail)))
    assert reply.status is ReplyStatus.UNREADABLE
    assert [entry["reason"] for entry in logs] == ["did not answer within the deadline"]


def test_nobody_listens_without_a_transcriber(tools: Tools) -> None:
    """The kind reply of before asks for text; a message with words is read, not heard."""
    assert converse(VOICE, tools).text == tools.say("es", "voice_note")
    channel = Channel(lambda: "otra cosa")
    assert converse(replace(VOICE, text="hola"), listening(tools, channel)).status is ReplyStatus.COMMAND
    assert channel.asked == []


def test_a_long_transcript_is_shown_shortened() -> None:
    """Whole words, one line, and a sign that there was more."""
    long = "una  palabra\n" * 40
    assert len(shown(long)) <= SHOWN + 2
    assert shown(long).endswith("palabra …")
    assert shown("dos\npalabras") == "dos palabras"
