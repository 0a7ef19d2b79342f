"""Tests of the polite fetcher against a real server that says what it is told to, and of its parts alone."""

import gzip
import ssl
import zlib
from collections.abc import Iterator
from contextlib import closing, contextmanager
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from threading import Thread
from time import perf_counter

import httpcore
import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID
from hypothesis import given
from hypothesis import strategies as st
from tests.scripted_web import ScriptedWeb, WebPage

from clara.adapters.http.client import asked_patience
from clara.adapters.http.fetcher import (
    AddressRefusedError,
    FetchBounds,
    HostPace,
    PoliteFetcher,
    back_off,
    is_public,
    public_only,
)
from clara.editorial.sources import Fetched, PageRequest, SourceRefusedError, SourceUnreachableError, Unchanged
from clara_lab.stand_ins.server import Delivery

HERE = ("127.0.0.1",)
HTML = ("text/html",)
BODY = "<p>El plazo es de diez días.</p>".encode()
PAGE = WebPage(BODY, etag='"1"')


class Time:
    """A clock that goes on only where somebody waits."""

    def __init__(self) -> None:
        self.now = 1_000.0
        self.waits: list[float] = []

    def clock(self) -> float:
        return self.now

    def wait(self, seconds: float) -> None:
        self.waits.append(seconds)
        self.now += seconds


@pytest.fixture
def time() -> Time:
    return Time()


@pytest.fixture
def web() -> ScriptedWeb:
    return ScriptedWeb()


@contextmanager
def fetching(web: ScriptedWeb, time: Time, bounds: FetchBounds | None = None) -> Iterator[tuple[PoliteFetcher, str]]:
    """Serve the pages, and give a fetcher that may ask this machine, with the address."""
    fetcher = PoliteFetcher("https://clara.example", bounds, HERE, clock=time.clock, wait=time.wait)
    with closing(fetcher), web.serving() as address:
        yield fetcher, address


def wanted(address: str, path: str = "/a", **changes: object) -> PageRequest:
    return PageRequest(**{"url": address + path, "domain": "127.0.0.1", "pause_seconds": 2.0, "media_types": HTML, **changes})


def fetched(
    web: ScriptedWeb, time: Time, path: str = "/a", bounds: FetchBounds | None = None, **changes: object
) -> Fetched | Unchanged:
    with fetching(web, time, bounds) as (fetcher, address):
        return fetcher.fetch(wanted(address, path, **changes))


def test_a_page_is_given_as_it_came(web: ScriptedWeb, time: Time) -> None:
    """Content, type with charset, and what names this version; the host learns who asks and that it need not compress."""
    web.put("/a", WebPage(BODY, etag='"1"', headers={"Last-Modified": "Mon, 09 Nov 2026 10:00:00 GMT"}))
    found = fetched(web, time)
    assert isinstance(found, Fetched)
    assert (found.content, found.media_type, found.etag) == (BODY, "text/html; charset=utf-8", '"1"')
    assert found.last_modified == "Mon, 09 Nov 2026 10:00:00 GMT"
    asked = web.asked[-1].headers
    assert asked["user-agent"].startswith("Clara/")
    assert "https://clara.example" in asked["user-agent"]
    assert asked["accept-encoding"] == "identity"


def test_an_unchanged_page_is_not_sent_again(web: ScriptedWeb, time: Time) -> None:
    """Who has the page says so, and is told that nothing changed."""
    web.put("/a", PAGE)
    assert isinstance(fetched(web, time, etag='"1"', last_modified="Mon, 09 Nov 2026 10:00:00 GMT"), Unchanged)
    assert web.asked[-1].headers["if-modified-since"] == "Mon, 09 Nov 2026 10:00:00 GMT"
    assert isinstance(fetched(web, time, etag='"0"'), Fetched)


def test_unchanged_is_no_answer_to_who_has_nothing(web: ScriptedWeb, time: Time) -> None:
    """A host that says 304 unasked has said nothing."""
    web.put("/a", WebPage(status=304))
    with pytest.raises(SourceUnreachableError, match="answered 304"):
        fetched(web, time)


def test_a_host_has_its_pause(web: ScriptedWeb, time: Time) -> None:
    """Between two requests to one host lies its pause, robots.txt included, which is read once a day."""
    web.put("/a", PAGE)
    with fetching(web, time) as (fetcher, address):
        for _ in range(3):
            fetcher.fetch(wanted(address))
        assert time.waits == [2.0, 2.0, 2.0]
        assert [asked.target for asked in web.asked].count("/robots.txt") == 1
        time.now += 90_000
        fetcher.fetch(wanted(address))
    assert [asked.target for asked in web.asked].count("/robots.txt") == 2


