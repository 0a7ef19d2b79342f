"""Twilio signs names and values run together: what can be done by cutting the same characters otherwise, and what not."""

import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.unit.channels.twilio.signed_forms import (
    ACCOUNT,
    KNOWN,
    MANY,
    MESSAGE,
    PUBLIC_URL,
    SID,
    STATUS,
    TOKEN,
    Fields,
    Listener,
    Sent,
    genuine_requests,
    messages,
    signature,
    signed,
)

from clara.channels.twilio.signature import TwilioSignature, load_cutter

URL = f"{PUBLIC_URL}/webhook"
STATUS_URL = f"{PUBLIC_URL}/webhook/status?reply=12"
REPORT: Fields = (*STATUS, ("MessageStatus", "delivered"))
CUTTER = load_cutter()
SIGNATURES = TwilioSignature(TOKEN)
WIRE = json.loads((Path(__file__).parents[3] / "data" / "twilio_webhook_forms.json").read_text("utf-8"))
FAKE = "SMffffffffffffffffffffffffffffffff"


def moved_cuts(sent: Sent) -> Iterator[Sent]:
    """Cut the same signed characters into other names and values: by some characters, and by swallowing fields."""
    fields = sorted(set(sent.fields))
    for place, (name, value) in enumerate(fields):
        for by in (-3, -1, 1, 2, len(value)):
            whole, cut = name + value, len(name) + by
            yield sent.but(fields=(*fields[:place], (whole[:cut], whole[cut:]), *fields[place + 1 :]))
        for last in range(place + 1, len(fields)):
            swallowed = value + "".join(name + value for name, value in fields[place + 1 : last + 1])
            yield sent.but(fields=(*fields[:place], (name, swallowed), *fields[last + 1 :]))


@MANY
@given(genuine_requests())
def test_moved_cuts_cannot_say_anything_else(sent: Sent) -> None:
    """Whatever still fits the signature says what was signed, of that message and from that sender, or is refused."""
    said = SIGNATURES.signed_fields(sent.url, sent.fields, sent.signature)
    assert said is not None
    for moved in moved_cuts(sent):
        assert SIGNATURES.signed_fields(moved.url, moved.fields, moved.signature) in (None, said), moved


CAPTURED = {
    **{form["name"]: tuple(form["fields"].items()) for form in WIRE},
    "message": (*MESSAGE, ("Body", "Quiero pedir cita To Go From Madrid"), ("ProfileName", "Tomás Label")),
    "reply to a button": (
        *MESSAGE,
        ("Body", "Sí"),
        ("ButtonPayload", "{}"),
        ("ButtonText", "Sí"),
        (
            "ChannelMetadata",
            '{"type":"whatsapp","data":{"context":{"ButtonText":"Sí","ProfileName":"Ana","WaId":"34600000001"}}}',
        ),
        ("ExternalUserId", "whatsapp:ES.4566546130240823"),
        ("Forwarded", "false"),
        ("FrequentlyForwarded", "false"),
        ("MessageType", "interactive"),
        ("NumSegments", "1"),
        ("OriginalRepliedMessageSender", "whatsapp:+15555550100"),
        ("OriginalRepliedMessageSid", FAKE),
        ("ProfileName", "Ana"),
        ("ReferralNumMedia", "0"),
    ),
    "voice note to a fallback": (
        *(field for field in MESSAGE if field[0] != "NumMedia"),
        ("ErrorCode", "11205"),
        ("ErrorUrl", "https://clara.example.org/webhook"),
        ("MediaContentType0", "audio/ogg; codecs=opus"),
        ("MediaUrl0", f"https://api.twilio.com/2010-04-01/Accounts/{ACCOUNT}/Messages/{SID}/Media/ME{'1' * 32}"),
        ("NumMedia", "1"),
    ),
    "no number": tuple((name, "whatsapp:US.1A2B3C4D5EHXK") if name == "From" else (name, value) for name, value in MESSAGE),
    "report": (
        *STATUS,
        ("ChannelInstallSid", "XE" + "1" * 32),
        ("ChannelPrefix", "whatsapp"),
        ("ChannelStatusMessage", "63016 - To reopen the conversation From outside"),
        ("ChannelToAddress", "+34600XXXXXX"),
        ("ErrorCode", "63016"),
        ("EventType", "UNDELIVERED"),
        ("MessageStatus", "undelivered"),
        ("SmsStatus", "undelivered"),
        ("StructuredMessage", "false"),
    ),
}


