"""Days of the gazette as values: what it published, what came of reading it, which are still to be read; and its port."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from enum import StrEnum
from typing import Any, Final, Protocol
from zoneinfo import ZoneInfo

from clara.errors import Invalid, NotFound, Unavailable

# Days that are caught up at once. An operator who was away for longer is told, and asks for more.
MOST_DAYS: Final = 30
MADRID: Final = ZoneInfo("Europe/Madrid")


class DayState(StrEnum):
    """What came of reading a day."""

    READ = "read"
    NONE = "none"  # the gazette has no issue of that day
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class GazetteDay:
    """What is kept of a day that was asked for: what came of it, how often it was tried, the last error, and when that was."""

    day: date
    state: str
    items: int
    read_at: datetime
    issues: int = 0
    tries: int = 1
    error: str | None = None

    @property
    def settled(self) -> bool:
        """Whether it need not be asked for again."""
        return self.state != DayState.FAILED and self.read_at.astimezone(MADRID).date() > self.day


@dataclass(frozen=True, slots=True)
class CatchUp:
    """The days to read, the oldest first, and those that are too long ago to be caught up without being asked to."""

    days: tuple[date, ...]
    behind: tuple[date, ...] = ()


@dataclass(frozen=True, slots=True)
class DayReading:
    """What came of reading a day: how many issues and items it has, or why it failed."""

    day: date
    state: DayState
    issues: int = 0
    items: int = 0
    error: str | None = None


@dataclass(frozen=True, slots=True)
class GazetteAlert:
    """An item that concerns us, as it is kept."""

    id: str
    day: date
    section: str
    department: str
    title: str
    url: str
    score: float
    reasons: tuple[dict[str, Any], ...]
    norms: tuple[str, ...]
    facts: tuple[str, ...]
    procedures: tuple[str, ...]
    found_at: datetime
    notified_at: datetime | None
    seen_at: datetime | None


def missing(known: Mapping[date, GazetteDay], today: date, days: int | None = None) -> CatchUp:
    """Give the days that are not settled: of the last so many, or since the first that was ever asked for.

    Without any that was asked for, only today: the past is nobody's expectation.
    """
    window = [today - timedelta(days=back) for back in reversed(range(days or MOST_DAYS))]
    first = window[0] if days else min(known, default=today)
    unsettled = [day for day in window if day >= first and not (day in known and known[day].settled)]
    old = [first + timedelta(days=after) for after in range((window[0] - first).days)]
    return CatchUp(tuple(unsettled), tuple(day for day in old if not (day in known and known[day].settled)))


class GazetteFormatError(Invalid):
    """The gazette answered with something that cannot be read whole; nothing of it was used. The message names the place."""

    def __init__(self, place: str, fault: str) -> None:
        super().__init__(f"{place}: {fault}")
        self.place = place
        self.fault = fault


class GazetteUnavailableError(Unavailable):
    """The gazette could not be reached, or did not serve. Nothing is known about what it published: ask again later."""


class NoIssueError(NotFound):
    """The gazette says that there is nothing under this day or id. Of the present day it may still come."""


@dataclass(frozen=True, slots=True)
class Item:
    """One thing published. `section` is the gazette's code ("1", "2A", ... "5C", "T"); `heading` is its epigraph, if any."""

    id: str
    section: str
    department: str
    heading: str
    title: str
    url_html: str
    url_xml: str
    url_pdf: str


@dataclass(frozen=True, slots=True)
class Issue:
    """One number of the gazette; some days have two. `id` is that of its summary, such as BOE-S-2021-307."""

    number: str
    id: str
    items: tuple[Item, ...]


@dataclass(frozen=True, slots=True)
class Day:
    """Everything published on one day."""

    day: date
    issues: tuple[Issue, ...]

    @property
    def items(self) -> Iterator[Item]:
        """Every item, issue by issue."""
        return (item for issue in self.issues for item in issue.items)


@dataclass(frozen=True, slots=True)
class Reference:
    """What an item does to an earlier norm, by the gazette's own analysis.

    `words` say what ("MODIFICA", "DEROGA", "DE CONFORMIDAD con"), `text` to which part of it. `norm` is its id; a few old ones
    have none.
    """

    norm: str
    code: str
    words: str
    text: str


@dataclass(frozen=True, slots=True)
class ItemDocument:
    """An item's own document. `headings` are the titles of its articles and provisions, which are part of the `text` too.

    The analysis (`references`, `subjects`, `alerts`) is the gazette's and may come some time after the text.
    """

    id: str
    title: str
    rank: str
    department: str
    published: date | None
    in_force: date | None
    references: tuple[Reference, ...]
    subjects: tuple[str, ...]
    alerts: tuple[str, ...]
    headings: tuple[str, ...]
    text: str


class Gazette(Protocol):
    """Reads the gazette. Every method raises NoIssueError, GazetteUnavailableError, GazetteFormatError.

    `requests` counts what was asked.
    """

    requests: int

    def day(self, day: date) -> Day:
        """Give everything published on a day."""

    def item(self, item_id: str) -> ItemDocument:
        """Give an item's own document."""