@pytest.mark.parametrize(
    ("robots", "refused"),
    [
        pytest.param(WebPage(b"User-agent: *\nDisallow: /a"), True, id="everybody"),
        pytest.param(WebPage(b"User-agent: Clara\nDisallow: /a\n\nUser-agent: *\nAllow: /"), True, id="us"),
        pytest.param(WebPage(b"User-agent: *\nDisallow: /\n\nUser-agent: clara\nDisallow:"), False, id="everybody-but-us"),
        pytest.param(WebPage(b"User-agent: *\nDisallow: /b"), False, id="another-page"),
        pytest.param(WebPage(b"\xff\xfe\x00 no rules <html>"), False, id="something-else"),
        pytest.param(WebPage(b"", 404), False, id="none"),
        pytest.param(WebPage(b"", 403), False, id="hidden"),
        pytest.param(WebPage(b"User-agent: *\nDisallow: /a\n" + b"#" * 600_000), True, id="long"),
    ],
)
def test_robots(robots: WebPage, refused: bool, web: ScriptedWeb, time: Time) -> None:
    """What robots.txt asks to leave alone is not asked for; a host without the file allows everything."""
    web.put("/robots.txt", robots)
    web.put("/a", PAGE)
    if refused:
        with pytest.raises(SourceRefusedError, match=r"robots\.txt"):
            fetched(web, time)
        assert web.paths() == []
    else:
        assert isinstance(fetched(web, time), Fetched)


def test_a_host_that_cannot_say_its_rules_is_left_alone(web: ScriptedWeb, time: Time) -> None:
    """Rules that cannot be read are an outage: nothing is fetched for now, and the next time they are asked for again."""
    web.put("/robots.txt", WebPage(b"", 503), WebPage(b"", 503), WebPage(b"", 501), WebPage(b"", 404))
    web.put("/a", PAGE)
    with fetching(web, time) as (fetcher, address):
        with pytest.raises(SourceUnreachableError, match=r"robots\.txt answered 501"):
            fetcher.fetch(wanted(address))
        assert web.paths() == []
        assert isinstance(fetcher.fetch(wanted(address)), Fetched)


def test_a_pause_that_the_host_asks_for(web: ScriptedWeb, time: Time) -> None:
    """A longer pause in robots.txt is kept, up to a minute."""
    web.put("/robots.txt", WebPage(b"User-agent: *\nCrawl-delay: 500"))
    web.put("/a", PAGE)
    with fetching(web, time) as (fetcher, address):
        fetcher.fetch(wanted(address))
        fetcher.fetch(wanted(address))
    assert time.waits == [2.0, 60.0]


def redirect(to: str, status: int = 302) -> WebPage:
    return WebPage(status=status, headers={"Location": to})


def test_redirects_within_the_domain_are_followed(web: ScriptedWeb, time: Time) -> None:
    """Five are, whatever their kind; the address of the answer is the last one, without its fragment."""
    for number, status in enumerate((301, 302, 303, 307, 308)):
        web.put(f"/{number}", redirect(f"/{number + 1}", status))
    web.put("/5", PAGE)
    found = fetched(web, time, "/0")
    assert found.url.endswith("/5")


def test_redirects_without_end(web: ScriptedWeb, time: Time) -> None:
    """A page that leads to itself is given up after five."""
    web.put("/a", redirect("/a"))
    with pytest.raises(SourceUnreachableError, match="on and on"):
        fetched(web, time)
    assert len(web.paths()) == 6


@pytest.mark.parametrize(
    "target",
    [
        "http://example.com/",
        "//example.com/",
        "http://127.0.0.1.example.com/",
        "http://localhost:1/",
        "http://[::1]/",
        "http://2130706433/",
        "http://user@127.0.0.1/",
        "ftp://127.0.0.1/",
        "file:///etc/passwd",
        "javascript:alert(1)",
        "http://exa mple/",
        "http://[",
    ],
)
def test_redirects_elsewhere_are_refused(target: str, web: ScriptedWeb, time: Time) -> None:
    """Nothing outside the domain is asked, nor a user, nor what cannot be read."""
    web.put("/a", redirect(target))
    with pytest.raises(SourceRefusedError):
        fetched(web, time)
    assert len(web.paths()) == 1


