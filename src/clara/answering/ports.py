"""What the conversation needs from outside."""

from dataclasses import dataclass
from typing import Protocol

from clara.errors import Unavailable


class ModelUnavailableError(Unavailable):
    """The model could not be asked, or gave nothing usable; the message says why, without a word of what was asked."""


@dataclass(frozen=True, slots=True)
class Prompt:
    """What a language model is given: its standing orders, and one page with the question and the evidence.

    `json` asks for a JSON document instead of running text.
    """

    instruction: str
    page: str
    json: bool = False


class TextModel(Protocol):
    """A language model that writes. `name` is the model's."""

    name: str

    def write(self, prompt: Prompt, seconds: float) -> str:
        """Give what the model wrote, within so many seconds. Raises ModelUnavailableError."""


class RecordingUnavailableError(Unavailable):
    """A voice note could not be fetched; the message says why, without an address."""


class RecordingTooLongError(RecordingUnavailableError):
    """A voice note is longer than is listened to."""


@dataclass(frozen=True, slots=True)
class Recording:
    """A voice note: its bytes, and their kind, such as "audio/ogg"."""

    audio: bytes
    media_type: str


class Recordings(Protocol):
    """Fetches voice notes from the channel."""

    def fetch(self, name: str, seconds: float) -> Recording:
        """Give a voice note by its name, within so many seconds. Raises RecordingUnavailableError."""

    def close(self) -> None:
        """Close the connections."""


class Transcriber(Protocol):
    """Writes down what a voice note says."""

    def transcribe(self, audio: bytes, media_type: str, seconds: float) -> str:
        """Give the words, empty when nobody speaks. Raises ModelUnavailableError."""
