"""Hosts that are out are given up after a few failures in a row, so that a look at everything ends; over real sockets."""

from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import date
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from socket import socket
from threading import Thread

from clara.adapters.boe.client import BoeClient, GazettePace
from clara.adapters.http.fetcher import FetchBounds, PoliteFetcher
from clara.editorial.sources import STRIKES, SourceUnreachableError, giving_up, looking
from clara.knowledge.sources import RegisteredSource, SourceKind
from clara.processes.source_readers import in_the_net

HOST, MANY = "127.0.0.1", 6
ONCE = GazettePace(exchange_seconds=5, pause_seconds=0, retry_seconds=0, tries=1)
PAGE = b"<html><body><main><p>El plazo es de tres meses.</p></main></body></html>"


@contextmanager
def site(status: Callable[[str], int]) -> Iterator[tuple[str, Counter[str]]]:
    """A site that answers every address with a status, and remembers what it was asked for."""
    asked: Counter[str] = Counter()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked[self.path] += 1
            self.send_response(status(self.path))
            self.send_header("Content-Type", "text/html")
            self.send_header("Content-Length", str(len(PAGE)))
            self.end_headers()
            self.wfile.write(PAGE)

        def log_message(self, *_: object) -> None:
            """Stay quiet."""

    server = ThreadingHTTPServer((HOST, 0), Handler)
    Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()
    try:
        yield f"http://{HOST}:{server.server_address[1]}", asked
    finally:
        server.shutdown()
        server.server_close()


def nowhere() -> str:
    """The address of a port that nobody listens on."""
    with socket() as taken:
        taken.bind((HOST, 0))
        return f"http://{HOST}:{taken.getsockname()[1]}"


def page(address: str) -> RegisteredSource:
    return RegisteredSource(address, "Página", SourceKind.HTML, address, (), HOST, 7, 0.0, official=False)


def norm(number: int) -> RegisteredSource:
    return RegisteredSource(f"BOE-A-2020-{number}", "Ley", SourceKind.NORM, "https://www.boe.es/x", (), "boe.es", 7, 0.0)


def looked(gazette: str, *sources: RegisteredSource) -> tuple[list[str], int]:
    """Look at sources in turn; give what came of each, and how often the gazette was asked."""
    fetcher = PoliteFetcher("", FetchBounds(tries=1, try_seconds=5), inside={HOST}, wait=lambda _seconds: None)
    client = BoeClient(gazette, ONCE, wait=lambda _seconds: None)
    fetch, told = looking(giving_up(in_the_net(fetcher, client, date(2026, 8, 1)), gazette)), []
    for source in sources:
        try:
            fetch(source)
            told.append("read")
        except SourceUnreachableError as error:
            told.append("not asked" if "was not asked" in str(error) else "failed")
    fetcher.close()
    client.close()
    return told, client.requests


def test_a_host_that_is_out_is_asked_three_times() -> None:
    """Nobody listens where norms are read: after three the others are told as not reached, and pages are read all the same."""
    with site(lambda path: 404 if path == "/robots.txt" else 200) as (open_site, _asked):
        norms = [norm(number) for number in range(1, MANY + 1)]
        told, requests = looked(nowhere(), page(f"{open_site}/a"), *norms, page(f"{open_site}/b"))
    assert told == ["read", *["failed"] * STRIKES, *["not asked"] * (MANY - STRIKES), "read"]
    assert requests == STRIKES


def test_a_site_that_serves_nobody_is_given_up_alone() -> None:
    """One that answers 503 is left alone after three; its neighbour is not."""
    with site(lambda _path: 503) as (out, asked), site(lambda path: 404 if path == "/robots.txt" else 200) as (fine, _):
        pages = [page(f"{out}/{number}") for number in range(MANY)]
        told, _requests = looked(nowhere(), page(f"{fine}/a"), *pages, page(f"{fine}/b"))
    assert told == ["read", *["failed"] * STRIKES, *["not asked"] * (MANY - STRIKES), "read"]
    assert asked == {"/robots.txt": STRIKES}


def test_pages_that_are_gone_are_no_failure_of_their_host() -> None:
    """Each page is asked for, however many of them are gone."""
    with site(lambda _path: 404) as (there, asked):
        told, _requests = looked(nowhere(), *(page(f"{there}/{number}") for number in range(MANY)))
    assert told == ["failed"] * MANY
    assert sum(asked[f"/{number}"] for number in range(MANY)) == MANY


def test_failures_that_are_not_in_a_row_give_nobody_up() -> None:
    """An answer in between starts the count anew."""
    down = {"/1", "/2", "/4", "/5"}
    with site(lambda path: 404 if path == "/robots.txt" else 503 if path in down else 200) as (there, _asked):
        told, _requests = looked(nowhere(), *(page(f"{there}/{number}") for number in range(MANY)))
    assert told == ["read", "failed", "failed", "read", "failed", "failed"]


def test_a_machine_that_is_cut_off_asks_three_hosts() -> None:
    """When none of three hosts is there and none ever answered, nothing else is asked."""
    told, requests = looked(nowhere(), norm(1), *(page(f"{nowhere()}/{number}") for number in range(MANY)), norm(2))
    assert told == [*["failed"] * 3, *["not asked"] * (MANY - 1)]
    assert requests == 1