def test_a_redirect_is_held_against_robots(web: ScriptedWeb, time: Time) -> None:
    """A page may not lead to one that should be left alone."""
    web.put("/robots.txt", WebPage(b"User-agent: *\nDisallow: /b"))
    web.put("/a", redirect("/b"))
    web.put("/b", PAGE)
    with pytest.raises(SourceRefusedError, match="leave /b alone"):
        fetched(web, time)


def test_https_does_not_fall_to_http(time: Time) -> None:
    """A secure page that leads to an open one is refused, even within the domain."""
    fetcher = PoliteFetcher(clock=time.clock, wait=time.wait)
    before = fetcher._permitted("https://boe.es/a", None, wanted("https://boe.es", domain="boe.es"))
    with pytest.raises(SourceRefusedError, match="leads to http:"):
        fetcher._permitted("http://boe.es/a", before, wanted("https://boe.es", domain="boe.es"))
    with pytest.raises(SourceRefusedError, match="a port"):
        fetcher._permitted("https://boe.es:8443/a", before, wanted("https://boe.es", domain="boe.es"))
    fetcher.close()


@pytest.mark.parametrize(
    "address",
    [
        "127.0.0.1", "10.1.2.3", "172.16.0.1", "192.168.1.1", "169.254.169.254", "100.64.0.1", "0.0.0.1", "224.0.0.1",
        "255.255.255.255", "::1", "::", "fe80::1%eth0", "fc00::1", "ff02::1", "::ffff:127.0.0.1", "64:ff9b::7f00:1",
        "64:ff9b::a00:1", "2002:7f00:1::", "2001:db8::1", "nonsense", "",
    ],
)  # fmt: skip
def test_addresses_that_are_not_public(address: str) -> None:
    """Neither our own network, nor what is written into an address of the new kind, nor what is no address."""
    assert not is_public(address)


@pytest.mark.parametrize("address", ["195.57.24.10", "2a00:1450:4003:80f::2004", "64:ff9b::c339:180a"])
def test_public_addresses(address: str) -> None:
    """What everybody reaches may be asked."""
    assert is_public(address)


def test_a_name_that_leads_inside_is_refused(web: ScriptedWeb, time: Time) -> None:
    """One private address among public ones is enough, and nothing is asked."""
    looked: list[str] = []

    def resolve(host: str, port: int, seconds: float) -> list[str]:
        looked.append(host)
        return ["195.57.24.10", "127.0.0.1"]

    fetcher = PoliteFetcher(clock=time.clock, wait=time.wait, resolve=resolve)
    with pytest.raises(SourceRefusedError, match="not public"):
        fetcher.fetch(PageRequest("https://www.boe.es/a", "boe.es", 1.0, HTML))
    fetcher.close()
    assert looked == ["www.boe.es"]


def test_what_was_looked_at_is_connected_to(web: ScriptedWeb, time: Time) -> None:
    """A name is resolved once for a connection, and that very address is asked: a second answer has no chance."""
    answers = iter([["127.0.0.1"], ["10.0.0.1"]])
    web.put("/a", PAGE)
    with web.serving() as address:
        port = address.rpartition(":")[2]
        fetcher = PoliteFetcher(inside=("norms.example",), clock=time.clock, wait=time.wait, resolve=lambda *_: next(answers))
        found = fetcher.fetch(wanted(f"http://norms.example:{port}", domain="norms.example"))
        fetcher.close()
    assert isinstance(found, Fetched)


def test_other_errors_of_a_resolver_pass() -> None:
    """A name that cannot be resolved stays an outage."""

    def resolve(*_: object) -> list[str]:
        raise httpcore.ConnectError("no such name")

    with pytest.raises(httpcore.ConnectError):
        public_only((), resolve)("a.example", 443, 1.0)
    with pytest.raises(AddressRefusedError):
        public_only((), lambda *_: ["::1"])("a.example", 443, 1.0)


def test_a_name_that_is_not_there(time: Time) -> None:
    """An address that nobody has is an outage after three tries."""

    def resolve(*_: object) -> list[str]:
        raise httpcore.ConnectError("no such name")

    fetcher = PoliteFetcher(clock=time.clock, wait=time.wait, resolve=resolve)
    with pytest.raises(SourceUnreachableError, match="could not be reached"):
        fetcher.fetch(PageRequest("https://www.boe.es/a", "boe.es", 0.5, HTML))
    fetcher.close()


