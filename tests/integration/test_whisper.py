"""The transcriber of this machine, with a real model of random weights: what it says is noise, how it behaves is not.

Needs the extra `voice`: pip install clara-tramites[voice].
"""

import io
import wave
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("faster_whisper", reason="the extra `voice` is not installed")

import tiny_whisper

from clara.adapters.models.whisper import LONGEST_SECONDS, WhisperTranscriber
from clara.answering.ports import ModelUnavailableError

RATE = 16_000


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny_whisper.make(tmp_path_factory.mktemp("whisper") / "model")


def recorded(seconds: float, level: int = 8_000) -> bytes:
    """Make a recording of a swelling tone."""
    times = np.arange(int(RATE * seconds)) / RATE
    tone = np.sin(2 * np.pi * 180 * times) * np.abs(np.sin(2 * np.pi * 3 * times)) * level
    file = io.BytesIO()
    with wave.open(file, "wb") as recording:
        recording.setnchannels(1)
        recording.setsampwidth(2)
        recording.setframerate(RATE)
        recording.writeframes(tone.astype("<i2").tobytes())
    return file.getvalue()


def test_silence_gives_no_words(folder: Path) -> None:
    """Nobody speaks, so nothing is made up."""
    assert WhisperTranscriber(folder).transcribe(recorded(2, level=0), "audio/ogg", 60.0) == ""


def test_a_recording_gives_text(folder: Path) -> None:
    """The whole way runs: decoding, the model, the words."""
    assert isinstance(WhisperTranscriber(folder).transcribe(recorded(3), "audio/ogg", 60.0), str)


@pytest.mark.parametrize("audio", [b"", b"OggS", b"<html>", bytes(5_000)])
def test_what_is_no_recording_is_named(folder: Path, audio: bytes) -> None:
    """Bytes that cannot be decoded are the recording's fault, said without them."""
    with pytest.raises(ModelUnavailableError, match="cannot be read"):
        WhisperTranscriber(folder).transcribe(audio, "audio/ogg", 60.0)


def test_a_long_recording_is_refused(folder: Path) -> None:
    """Three minutes are listened to, not more."""
    with pytest.raises(ModelUnavailableError, match="too long"):
        WhisperTranscriber(folder).transcribe(recorded(LONGEST_SECONDS + 1), "audio/ogg", 60.0)


def test_no_model_is_named(tmp_path: Path) -> None:
    """A folder without a model says which setting is wrong."""
    with pytest.raises(ModelUnavailableError, match="CLARA_WHISPER_MODEL"):
        WhisperTranscriber(tmp_path)
