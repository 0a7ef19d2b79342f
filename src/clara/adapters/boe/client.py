"""Asking the gazette's site: politely, with few more tries, and never mistaking a failure for a day without an issue."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import date
from threading import Lock
from time import perf_counter, sleep
from typing import Final

import httpx

from clara import __version__
from clara.adapters.boe.item import ITEM_ID, MAX_DOCUMENT_BYTES, read_item
from clara.adapters.boe.summary import SITE, read_summary, says_nothing
from clara.adapters.http.client import AnswerTooLargeError, asked_patience, bounded_client, reason_of
from clara.editorial.gazette.issues import Day, GazetteFormatError, GazetteUnavailableError, ItemDocument, NoIssueError

JSON: Final = "application/json"
XML: Final = "application/xml"
USER_AGENT: Final = f"Clara/{__version__} (reads the open data of the BOE once a day)"
# A gazette that asks for more patience than this is asked again by the next run.
LONGEST_WAIT_SECONDS: Final = 60.0

_TRIED_AGAIN: Final = frozenset({429, 500, 502, 503, 504})


@dataclass(frozen=True, slots=True)
class GazettePace:
    """How the gazette is asked: seconds for a whole exchange, between two requests, and before another try (then twice that).

    A law of budgets has some 10 MB and comes within the time of an exchange at 3 Mbit/s.
    """

    exchange_seconds: float = 30.0
    pause_seconds: float = 1.0
    retry_seconds: float = 2.0
    tries: int = 3


class BoeClient:
    """Implements the port Gazette on the site's open data; safe to share between threads, which take turns.

    Every method raises NoIssueError when the gazette says that there is nothing, GazetteUnavailableError when it could not be
    asked or did not serve, GazetteFormatError when its answer cannot be read. `requests` counts what was asked.
    """

    def __init__(
        self,
        base_url: str = SITE,
        pace: GazettePace | None = None,
        wait: Callable[[float], None] = sleep,
        clock: Callable[[], float] = perf_counter,
    ) -> None:
        self.requests = 0
        self._base = base_url.rstrip("/")
        self._pace = pace or GazettePace()
        self._wait = wait
        self._clock = clock
        self._turn = Lock()
        self._free_from = clock()
        self._http = bounded_client(MAX_DOCUMENT_BYTES, {"User-Agent": USER_AGENT})

    def day(self, day: date) -> Day:
        """Give everything published on a day, asked for as JSON, and as XML if that cannot be read."""
        address = f"/datosabiertos/api/boe/sumario/{day:%Y%m%d}"
        try:
            return read_summary(self._get(address, JSON), day)
        except GazetteFormatError as error:
            try:
                return read_summary(self._get(address, XML), day)
            except GazetteFormatError:
                raise error from None

    def item(self, item_id: str) -> ItemDocument:
        """Give an item's own document."""
        return read_item(self._get(f"/diario_boe/xml.php?id={_checked(item_id)}", XML), item_id)

    def norm(self, norm_id: str) -> tuple[bytes, bytes]:
        """Give the metadata and the text of a norm of the consolidated legislation, two XML documents, unread."""
        address = f"/datosabiertos/api/legislacion-consolidada/id/{_checked(norm_id)}"
        return self._get(f"{address}/metadatos", XML), self._get(f"{address}/texto", XML)

    def close(self) -> None:
        """Close the connections."""
        self._http.close()

    def _get(self, address: str, media_type: str) -> bytes:
        reason = ""
        patience = self._pace.retry_seconds
        for attempt in range(self._pace.tries):
            if attempt:
                self._wait(patience)
            try:
                response = self._asked(address, media_type)
            except AnswerTooLargeError as error:
                raise GazetteFormatError(address, f"{error}; that is not read") from error
            except httpx.InvalidURL as error:
                raise GazetteUnavailableError(f"{self._base} is no address that can be asked; correct BOE_BASE_URL") from error
            except httpx.HTTPError as error:
                reason = reason_of(error)
            else:
                if response.status_code not in _TRIED_AGAIN:
                    return _content(response, address)
                reason = f"answered {response.status_code}"
                patience = asked_patience(response.headers.get("retry-after")) or patience
            patience = min(patience if not attempt else patience * 2, LONGEST_WAIT_SECONDS)
        raise GazetteUnavailableError(f"{self._base}{address}: {reason}, in {self._pace.tries} tries")

    def _asked(self, address: str, media_type: str) -> httpx.Response:
        """Ask when the pause since the last request is over. Raises httpx.HTTPError, httpx.InvalidURL."""
        with self._turn:
            if (early := self._free_from - self._clock()) > 0:
                self._wait(early)
            self.requests += 1
            try:
                return self._http.get(self._base + address, headers={"Accept": media_type}, timeout=self._pace.exchange_seconds)
            finally:
                self._free_from = self._clock() + self._pace.pause_seconds


def _checked(found: str) -> str:
    """Give an id that may be part of an address. Raises GazetteFormatError."""
    if not ITEM_ID.fullmatch(found):
        raise GazetteFormatError("id", f"{found[:40]!r} is no id of the gazette")
    return found


def _content(response: httpx.Response, address: str) -> bytes:
    match response.status_code:
        case 200:
            return response.content
        case 404 if says_nothing(response.content):
            raise NoIssueError(f"the gazette has nothing at {address}")
        case 404:
            # Somebody else's page, or an address that the gazette has given up: every day would look quiet.
            raise GazetteUnavailableError(f"{address}: answered 404 with something else than the gazette's own words")
        case 406 | 415:
            raise GazetteFormatError(address, "is not served in the form that was asked for")
        case _ if response.has_redirect_location:
            place = response.headers["location"][:200]
            raise GazetteUnavailableError(f"{address}: leads to {place}; if that is the gazette's, set BOE_BASE_URL to it")
        case status:
            raise GazetteUnavailableError(f"{address}: answered {status}")