@pytest.mark.parametrize(
    ("page", "expected"),
    [
        pytest.param(WebPage(b"%PDF-", media_type="application/pdf"), "is of the type application/pdf", id="other-type"),
        pytest.param(WebPage(BODY, media_type=""), "is of the type unknown", id="no-type"),
        pytest.param(WebPage(b"x" * 3_000), "more than 2000 bytes", id="large"),
        pytest.param(
            WebPage(gzip.compress(b" " * 50_000_000), headers={"Content-Encoding": "gzip"}), "more than 2000", id="bomb"
        ),
        pytest.param(
            WebPage(zlib.compress(b" " * 5_000), headers={"Content-Encoding": "deflate"}), "more than 2000", id="deflate"
        ),
    ],
)
def test_what_is_not_taken(page: WebPage, expected: str, web: ScriptedWeb, time: Time) -> None:
    """Another type, or too much, packed or not, is refused, and not asked for again."""
    web.put("/a", page)
    bounds = FetchBounds(most_bytes=2_000) if page.media_type.startswith("text") else FetchBounds(most_bytes=60_000_000)
    began = perf_counter()
    with pytest.raises(SourceRefusedError, match=expected):
        fetched(web, time, bounds=bounds)
    assert len(web.paths()) == 1
    assert perf_counter() - began < 5


def test_a_large_answer_is_not_read_to_its_end(web: ScriptedWeb, time: Time) -> None:
    """The size counts while the answer comes, whatever its head says."""
    web.put("/a", WebPage(b"x" * 1_000_000, delivery=Delivery.DRIP_BODY))
    began = perf_counter()
    with pytest.raises(SourceRefusedError, match="more than 100"):
        fetched(web, time, bounds=FetchBounds(most_bytes=100))
    assert perf_counter() - began < 5


def test_a_packed_page_is_unpacked(web: ScriptedWeb, time: Time) -> None:
    """A server that compresses without being asked is understood."""
    web.put("/a", WebPage(gzip.compress(BODY), headers={"Content-Encoding": "gzip"}))
    found = fetched(web, time)
    assert isinstance(found, Fetched)
    assert found.content == BODY


@pytest.mark.parametrize(
    ("page", "tries", "expected"),
    [
        pytest.param(WebPage(b"", 500), 3, "answered 500", id="error"),
        pytest.param(WebPage(b"", 404), 1, "answered 404; look for its new address", id="gone"),
        pytest.param(WebPage(b"", 401), 1, "answered 401", id="closed"),
        pytest.param(WebPage(b" \n", 200), 1, "with nothing", id="empty"),
        pytest.param(WebPage(BODY, delivery=Delivery.TRUNCATED), 3, "could not be reached", id="cut"),
        pytest.param(
            WebPage(b"\x1f\x8bx", headers={"Content-Encoding": "gzip"}), 3, "could not be reached", id="broken-packing"
        ),
        pytest.param(WebPage(gzip.compress(BODY)[:-9], headers={"Content-Encoding": "gzip"}), 3, "reached", id="cut-packing"),
        pytest.param(WebPage(BODY, headers={"Content-Encoding": "br"}), 3, "could not be reached", id="unknown-packing"),
    ],
)
def test_failures(page: WebPage, tries: int, expected: str, web: ScriptedWeb, time: Time) -> None:
    """A failure is an outage, never an empty page; what may pass is tried three times, each time after a longer wait."""
    web.put("/a", page)
    with pytest.raises(SourceUnreachableError, match=expected):
        fetched(web, time, pause_seconds=0.0)
    assert len(web.paths()) == tries
    assert len(time.waits) == tries - 1
    assert time.waits == sorted(time.waits)


@pytest.mark.parametrize(
    ("header", "waits", "patience"),
    [("7", [7.0, 7.0], 7.0), ("86400", [], 86_400.0), ("0", [0.0, 0.0], 0.0)],
)
def test_a_host_may_ask_for_patience(header: str, waits: list[float], patience: float, web: ScriptedWeb, time: Time) -> None:
    """As long as it asks, it is left alone; what is longer than a minute is left to a later run, which learns how long."""
    web.put("/a", WebPage(b"", 429, headers={"Retry-After": header}))
    with pytest.raises(SourceUnreachableError, match="answered 429") as caught:
        fetched(web, time, pause_seconds=0.0)
    assert time.waits == waits
    assert caught.value.retry_seconds == patience


