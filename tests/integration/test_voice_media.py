"""Voice notes on the wire: fetched from Twilio only, with credentials for Twilio only, within time and size."""

import json
import socket
from collections.abc import Iterator
from pathlib import Path
from threading import Event, Thread
from typing import Any

import pytest
from tests.failing_twilio import FailingTwilio

from clara.answering.ports import Recording, RecordingTooLongError, RecordingUnavailableError
from clara.channels.twilio.forms import incoming_of
from clara.channels.twilio.media import TwilioMedia

KNOWN: dict[str, Any] = json.loads((Path(__file__).parents[1] / "data" / "hostile_media_addresses.json").read_text("utf-8"))
ACCOUNT = KNOWN["account"]
NAME = KNOWN["genuine"].split("/Messages/")[1]
VOICE = b"OggS" + bytes(range(256)) * 40


@pytest.fixture
def twilio() -> Iterator[FailingTwilio]:
    state = FailingTwilio(ACCOUNT, "token")
    state.media.held[NAME] = ("audio/ogg; codecs=opus", VOICE)
    yield state.serve()
    state.close()


@pytest.fixture
def media(twilio: FailingTwilio) -> Iterator[TwilioMedia]:
    made = TwilioMedia(ACCOUNT, "token", twilio.url, max_bytes=50_000)
    yield made
    made.close()


def form(address: str, kind: str = "audio/ogg") -> dict[str, str]:
    return {
        "MessageSid": "MM1",
        "From": "whatsapp:+1",
        "AccountSid": ACCOUNT,
        "NumMedia": "1",
        "MediaUrl0": address,
        "MediaContentType0": kind,
    }


def test_a_voice_note_is_fetched(twilio: FailingTwilio, media: TwilioMedia) -> None:
    """What the webhook kept of the address is enough; the credentials do not go along to the store."""
    incoming = incoming_of(form(KNOWN["genuine"]))
    assert incoming is not None
    assert incoming.recordings == (NAME,)
    assert media.fetch(incoming.recordings[0], 5.0) == Recording(VOICE, "audio/ogg")
    assert [(path.split("/")[1], authorised) for path, authorised in twilio.media.asked] == [
        ("2010-04-01", True),
        ("store", False),
    ]


@pytest.mark.parametrize("address", KNOWN["hostile"])
def test_no_other_address_is_kept(address: str) -> None:
    """Another host, account, scheme, path or spelling is no voice note of ours."""
    incoming = incoming_of(form(address))
    assert incoming is not None
    assert incoming.recordings == ()


def test_a_picture_is_not_kept() -> None:
    """Only what is spoken is fetched."""
    incoming = incoming_of(form(KNOWN["genuine"], "image/jpeg"))
    assert incoming is not None
    assert incoming.recordings == ()


@pytest.mark.parametrize("name", ["", "x", f"../{NAME}", f"{NAME}?x", f"{NAME}\n", KNOWN["genuine"], NAME.replace("ME", "RE")])
def test_what_is_not_named_as_media_is_not_asked_for(twilio: FailingTwilio, media: TwilioMedia, name: str) -> None:
    """A name that came another way is refused before any request."""
    with pytest.raises(RecordingUnavailableError):
        media.fetch(name, 5.0)
    assert twilio.media.asked == []


@pytest.mark.parametrize("location", KNOWN["hostile_locations"])
def test_a_redirect_leads_nowhere_else(twilio: FailingTwilio, media: TwilioMedia, location: str) -> None:
    """Twilio's stores are followed to, and nothing else."""
    twilio.media.location = lambda _name: location or "\t"
    with pytest.raises(RecordingUnavailableError, match="leads"):
        media.fetch(NAME, 5.0)
    assert len(twilio.media.asked) == 1


def test_a_redirect_that_does_not_end_is_left(twilio: FailingTwilio, media: TwilioMedia) -> None:
    """Two steps are followed; in a circle one ends there."""
    twilio.media.location = lambda name: f"/2010-04-01/Accounts/{ACCOUNT}/Messages/{name}"
    with pytest.raises(RecordingUnavailableError, match="answered 40"):
        media.fetch(NAME, 5.0)
    assert [authorised for _, authorised in twilio.media.asked] == [True]


def test_what_is_too_large_is_left(twilio: FailingTwilio, media: TwilioMedia) -> None:
    """No more than the cap is read."""
    twilio.media.held[NAME] = ("audio/ogg", bytes(60_000))
    with pytest.raises(RecordingTooLongError):
        media.fetch(NAME, 5.0)


def test_what_is_no_recording_is_left(twilio: FailingTwilio, media: TwilioMedia) -> None:
    """The kind that counts is the store's, whatever the form said."""
    twilio.media.held[NAME] = ("text/html", b"<html>")
    with pytest.raises(RecordingUnavailableError, match="no recording"):
        media.fetch(NAME, 5.0)


def test_what_is_gone_is_named(media: TwilioMedia) -> None:
    """Twilio's 404 is said, without the address."""
    with pytest.raises(RecordingUnavailableError, match=r"^answered 404$"):
        media.fetch(NAME.replace("b", "c"), 5.0)


def test_a_drip_ends_in_time() -> None:
    """A byte now and then does not hold the worker longer than the time given."""
    over = Event()
    listener = socket.create_server(("127.0.0.1", 0))

    def drip() -> None:
        connection, _ = listener.accept()
        connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Type: audio/ogg\r\nContent-Length: 1000\r\n\r\n")
        while not over.wait(0.05):
            try:
                connection.sendall(b"x")
            except OSError:
                break
        connection.close()

    thread = Thread(target=drip)
    thread.start()
    media = TwilioMedia(ACCOUNT, "token", f"http://127.0.0.1:{listener.getsockname()[1]}")
    with pytest.raises(RecordingUnavailableError, match="deadline"):
        media.fetch(NAME, 0.4)
    over.set()
    thread.join()
    listener.close()
    media.close()