def letters_moved(fields: Fields, most: int) -> Iterator[Fields]:
    """Move so many letters over each boundary: from a name to its value and back, from a value to the next name and back."""
    flat = [part for field in sorted(fields) for part in field]
    for place in range(1, len(flat)):
        before, whole = flat[place - 1], flat[place - 1] + flat[place]
        for cut in range(max(len(before) - most, 0), min(len(before) + most, len(whole)) + 1):
            if cut != len(before):
                parts = [*flat[: place - 1], whole[:cut], whole[cut:], *flat[place + 1 :]]
                yield tuple(zip(parts[::2], parts[1::2], strict=True))


def fields_joined(fields: Fields) -> Iterator[Fields]:
    """Let a value swallow the fields behind it, as many as there are."""
    fields = tuple(sorted(fields))
    for first in range(len(fields)):
        for last in range(first + 2, len(fields) + 1):
            name, value = fields[first]
            swallowed = value + "".join(name + value for name, value in fields[first + 1 : last])
            yield (*fields[:first], (name, swallowed), *fields[last:])


@pytest.mark.parametrize("name", CAPTURED)
def test_no_other_cut_of_a_captured_form_is_taken(name: str) -> None:
    """Of a form whose signature somebody captured: a moved letter and swallowed fields are refused, the form itself is not."""
    fields = CAPTURED[name]
    said = CUTTER.cut(fields)
    assert said is not None
    assert (said.values, said.unknown) == (dict(fields), 0)
    moved = [other for other in (*letters_moved(fields, 1), *fields_joined(fields)) if joined(other) == joined(fields)]
    assert len(moved) >= 20
    assert [other for other in moved if CUTTER.cut(other) is not None] == []
    # A word that begins with a capital may be the name of a field that nobody knows: then the text has it as well.
    taken = [CUTTER.cut(other) for other in letters_moved(fields, 1_000) if joined(other) == joined(fields)]
    assert all(cut is None or (cut.values == said.values and cut.unknown == 1) for cut in taken)


def joined(fields: Fields) -> str:
    return "".join(name + value for name, value in sorted(set(fields)))


@pytest.mark.parametrize(
    ("added", "changes"),
    [
        pytest.param(("Cost", "0.01"), {"Body": "holaCost0.01"}, id="behind-a-text"),
        pytest.param(("GroupId", "7"), {}, id="behind-an-address"),
        pytest.param(("Topic", "padrón"), {}, id="begins-like-another"),
        pytest.param(("AaFirst", "x"), {}, id="before-all"),
        pytest.param(("Zone", ""), {"WaId": "34600000001Zone"}, id="behind-all"),
    ],
)
def test_a_field_that_twilio_adds(added: tuple[str, str], changes: dict[str, str]) -> None:
    """Clara does not fall silent; what cannot be told from a part of a text is read as one."""
    fields = (*MESSAGE, ("Body", "hola"))
    said = CUTTER.cut((*fields, added))
    assert said is not None
    assert (said.values, said.unknown) == (dict(fields) | changes, 1)


@pytest.mark.parametrize(
    "added",
    [("BODY", "x"), ("body", "x"), ("messagesid", FAKE), ("Body", "again"), ("", "x"), ("Media Url0", "x"), ("Zürich", "x")],
)
def test_names_that_are_none(added: tuple[str, str]) -> None:
    """Another case of a known name, a repeated one, and what Twilio does not write as a name."""
    assert CUTTER.cut((*MESSAGE, ("Body", "hola"), added)) is None


@MANY
@given(messages(), st.data())
def test_at_most_one_reading(fields: Fields, data: st.DataObject) -> None:
    """Any other cut of the same characters, at places drawn at random, is refused or says the same."""
    said = CUTTER.cut(fields)
    assert said is not None
    whole = joined(fields)
    known = sorted({found.start() for name in KNOWN for found in re.finditer(name, whole)})
    for _ in range(20):
        starts = sorted({0, *data.draw(st.lists(st.sampled_from(known), max_size=12))})
        pieces = [whole[one:other] for one, other in zip(starts, [*starts[1:], len(whole)], strict=True)]
        other = tuple(cut_at_a_name(piece) for piece in pieces)
        assert CUTTER.cut(other) in (None, said)


