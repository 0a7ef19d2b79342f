"""Tests of telling genuine webhooks from forged ones, on published examples of signed requests."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clara.channels.twilio.signature import TwilioSignature

VECTORS = json.loads((Path(__file__).parents[3] / "data" / "twilio_signature_vectors.json").read_text("utf-8"))
FORMS = [vector for vector in VECTORS if "body" not in vector]  # Clara is sent forms only

Vector = dict[str, Any]


def genuine(vector: Vector, **changes: Any) -> bool:
    """Check a request, with some of its parts changed."""
    request = {**vector, **changes}
    check = TwilioSignature(request["token"])
    return check.genuine_form(request["url"], [(name, value) for name, value in request["params"]], request["signature"])


def each(vectors: list[Vector]) -> list[Any]:
    """Make cases of requests."""
    return [pytest.param(vector, id=vector["name"]) for vector in vectors]


def test_six_examples() -> None:
    """There are six published examples of forms."""
    assert len(FORMS) == 6


@pytest.mark.parametrize("vector", each(FORMS))
def test_genuine(vector: Vector) -> None:
    """A signed request is accepted."""
    assert genuine(vector)


@pytest.mark.parametrize("vector", each(FORMS))
def test_order_of_fields(vector: Vector) -> None:
    """The order of the fields makes no difference."""
    assert genuine(vector, params=vector["params"][::-1])


@pytest.mark.parametrize("vector", each(FORMS))
def test_changed_field(vector: Vector) -> None:
    """A change of any one field's value or name is noticed, and so is a field that is missing or added."""
    fields = vector["params"]
    for place, (name, value) in enumerate(fields):
        others = [*fields[:place], *fields[place + 1 :]]
        assert not genuine(vector, params=[*others, [name, f"{value}0"]]), name
        assert not genuine(vector, params=[*others, [f"X{name}", value]]), name
        if fields.count([name, value]) == 1:
            assert not genuine(vector, params=others), name
    assert not genuine(vector, params=[*fields, ["Extra", "1"]])
    assert not genuine(vector, params=[])


@pytest.mark.parametrize("vector", each(FORMS))
@pytest.mark.parametrize(
    "change",
    [
        pytest.param(lambda url: url.replace("mycompany", "yourcompany"), id="host"),
        pytest.param(lambda url: url.replace("/myapp", "/otherapp"), id="path"),
        pytest.param(lambda url: f"{url}{'&' if '?' in url else '?'}x=1", id="query"),
        pytest.param(lambda url: url.replace("http", "ftp", 1), id="scheme"),
    ],
)
def test_changed_url(vector: Vector, change: Callable[[str], str]) -> None:
    """A change of the address is noticed."""
    assert not genuine(vector, url=change(vector["url"]))


@pytest.mark.parametrize("vector", each(FORMS))
def test_changed_signature(vector: Vector) -> None:
    """A change of any one character of the signature is noticed, and so is one that is shorter, longer or blank."""
    signature = vector["signature"]
    for place, character in enumerate(signature):
        forged = f"{signature[:place]}{'A' if character != 'A' else 'B'}{signature[place + 1 :]}"
        assert not genuine(vector, signature=forged), place
    for forged in ("", signature[:-1], f"{signature}A", signature.lower(), "é" * len(signature), "\x00" * len(signature)):
        assert not genuine(vector, signature=forged)


@pytest.mark.parametrize("vector", each(FORMS))
@pytest.mark.parametrize("token", ["12346", "1234", " 12345", "x"])
def test_other_token(vector: Vector, token: str) -> None:
    """A request signed for another account is noticed."""
    assert not genuine(vector, token=token)


def test_signatures_are_not_exchangeable() -> None:
    """The signature of one request fits no other, unless the two differ in a standard port alone."""
    for vector in VECTORS:
        others = {
            other["signature"] for other in VECTORS if other["url"].replace(":443", "") != vector["url"].replace(":443", "")
        }
        assert not any(genuine(vector, signature=other) for other in others)


@pytest.mark.parametrize("port", [":443", ""])
def test_standard_port(port: str) -> None:
    """It makes no difference whether the standard port is written in the address."""
    (vector,) = [vector for vector in VECTORS if vector["name"] == "https_url_signed_with_port_443"]
    assert genuine(vector, url=f"https://mycompany.com{port}/myapp.php?foo=1&bar=2")


@pytest.mark.parametrize("field", [("Body", "\ud800"), ("\udfff", "x"), ("Body", "\x00"), ("Body", "x")])
def test_hostile_field(field: tuple[str, str]) -> None:
    """A field that cannot have been signed is a forgery, not an error."""
    assert not genuine(FORMS[0], params=[*FORMS[0]["params"], field])


@given(
    st.lists(st.tuples(st.text(st.characters(exclude_categories=[])), st.text(st.characters(exclude_categories=[])))),
    st.text(),
)
def test_anything_is_a_forgery(fields: list[tuple[str, str]], signature: str) -> None:
    """Any other form with any other signature is refused without an error, lone surrogates included."""
    assert not TwilioSignature("12345").genuine_form("https://clara.example.org/webhook", fields, signature)
