"""Forged, altered and moved webhooks do nothing; every genuine one is taken, whatever proxy is in front."""

import base64
import json
import unicodedata
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from string import ascii_letters, digits
from urllib.parse import quote, quote_plus, urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.unit.channels.twilio.signed_forms import (
    MANY,
    MESSAGE,
    PUBLIC_URL,
    SID,
    STATUS,
    TOKEN,
    Fields,
    Listener,
    Sent,
    digest,
    genuine_requests,
    messages,
    signature,
    signed,
    text_of,
)

from clara.channels.twilio.signature import TwilioSignature

BASE64 = f"{ascii_letters}{digits}+/"
URL = f"{PUBLIC_URL}/webhook"
VECTORS = json.loads((Path(__file__).parents[3] / "data" / "twilio_signature_vectors.json").read_text("utf-8"))
FORMS = [vector for vector in VECTORS if "body" not in vector]
Variants = Iterator[tuple[str, Sent]]


def other_signatures(sent: Sent) -> Variants:
    """Every flipped bit, other ways to write the same bits, and signatures of something else."""
    right, text = digest(sent.url, sent.fields), sent.signature
    urlsafe = text.replace("+", "-").replace("/", "_")
    forged = {
        "bit": [base64.b64encode((int.from_bytes(right) ^ (1 << bit)).to_bytes(20)).decode() for bit in range(160)],
        # Among these are three that a lenient decoder reads as the same bits.
        "last character": [f"{text[:26]}{other}=" for other in BASE64 if other != text[26]],
        "truncated": [text[:place] for place in range(len(text))],
        "url-safe": [urlsafe if urlsafe != text else f"{text}-"],
        "junk": [f"{text}=", f"{text}A", f"{text}\n", f" {text}", f"{text} ", f"{text}\x00", f'"{text}"', f"{text},{text}"],
        "case": [text.lower(), text.upper(), text.swapcase()],
        "coding": [right.hex(), right.decode("latin-1"), text.replace("=", "\uff1d"), "\ud800", "A" * 100_000],
        "token": [signature(sent.url, sent.fields, token) for token in ("", "a-toke", "a-token ", "A-token", "b" * 32)],
    }
    for kind, signatures in forged.items():
        for one in signatures:
            yield kind, sent.but(signature=one)


def other_addresses(sent: Sent) -> Variants:
    """Addresses that differ from the signed one in any part but the port: Twilio sometimes signs without it."""
    more = "&" if "?" in sent.url else "?"
    for kind, url in (
        ("scheme", sent.url.replace("https", "http", 1)),
        ("host", sent.url.replace("clara.", "clara2.", 1)),
        ("host", sent.url.replace("clara.example.org", "clara.example.org.", 1)),
        ("host", sent.url.replace("//", "//x@", 1)),
        ("path", sent.url.replace("/webhook", "/webhook/fallback", 1)),
        ("path", sent.url.replace("/webhook", "/webhook/", 1)),
        ("path", sent.url.replace("/webhook", "//webhook", 1)),
        ("path", sent.url.replace("/webhook", "/Webhook", 1)),
        ("path", sent.url.replace("/webhook", "/%77ebhook", 1)),
        ("query", f"{sent.url}{more}reply=1"),
        ("query", f"{sent.url}{more}"),
        ("query", f"{sent.url}#"),
        ("query", f"{sent.url}{more}#"),
        ("query", f"{sent.url}\t"),
        ("query", f"{sent.url[:-1]}\n{sent.url[-1]}"),
        ("query", f"{sent.url[:-1]}\r{sent.url[-1]}"),
        ("query", f"{sent.url}0" if "=" in sent.url else f"{sent.url}?\ud800"),
        ("query", sent.url.partition("?")[0] if "=" in sent.url else f"{sent.url}?reply=12"),
    ):
        yield kind, sent.but(url=url)


