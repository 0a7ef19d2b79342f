"""Voice notes: what somebody says becomes what they wrote, and the reply shows how it was understood."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from time import perf_counter
from typing import Final

import structlog

from clara.answering import ports
from clara.answering.message import Message

# Everybody is answered within twelve seconds: eight are the writer's (grounded.SECONDS), half a one is for looking.
SECONDS: Final = 3.5
# Twilio's store answers within a second; the rest is for the transcriber.
FETCHING_SECONDS: Final = 1.5
# As much of a transcript as tells somebody whether it is what was said.
SHOWN: Final = 120
log = structlog.get_logger()


@dataclass(frozen=True, slots=True)
class Listener:
    """Listens to the voice notes of a message. `clock` gives seconds."""

    recordings: ports.Recordings
    transcriber: ports.Transcriber
    clock: Callable[[], float] = perf_counter

    def listen(self, message: Message) -> Message | str:
        """Write down the first voice note of a message without words, in 3.5 seconds at most.

        Gives the message with its words, or the name of the text that says why there are none.
        """
        until = self.clock() + SECONDS
        try:
            recording = self.recordings.fetch(message.recordings[0], FETCHING_SECONDS)
            words = self.transcriber.transcribe(recording.audio, recording.media_type, until - self.clock())
        except ports.RecordingTooLongError:
            return "voice_too_long"
        except (ports.RecordingUnavailableError, ports.ModelUnavailableError) as error:
            log.warning("voice note not heard", error=type(error).__name__, reason=str(error))
            return "voice_not_heard"
        return replace(message, text=words) if any(character.isalnum() for character in words) else "voice_not_heard"


def shown(transcript: str) -> str:
    """Give the beginning of a transcript, to show what was understood."""
    words = " ".join(transcript.split())
    return words if len(words) <= SHOWN else f"{words[:SHOWN].rsplit(' ', 1)[0]} …"
