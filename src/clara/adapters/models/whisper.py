"""Writing down voice notes with faster-whisper and a model folder of the operator's: nothing leaves this machine."""

from collections.abc import Callable
from io import BytesIO
from pathlib import Path
from threading import Lock
from time import perf_counter
from typing import Final

import numpy as np
from av.error import FFmpegError
from faster_whisper import WhisperModel
from faster_whisper.audio import decode_audio

from clara.adapters.models.registry import ModelParts
from clara.answering.ports import ModelUnavailableError

SAMPLES_PER_SECOND: Final = 16_000
# Longer ones are asked for again shorter: a small model takes about a tenth of a recording's length on half a core.
LONGEST_SECONDS: Final = 180.0
# What is raised for bytes that are no recording, and for a folder that is no model.
UNREADABLE: Final = (FFmpegError, OSError, ValueError)


class WhisperTranscriber:
    """Implements the conversation's Transcriber; one recording at a time, because each takes every processor."""

    def __init__(self, folder: Path, clock: Callable[[], float] = perf_counter) -> None:
        """Load the model. Raises ModelUnavailableError when the folder holds none."""
        try:
            self._model = WhisperModel(str(folder), device="cpu", compute_type="int8", local_files_only=True)
        except (RuntimeError, *UNREADABLE) as error:
            msg = "CLARA_WHISPER_MODEL names a folder without a Whisper model of CTranslate2 (model.bin, tokenizer.json)"
            raise ModelUnavailableError(msg) from error
        self._clock = clock
        self._free = Lock()

    def transcribe(self, audio: bytes, media_type: str, seconds: float) -> str:
        """Give the words, empty when nobody speaks. Raises ModelUnavailableError.

        The time is looked at between stretches of half a minute of speech: the last one may pass it.
        """
        del media_type  # libav looks for itself
        until = self._clock() + seconds
        if not self._free.acquire(timeout=max(seconds, 0.0)):
            raise ModelUnavailableError("is busy with another recording")
        try:
            return self._words(_decoded(audio), until)
        finally:
            self._free.release()

    def _words(self, samples: np.ndarray, until: float) -> str:
        stretches, _ = self._model.transcribe(samples, beam_size=1, vad_filter=True, condition_on_previous_text=False)
        words = []
        for stretch in stretches:
            if self._clock() > until:
                raise ModelUnavailableError("did not answer within the deadline")
            words.append(stretch.text.strip())
        return " ".join(words)


def _decoded(audio: bytes) -> np.ndarray:
    try:
        samples: np.ndarray = decode_audio(BytesIO(audio), sampling_rate=SAMPLES_PER_SECOND)
    except UNREADABLE as error:
        raise ModelUnavailableError("the recording cannot be read") from error
    if len(samples) > LONGEST_SECONDS * SAMPLES_PER_SECOND:
        raise ModelUnavailableError("the recording is too long")
    return samples


def build(parts: ModelParts) -> WhisperTranscriber:
    """Build what writes down voice notes on this machine. Raises ModelUnavailableError."""
    if parts.settings.clara_whisper_model is None:
        raise ModelUnavailableError("CLARA_WHISPER_MODEL is not set")
    return WhisperTranscriber(parts.settings.clara_whisper_model)
