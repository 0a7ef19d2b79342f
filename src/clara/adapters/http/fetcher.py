"""Fetching pages of the open net: politely, within bounds, and nowhere but where a source may lead."""

import random
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from ipaddress import IPv4Address, IPv6Address, IPv6Network, ip_address
from time import monotonic, sleep
from typing import Final

import httpx
from protego import Protego

from clara import __version__
from clara.adapters.http.client import (
    AnswerTooLargeError,
    HostPace,
    Resolve,
    asked_patience,
    bounded_client,
    reason_of,
    resolved,
)
from clara.editorial.sources import Fetched, HostOutError, PageRequest, SourceRefusedError, SourceUnreachableError, Unchanged
from clara.errors import Refused
from clara.knowledge.sources import within

Address = IPv4Address | IPv6Address
# Addresses of IPv4 that are reached through translators between the two (RFC 6052, RFC 8215).
TRANSLATED: Final = (IPv6Network("64:ff9b::/96"), IPv6Network("64:ff9b:1::/48"))


class AddressRefusedError(Refused):
    """A name leads to an address that is not public: somebody would have us ask inside our own network."""


def public_only(inside: Collection[str], resolve: Resolve = resolved) -> Resolve:
    """Resolve names, and refuse one with any address that is not public. Hosts in `inside` may have any address.

    What is given is what is connected to, so the name cannot lead elsewhere between the look and the connection. Raises
    AddressRefusedError besides what `resolve` raises.
    """

    def look(host: str, port: int, seconds: float) -> list[str]:
        addresses = resolve(host, port, seconds)
        if host not in inside and not all(is_public(address) for address in addresses):
            raise AddressRefusedError(f"{host} leads to an address that is not public")
        return addresses

    return look


def is_public(text: str) -> bool:
    """Whether an address, and any address that is written inside it, is one of the public network."""
    try:
        address = ip_address(text.partition("%")[0])
    except ValueError:
        return False
    return all(one.is_global and not one.is_multicast for one in (address, *_embedded(address)))


def _embedded(address: Address) -> Iterator[Address]:
    if not isinstance(address, IPv6Address):
        return
    if address.ipv4_mapped is not None:
        yield address.ipv4_mapped
    if address.sixtofour is not None:
        yield address.sixtofour
    if address.teredo is not None:
        yield from address.teredo
    if any(address in network for network in TRANSLATED):
        yield IPv4Address(int(address) & 0xFFFF_FFFF)


# As the standard recommends: rules are used for a day at most, and half a megabyte of them is read.
KEPT_SECONDS: Final = 86_400.0
MOST_BYTES: Final = 500 * 1024
CLIENT_ERROR, SERVER_ERROR = 400, 500