def other_fields(sent: Sent) -> Variants:
    """Each field changed, renamed or taken away, values exchanged, and fields added."""
    given_ = sent.fields
    for place, (name, value) in enumerate(given_):
        rest = (*given_[:place], *given_[place + 1 :])
        normal = {unicodedata.normalize(form, value) for form in ("NFC", "NFD", "NFKC")}
        looks = normal | {value.swapcase(), value.strip(), value.replace("+", " ")}
        for changed in (looks - {value}) | {f"{value}0", f"0{value}", f"{value}\x00", f"{value}\ud800", f"{value}\u200b"}:
            yield "changed", sent.but(fields=(*rest, (name, changed)))
        for renamed in (f"X{name}", f"{name}X", name.swapcase(), f"{name}\x00", f" {name}", ""):
            yield "renamed", sent.but(fields=(*rest, (renamed, value)))
        if (name, value) not in rest:
            yield "removed", sent.but(fields=rest)
    names = [name for name, _ in given_]
    moved = [value for _, value in given_]
    turned = tuple(zip(names, [*moved[1:], moved[0]], strict=True))
    if sorted(set(turned)) != sorted(set(given_)):
        yield "exchanged", sent.but(fields=turned)
    for added in (("Body", "more"), ("Extra", ""), ("", "x"), ("\ud800", ""), ("Zz", "x" * 100_000), ("Zz", "\x00")):
        yield "added", sent.but(fields=(*given_, added))
    yield "emptied", sent.but(fields=())


def test_more_than_ten_thousand_forgeries_are_refused() -> None:
    """Of every genuine webhook each variant of signature, address and fields is refused; the genuine one is taken."""
    tried: defaultdict[str, set[int]] = defaultdict(set)

    @MANY
    @given(genuine_requests())
    def refused(sent: Sent) -> None:
        assert sent.accepted()
        for variants in (other_signatures, other_addresses, other_fields):
            for kind, forged in variants(sent):
                tried[kind].add(hash(forged))
                assert not forged.accepted(), (kind, forged)

    refused()
    assert sum(map(len, tried.values())) >= 12_000
    assert len(tried) == 18
    assert min(map(len, tried.values())) >= 25


def test_forgeries_do_nothing_in_the_application() -> None:
    """Posted to the application, forgeries are answered 403, and nothing is stored, whatever headers come with them."""
    listener, tried = Listener(), 0

    @MANY
    @given(messages(), st.randoms(use_true_random=False))
    def refused(fields: Fields, random: object) -> None:
        nonlocal tried
        sent = signed(URL, fields)
        forgeries = [forged.signature for _, forged in other_signatures(sent) if forged.signature.isprintable()]
        for sign in random.sample([sign for sign in forgeries if sign.isascii() and sign == sign.strip()], 10):
            assert listener.post("/webhook", fields, sign) == 403
        for _, forged in random.sample(list(other_fields(sent)), 10):
            assert listener.post("/webhook", forged.fields, sent.signature) == 403
        for path in ("/webhook/status", "/webhook/fallback", "/webhook?reply=1", "/webhook?a\tb", "/webhook?x#y"):
            assert listener.post(path, fields, sent.signature) == 403
        elsewhere = signature("https://evil.example/webhook", fields)
        for headers in ({"Host": "evil.example"}, {"X-Forwarded-Host": "evil.example"}, {"Forwarded": "host=evil.example"}):
            assert listener.post("/webhook", fields, elsewhere, **headers) == 403
        assert listener.post("/webhook", fields, None) == 403
        tried += 29

    refused()
    assert tried >= 25 * 29
    assert (listener.messages, listener.reports) == ([], [])


@pytest.mark.parametrize("right_first", [True, False])
def test_several_signatures(right_first: bool) -> None:
    """Two signature headers are refused, even if one of them is right."""
    listener = Listener()
    both = [("X-Twilio-Signature", sign) for sign in (signature(URL, MESSAGE), "A" * 28)]
    answer = listener.client.post("/webhook", data=dict(MESSAGE), headers=both if right_first else both[::-1])
    assert (answer.status_code, listener.messages) == (403, [])