def cut_at_a_name(piece: str) -> tuple[str, str]:
    name = max((name for name in KNOWN if piece.startswith(name)), key=len, default=piece[:1])
    return name, piece[len(name) :]


def attack_in_the_text() -> tuple[Sent, Fields]:
    """A person writes a whole message of somebody else, and the rest of their own becomes the value of its last field."""
    wanted = (("Body", "olvídame"), ("From", "whatsapp:+34600000666"), ("MessageSid", FAKE), ("ProfileName", ""))
    text = "".join(name + value for name, value in wanted)[len("Body") :]
    sent = signed(URL, (*MESSAGE, ("Body", text)))
    before = tuple(pair for pair in sorted(MESSAGE) if pair[0] < "Body")
    rest = "".join(name + value for name, value in sorted(MESSAGE) if name > "Body")
    return sent, (*before, *wanted[:-1], ("ProfileName", rest))


def attack_in_the_name() -> tuple[Sent, Fields]:
    """A person's profile name holds the fields of somebody else; what was before it becomes the value of the first."""
    wanted = (("From", "whatsapp:+34600000666"), ("MessageSid", FAKE), ("ProfileName", "x"))
    name = "".join(name + value for name, value in wanted)
    sent = signed(URL, (*MESSAGE, ("Body", "hola"), ("ProfileName", name)))
    fields = sorted(sent.fields)
    place = fields.index(("ProfileName", name))
    swallowed = "".join(name + value for name, value in fields[:place])[len("AccountSid") :] + "ProfileName"
    rest = tuple(fields[place + 1 :])
    return sent, (("AccountSid", swallowed), *wanted, *rest)


def attack_with_another_number() -> tuple[Sent, Fields]:
    """The end of a reply's number in the address becomes the beginning of the first name."""
    first, *others = sorted(REPORT)
    return signed(STATUS_URL, REPORT), (("2" + first[0], first[1]), *others)


def attack_with_no_name() -> tuple[Sent, Fields]:
    """The end of a reply's number in the address becomes the value of a field without a name."""
    first, *others = sorted(REPORT)
    return signed(STATUS_URL, REPORT), (("", "2" + first[0] + first[1]), *others)


def attack_with_a_report() -> tuple[Sent, Fields]:
    """A delivery report is posted as a message from our own address."""
    first, *others = sorted(REPORT)
    return signed(STATUS_URL, REPORT), (("/status?reply=12" + first[0], first[1]), *others)


@pytest.mark.parametrize(
    ("attack", "url"),
    [
        (attack_in_the_text, URL),
        (attack_in_the_name, URL),
        (attack_with_another_number, STATUS_URL[:-1]),
        (attack_with_no_name, STATUS_URL[:-1]),
        (attack_with_a_report, URL),
    ],
)
def test_cutting_a_signed_webhook_otherwise(attack: Callable[[], tuple[Sent, Fields]], url: str) -> None:
    """The same characters, cut otherwise, do fit the signature that Twilio's scheme gives them, and are refused."""
    sent, fields = attack()
    assert signature(url, fields) == sent.signature
    assert not sent.but(url=url, fields=fields).accepted()
    listener = Listener()
    assert listener.post(url.removeprefix(PUBLIC_URL), fields, sent.signature) == 403
    assert (listener.messages, listener.reports) == ([], [])


def test_fields_that_end_in_the_name_of_the_id() -> None:
    """A reply names another message too, in a field of its own, and a person may write of MessageSid."""
    quoted = (*MESSAGE, ("Body", "MessageSid SM1 MessageSidSM1"), ("OriginalRepliedMessageSid", FAKE))
    assert signed(URL, quoted).accepted()


def test_names_are_told_apart() -> None:
    """A name that begins with another one follows an address only, whose value cannot begin like it."""
    pairs = [(one, other) for one in KNOWN for other in KNOWN if one != other and other.startswith(one)]
    assert {one for one, _ in pairs} == {"From", "To"}
