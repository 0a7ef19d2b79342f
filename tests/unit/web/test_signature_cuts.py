"""Twilio signs names and values run together: what can be done by cutting the same characters otherwise, and what not."""

from collections.abc import Callable, Iterator

import pytest
from hypothesis import given
from tests.unit.web.signed_forms import (
    MANY,
    MESSAGE,
    PUBLIC_URL,
    SID,
    STATUS,
    Fields,
    Listener,
    Sent,
    genuine_requests,
    signature,
    signed,
)

from clara.adapters.twilio.signature import cut_in_one_way

URL = f"{PUBLIC_URL}/webhook"
STATUS_URL = f"{PUBLIC_URL}/webhook/status?reply=12"
REPORT: Fields = (*STATUS, ("MessageStatus", "delivered"))
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
def test_moved_cuts_cannot_name_another_message(sent: Sent) -> None:
    """What still fits the signature names the signed message or none, so that nothing new is stored."""
    for moved in moved_cuts(sent):
        if moved.accepted():
            assert {value for name, value in moved.fields if name == "MessageSid"} <= {SID}, moved


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
    assert not cut_in_one_way((*MESSAGE, ("MessageSid", FAKE)))
