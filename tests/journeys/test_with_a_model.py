"""Signed webhook in, sent reply out, with a model behind it that speaks the provider's wire format, or fails."""

from collections.abc import Callable, Iterator

import pytest
from tests.failing_twilio import FailingTwilio
from tests.journeys.talking import ACCOUNT, Clara

from clara_lab.stand_ins.gemini_server import tell
from clara_lab.stand_ins.model_server import ModelStandIn
from clara_lab.stand_ins.speech import embedding_faults, faults_of

NAME = f"MM{'a' * 32}/Media/ME{'b' * 32}"
VOICE = {
    "AccountSid": ACCOUNT,
    "NumMedia": "1",
    "MediaContentType0": "audio/ogg",
    "MediaUrl0": f"https://api.twilio.com/2010-04-01/Accounts/{ACCOUNT}/Messages/{NAME}",
}
Start = Callable[..., Clara]


@pytest.fixture
def model() -> Iterator[ModelStandIn]:
    made = ModelStandIn("a-key", tell).serve()
    yield made
    made.close()


@pytest.fixture
def settings(model: ModelStandIn) -> dict[str, object]:
    return {"gemini_api_key": "a-key", "gemini_base_url": model.url, "rag_writer": "gemini", "rag_transcriber": "gemini"}


def test_a_voice_note_is_heard_and_answered(start: Start, twilio: FailingTwilio, settings: dict[str, object]) -> None:
    """What was understood is shown, and answered as if it had been written."""
    twilio.media.held[NAME] = ("audio/ogg", "¿Cuánto cuesta el NIE?".encode())
    sent = start(**settings).say(None, "SM1", **VOICE)
    assert "«¿Cuánto cuesta el NIE?»" in sent.body
    assert "NIE (número de identidad de extranjero)" in sent.body
    assert "[C1]" in sent.body


def test_a_voice_note_that_is_gone_is_answered_kindly(start: Start, settings: dict[str, object]) -> None:
    """Twilio does not have it any more: the person is asked to write."""
    assert "No he podido entender tu nota de voz" in start(**settings).say(None, "SM1", **VOICE).body


def test_a_voice_note_without_a_transcriber(start: Start, twilio: FailingTwilio) -> None:
    """It is not even fetched."""
    twilio.media.held[NAME] = ("audio/ogg", b"OggS")
    assert "Todavía no puedo escuchar notas de voz" in start().say(None, "SM1", **VOICE).body
    assert twilio.media.asked == []


def test_the_model_writes_from_the_evidence(start: Start, settings: dict[str, object], model: ModelStandIn) -> None:
    """A reply that proves itself is sent as the model wrote it, with the sources that Clara adds."""
    clara = start(**settings)
    sent = clara.say("¿Cuánto cuesta el NIE?", "SM1")
    assert "[C1]" in sent.body
    assert "comprobado el" in sent.body
    assert any("generateContent" in request.path for request in model.requests)


@pytest.mark.parametrize("fault", ["error-503", "hang", "blocked", "garbage", "reset", "quota-day"])
def test_whatever_the_model_does_the_person_is_answered(
    start: Start, settings: dict[str, object], model: ModelStandIn, fault: str
) -> None:
    """The extractive writer answers in its place, and in time."""
    model.standing = {**faults_of("gemini"), **embedding_faults(1)}[fault]
    sent = start(**settings).say("¿Cuánto cuesta el NIE?", "SM1")
    assert "[C1]" in sent.body
    assert "comprobado el" in sent.body