def test_a_form_of_very_many_fields_is_refused() -> None:
    """The largest form of the shortest names is refused like any other; work that grows with its square would take minutes."""
    listener = Listener()
    form = "&".join(f"a{number:x}" for number in range(40_000))
    assert len(form) > 200_000
    assert listener.post("/webhook", form, "A" * 28) == 403
    assert listener.post("/webhook", "Body=" + "x" * 300_000, "A" * 28) == 413


@pytest.mark.parametrize("vector", FORMS, ids=lambda vector: vector["name"])
def test_published_examples(vector: dict[str, object]) -> None:
    """The signer of these tests signs the published examples as Twilio did, and they are taken."""
    fields = tuple((name, value) for name, value in vector["params"])
    assert signature(vector["url"], fields, vector["token"]) == vector["signature"]
    assert TwilioSignature(vector["token"]).genuine_form(vector["url"], fields, vector["signature"])


LISTENERS = {
    url: Listener(url)
    for url in (
        PUBLIC_URL,
        "http://clara.example.org",
        "https://clara.example.org:8443",
        "https://clara.example.org:443",
        "https://clara.example.org/clara",
        "https://clara.example.org/a/b-c/",
        "https://clara.example.org/webhook",
        "http://127.0.0.1:8000/x",
    )
}
ODD = st.sampled_from(["", "evil.example", "evil.example:1", "clara.example.org:8443", "a b", "[::", "localhost:x", "é"])
ENCODINGS = (quote_plus, lambda text: quote(text, safe=""), lambda text: "".join(f"%{byte:02x}" for byte in text.encode()))
QUERIES = st.sampled_from(["", "?a=1", "?a=1&b=%20+%C3%A9", "?b=2&a=1", "?x=@:/?"])


@MANY
@given(messages(), st.sampled_from(sorted(LISTENERS)), QUERIES, ODD, ODD)
def test_every_genuine_webhook_is_taken(fields: Fields, public: str, query: str, host: str, forwarded: str) -> None:
    """Behind any proxy, at any address, in any coding, with or without the path of the public address."""
    listener = LISTENERS[public]
    told = dict(reversed(fields))
    headers = {"Host": host, "X-Forwarded-Host": forwarded, "X-Forwarded-Proto": "http", "X-Forwarded-Prefix": "/evil"}
    headers = {name: value.encode().decode("latin-1") for name, value in headers.items()}
    prefix = urlsplit(public).path.rstrip("/")
    for path in ("/webhook", "/webhook/fallback"):
        for place in {path, prefix + path}:
            for encoded in ENCODINGS:
                form = "&".join(f"{encoded(name)}={encoded(value)}" for name, value in fields)
                sign = signature(f"{public.rstrip('/')}{path}{query}", fields)
                listener.messages.clear()
                assert listener.post(place + query, form, sign, **headers) == 200
                ((incoming),) = listener.messages
                assert (incoming.sid, incoming.sender, incoming.text) == (SID, told["From"], text_of(fields))


@pytest.mark.parametrize("public", sorted(LISTENERS))
def test_every_genuine_report_is_taken(public: str) -> None:
    """A report arrives with its number, at either path, and when Twilio writes the standard port or leaves it out."""
    listener, prefix = LISTENERS[public], urlsplit(public).path.rstrip("/")
    parts = urlsplit(public.rstrip("/"))
    ports = {parts.netloc}
    if parts.port is None:
        ports.add(f"{parts.netloc}:{443 if parts.scheme == 'https' else 80}")
    for place, netloc in ((place, netloc) for place in ("", prefix) for netloc in ports):
        listener.reports.clear()
        url = parts._replace(netloc=netloc).geturl() + "/webhook/status?reply=12"
        fields = (*STATUS, ("MessageStatus", "delivered"))
        assert listener.post(f"{place}/webhook/status?reply=12", fields, signature(url, fields, TOKEN)) == 204
        ((report),) = listener.reports
        assert (report.outgoing_id, report.provider_sid, report.status, report.error_code) == (12, SID, "delivered", None)