class Robots:
    """Reads and remembers the rules of hosts."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._held: dict[str, tuple[float, Protego]] = {}

    def of(self, origin: str, get: Callable[[str], httpx.Response]) -> Protego:
        """Give the rules of an origin ("https://host"), asked with `get` if they are not known.

        A host without the file allows everything. One that cannot say is left alone: raises SourceUnreachableError.
        """
        known = self._held.get(origin)
        if known is None or known[0] < self._clock():
            known = (self._clock() + KEPT_SECONDS, self._asked(f"{origin}/robots.txt", get))
            self._held[origin] = known
        return known[1]

    def _asked(self, url: str, get: Callable[[str], httpx.Response]) -> Protego:
        try:
            answer = get(url)
        except SourceUnreachableError as error:
            msg = f"{url} could not be read, so it is unknown what may be fetched there: {error}"
            raise type(error)(msg, error.retry_seconds) from error
        if answer.status_code >= SERVER_ERROR:
            raise HostOutError(f"{url} answered {answer.status_code}, so nothing is fetched there for now")
        allowed = answer.status_code >= CLIENT_ERROR
        return Protego.parse("" if allowed else answer.content[:MOST_BYTES].decode("utf-8", "replace"))


# Answers after which the same request may do better: overload, and failures of servers behind the one that answers.
WORTH_ANOTHER_TRY: Final = frozenset({429, 500, 502, 503, 504})
FIRST_SECONDS: Final = 1.0
FACTOR: Final = 4.0
# Who asks to be left alone for longer is asked by the next run.
MOST_PATIENCE_SECONDS: Final = 60.0


def back_off(attempt: int, chance: Callable[[], float] = random.random) -> float:
    """Give the seconds to wait after so many failed tries: 1, 4, 16, each a fifth more or less."""
    return FIRST_SECONDS * float(FACTOR ** (attempt - 1)) * (0.8 + 0.4 * chance())


ROBOT: Final = "Clara"
REDIRECTS: Final = frozenset({301, 302, 303, 307, 308})
MOST_REDIRECTS: Final = 5
OK, NOT_MODIFIED, GONE = 200, 304, frozenset({404, 410})


@dataclass(frozen=True, slots=True)
class FetchBounds:
    """How much one page may cost: seconds of exchange in all and for one try, tries, bytes once unpacked.

    Waiting for a host's turn does not count. The longest norms of the gazette take 6 MB as XML, guides as PDF twice that.
    """

    seconds: float = 60.0
    try_seconds: float = 20.0
    tries: int = 3
    most_bytes: int = 25_000_000


@dataclass(slots=True)
class _Exchange:
    """A page being fetched: what is wanted, and the seconds left for it."""

    wanted: PageRequest
    left: float


class PoliteFetcher:
    """Fetches pages politely; safe to share between threads.

    `contact` tells the owners of hosts who asks. Hosts in `inside` may have addresses that are not public, and any port:
    for stand-ins. Redirects are followed by hand, at most five, each address checked like the first; https never falls to http.
    """

    def __init__(
        self,
        contact: str = "",
        bounds: FetchBounds | None = None,
        inside: Collection[str] = (),
        *,
        clock: Callable[[], float] = monotonic,
        wait: Callable[[float], None] = sleep,
        resolve: Resolve = resolved,
    ) -> None:
        self._bounds = bounds or FetchBounds()
        self._inside = frozenset(inside)
        self._clock = clock
        self._wait = wait
        self._pace = HostPace(clock, wait)
        self._robots = Robots(clock)
        agent = f"{ROBOT}/{__version__} (reads pages that official answers rest on{f'; +{contact}' if contact else ''})"
        headers = {"User-Agent": agent, "Accept-Language": "es"}
        self._http = bounded_client(
            self._bounds.most_bytes, headers, resolve=public_only(self._inside, resolve), unpacking=True
        )

    def close(self) -> None:
        """Close the connections."""
        self._http.close()

    def fetch(self, wanted: PageRequest) -> Fetched | Unchanged:
        """Give what the address says now. Raises SourceUnreachableError, SourceRefusedError."""
        known = {"If-None-Match": wanted.etag, "If-Modified-Since": wanted.last_modified}
        conditions = {name: value for name, value in known.items() if value}
        answer, url = self._followed(wanted.url, _Exchange(wanted, self._bounds.seconds), conditions)
        if answer.status_code == NOT_MODIFIED and conditions:
            return Unchanged(str(url))
        if answer.status_code != OK:
            remedy = "; look for its new address and correct data/sources.yaml" if answer.status_code in GONE else ""
            raise SourceUnreachableError(f"{url} answered {answer.status_code}{remedy}")
        media_type = answer.headers.get("content-type", "")
        if media_type.partition(";")[0].strip().lower() not in wanted.media_types:
            raise SourceRefusedError(f"{url} is of the type {media_type or 'unknown'}, not {' or '.join(wanted.media_types)}")
        if not answer.content.strip():
            raise SourceUnreachableError(f"{url} answered with nothing")
        headers = answer.headers
        return Fetched(str(url), media_type, answer.content, headers.get("etag"), headers.get("last-modified"))

    def _followed(
        self, first: str, exchange: _Exchange, conditions: Mapping[str, str], *, heed: bool = True
    ) -> tuple[httpx.Response, httpx.URL]:
        """Ask, and follow redirects; give the last answer with its address. `heed`: look at robots.txt before."""
        url = self._permitted(first, None, exchange.wanted)
        for _ in range(MOST_REDIRECTS + 1):
            if heed:
                self._heed(url, exchange)
            answer = self._answer(url, exchange, conditions)
            if answer.status_code not in REDIRECTS:
                return answer, url
            url = self._permitted(answer.headers.get("location", ""), url, exchange.wanted)
        raise SourceUnreachableError(f"{first} leads on and on, more than {MOST_REDIRECTS} times")

    def _permitted(self, address: str, before: httpx.URL | None, wanted: PageRequest) -> httpx.URL:
        """Give an address as it will be asked, if it may be. Raises SourceRefusedError."""
        try:
            # What is looked at is what is asked: read by the client itself.
            url = before.join(address) if before is not None else httpx.URL(address)
            host = url.raw_host.decode("ascii")
        except (httpx.InvalidURL, ValueError) as error:
            raise SourceRefusedError(f"{wanted.url} leads to an address that cannot be read") from error
        if url.scheme not in {"http", "https"} or (before is not None and before.scheme == "https" and url.scheme != "https"):
            raise SourceRefusedError(f"{wanted.url} leads to {url.scheme or 'nowhere'}:, which is not asked")
        if not within(host, wanted.domain):
            raise SourceRefusedError(
                f"{wanted.url} leads to {host}, outside {wanted.domain}; if that is right, correct the registry"
            )
        if url.userinfo or (url.port is not None and host not in self._inside):
            raise SourceRefusedError(f"{wanted.url} leads to a user or a port of {host}, which is not asked")
        return url.copy_with(fragment=None)

    def _heed(self, url: httpx.URL, exchange: _Exchange) -> None:
        """Leave alone what robots.txt says, and for as long as it says. Raises SourceRefusedError, SourceUnreachableError."""
        origin = f"{url.scheme}://{url.netloc.decode('ascii')}"
        rules = self._robots.of(origin, lambda address: self._followed(address, exchange, {}, heed=False)[0])
        if not rules.can_fetch(str(url), ROBOT):
            raise SourceRefusedError(f"robots.txt of {url.host} asks to leave {url.path} alone")
        asked = min(float(rules.crawl_delay(ROBOT) or 0.0), MOST_PATIENCE_SECONDS)
        exchange.wanted = replace(exchange.wanted, pause_seconds=max(asked, exchange.wanted.pause_seconds))

    def _answer(self, url: httpx.URL, exchange: _Exchange, conditions: Mapping[str, str]) -> httpx.Response:
        """Ask, again after a failure that may pass. Raises SourceUnreachableError, SourceRefusedError."""
        for attempt in range(1, self._bounds.tries + 1):
            self._pace.take(str(url.host), exchange.wanted.pause_seconds)
            patience: float | None = None
            try:
                answer = self._once(url, exchange, conditions)
            except httpx.HTTPError as error:
                failure = f"{url} {reason_of(error)}"
            else:
                if answer.status_code not in WORTH_ANOTHER_TRY:
                    return answer
                failure = f"{url} answered {answer.status_code}"
                patience = asked_patience(answer.headers.get("retry-after"))
            if attempt == self._bounds.tries or exchange.left <= 0 or (patience or 0.0) > MOST_PATIENCE_SECONDS:
                break
            self._wait(back_off(attempt) if patience is None else patience)
        raise HostOutError(failure, patience)

    def _once(self, url: httpx.URL, exchange: _Exchange, conditions: Mapping[str, str]) -> httpx.Response:
        began = self._clock()
        try:
            return self._http.get(
                url, headers=dict(conditions), timeout=max(0.001, min(exchange.left, self._bounds.try_seconds))
            )
        except AnswerTooLargeError as error:
            raise SourceRefusedError(f"{url} has more than {self._bounds.most_bytes} bytes, which is not taken") from error
        except AddressRefusedError as error:
            raise SourceRefusedError(str(error)) from error
        except httpx.InvalidURL as error:  # the library reads a redirect even where it must not follow it
            raise SourceRefusedError(f"{url} leads to an address that cannot be read") from error
        finally:
            exchange.left -= self._clock() - began
