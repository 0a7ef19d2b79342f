"""Tests of reading a message from Twilio's form."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clara.channels.twilio.forms import MAX_MEDIA, incoming_of
from clara.delivery.message import Incoming

FORM = {"MessageSid": "SM1", "From": "whatsapp:+15555550101", "To": "whatsapp:+15555550100", "Body": "hola", "NumMedia": "0"}


def test_text() -> None:
    """A text message is read with its id, both addresses and its text."""
    expected = Incoming("SM1", "whatsapp", "whatsapp:+15555550101", "whatsapp:+15555550100", "hola")
    assert incoming_of({**FORM, "ProfileName": "Ana", "WaId": "15555550101"}) == expected


@pytest.mark.parametrize("name", ["MessageSid", "From"])
@pytest.mark.parametrize("blank", [False, True], ids=["missing", "blank"])
def test_no_message(name: str, blank: bool) -> None:
    """A form without the message's id or its sender is no message."""
    form = {**FORM, name: ""} if blank else {field: value for field, value in FORM.items() if field != name}
    assert incoming_of(form) is None


@pytest.mark.parametrize(
    ("changes", "text", "media"),
    [
        pytest.param({"Body": ""}, "", (), id="blank-text"),
        pytest.param({"Body": "", "NumMedia": "1", "MediaContentType0": "image/jpeg"}, "", ("image/jpeg",), id="picture"),
        pytest.param(
            {"NumMedia": "2", "MediaContentType0": "image/jpeg", "MediaContentType1": "application/pdf"},
            "hola",
            ("image/jpeg", "application/pdf"),
            id="two-with-text",
        ),
        pytest.param({"NumMedia": "1"}, "hola", ("unknown",), id="kind-not-told"),
        pytest.param({"Body": "", "Latitude": "25.01", "Longitude": "-77.39"}, "", ("location/coordinates",), id="location"),
        pytest.param({"NumMedia": ""}, "hola", (), id="blank-count"),
        pytest.param({"NumMedia": "-1"}, "hola", (), id="negative-count"),
        pytest.param({"NumMedia": "many"}, "hola", (), id="count-in-words"),
        pytest.param({"NumMedia": "²"}, "hola", (), id="superscript-count"),
        pytest.param({"NumMedia": "٣"}, "hola", (), id="arabic-count"),
        pytest.param({"NumMedia": "999999"}, "hola", ("unknown",) * MAX_MEDIA, id="absurd-count"),
        pytest.param({"NumMedia": "9" * 5_000}, "hola", ("unknown",) * MAX_MEDIA, id="count-of-5000-digits"),
        pytest.param({"NumMedia": str(MAX_MEDIA)}, "hola", ("unknown",) * MAX_MEDIA, id="as-many-as-there-can-be"),
        pytest.param({"NumMedia": str(MAX_MEDIA + 1)}, "hola", ("unknown",) * MAX_MEDIA, id="one-too-many"),
        pytest.param({"NumMedia": "1_0"}, "hola", (), id="underscore-in-count"),
        pytest.param({"NumMedia": " 1"}, "hola", (), id="blank-before-count"),
        pytest.param({"NumMedia": "1.0"}, "hola", (), id="fraction"),
        pytest.param({"NumMedia": "\ud800"}, "hola", (), id="lone-surrogate"),
    ],
)
def test_media(changes: dict[str, str], text: str, media: tuple[str, ...]) -> None:
    """The kinds of what is attached are read, as many as there can be."""
    incoming = incoming_of({**FORM, **changes})
    assert (incoming.text, incoming.media_types) == (text, media)


def test_voice_note() -> None:
    """A voice note has no text at all, which is not the same as a blank text."""
    form = {"MessageSid": "SM1", "From": "whatsapp:+1", "NumMedia": "1", "MediaContentType0": "audio/ogg"}
    assert incoming_of(form) == Incoming("SM1", "whatsapp", "whatsapp:+1", "", None, ("audio/ogg",))


@given(st.text(st.characters(exclude_categories=[])) | st.text("0123456789", min_size=1) | st.integers().map(str))
def test_any_count(count: str) -> None:
    """Whatever stands for the number of media, the message is read with a bearable number of them."""
    incoming = incoming_of({**FORM, "NumMedia": count})
    assert len(incoming.media_types) <= MAX_MEDIA
    assert set(incoming.media_types) <= {"unknown"}


@given(
    st.dictionaries(
        st.sampled_from([*FORM, "Latitude", "MediaContentType0", "MediaContentType1"]), st.text(max_size=50), max_size=9
    )
)
def test_anything(form: dict[str, str]) -> None:
    """Any form is read or refused, never an error."""
    incoming = incoming_of(form)
    assert (incoming is not None) is bool(form.get("MessageSid") and form.get("From"))
    if incoming:
        assert (incoming.sid, incoming.sender, incoming.text) == (form["MessageSid"], form["From"], form.get("Body"))
        assert len(incoming.media_types) <= MAX_MEDIA + 1