def test_a_failure_that_passes(web: ScriptedWeb, time: Time) -> None:
    """What works at the second try is no failure."""
    web.put("/a", WebPage(b"", 503), PAGE)
    assert isinstance(fetched(web, time), Fetched)


@pytest.mark.parametrize("delivery", [Delivery.DRIP_BODY, Delivery.DRIP_HEADERS, Delivery.HANG])
def test_a_slow_host_holds_nobody(delivery: Delivery, web: ScriptedWeb, time: Time) -> None:
    """The time of a try is for all of it, however the bytes come."""
    web.put("/a", WebPage(b"x" * 100_000, delivery=delivery))
    began = perf_counter()
    with pytest.raises(SourceUnreachableError, match="did not answer within the deadline"):
        fetched(web, time, bounds=FetchBounds(seconds=10, try_seconds=0.3, tries=2), pause_seconds=0.0)
    assert perf_counter() - began < 5


def test_all_tries_share_one_deadline(web: ScriptedWeb) -> None:
    """When the time of a page is used up, no other try begins."""
    web.put("/a", WebPage(delivery=Delivery.HANG))
    waits: list[float] = []
    fetcher = PoliteFetcher(bounds=FetchBounds(seconds=0.3, try_seconds=5, tries=9), inside=HERE, wait=waits.append)
    with web.serving() as address, pytest.raises(SourceUnreachableError):
        fetcher.fetch(wanted(address, pause_seconds=0.0))
    fetcher.close()
    assert len(web.paths()) == 1


def test_an_unknown_certificate_is_refused(tmp_path: Path, time: Time) -> None:
    """A host that cannot prove its name is not read."""
    server = HTTPServer(("127.0.0.1", 0), BaseHTTPRequestHandler)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate(tmp_path))
    server.socket = context.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
    server.handle_error = lambda *_: None
    Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()
    fetcher = PoliteFetcher(bounds=FetchBounds(try_seconds=3), inside=HERE, clock=time.clock, wait=time.wait)
    with pytest.raises(SourceUnreachableError, match="could not be reached"):
        fetcher.fetch(wanted(f"https://127.0.0.1:{server.server_address[1]}", pause_seconds=0.0))
    fetcher.close()
    server.shutdown()
    server.server_close()


def certificate(folder: Path) -> Path:
    """Make a certificate that nobody else has signed."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "127.0.0.1")])
    now = datetime.now(UTC)
    made = (
        x509.CertificateBuilder().subject_name(name).issuer_name(name).public_key(key.public_key())
        .serial_number(1).not_valid_before(now - timedelta(days=1)).not_valid_after(now + timedelta(days=1))
        .sign(key, hashes.SHA256())
    )  # fmt: skip
    file = folder / "server.pem"
    private = key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    file.write_bytes(private + made.public_bytes(serialization.Encoding.PEM))
    return file


@pytest.mark.parametrize(
    ("header", "expected"),
    [
        (None, None), ("", None), ("12", 12.0), (" 12 ", 12.0), ("-1", None), ("soon", None), ("9" * 400, 10**9),
        ("Sun, 22 Nov 2026 12:00:30 GMT", 30.0), ("Sun, 22 Nov 2026 11:00:00 GMT", 0.0), ("22 Nov 2026 12:00:30", 30.0),
        ("Sun, 99 Nov 2026 12:00:30 GMT", None),
    ],
)  # fmt: skip
def test_patience(header: str | None, expected: float | None) -> None:
    """Seconds or a date; anything else is as if it were not there."""
    assert asked_patience(header, datetime(2026, 11, 22, 12, tzinfo=UTC)) == expected


@given(st.text(max_size=40))
def test_any_patience(header: str) -> None:
    """Whatever stands there, the answer is a time from now on, or none."""
    patience = asked_patience(header)
    assert patience is None or patience >= 0


def test_back_off_grows() -> None:
    """1, 4 and 16 seconds, give or take a fifth, so that not everybody comes back at once."""
    assert [back_off(attempt, lambda: 0.5) for attempt in (1, 2, 3)] == [1.0, 4.0, 16.0]
    assert back_off(1, lambda: 0.0) == pytest.approx(0.8)


def test_hosts_do_not_wait_for_each_other(time: Time) -> None:
    """The pause is of one host."""
    pace = HostPace(time.clock, time.wait)
    for host in ("a", "b", "a"):
        pace.take(host, 3.0)
    assert time.waits == [3.0]
