"""A day of the gazette as values, and the port through which it is read."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date
from typing import Protocol

from clara.errors import Invalid, NotFound, Unavailable


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
    """Reads the gazette. Every method raises NoIssueError, GazetteUnavailableError, GazetteFormatError."""

    def day(self, day: date) -> Day:
        """Give everything published on a day."""
        ...

    def item(self, item_id: str) -> ItemDocument:
        """Give an item's own document."""
        ...
