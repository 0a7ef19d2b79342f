"""What ingestion needs of the world outside: fetching what a source says now, reading it as text, and keeping what was read."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime
from typing import Literal, Protocol

from clara.errors import Invalid, NotFound, Refused, Unavailable

SnapshotState = Literal["waiting", "served", "past", "rejected"]
CheckOutcome = Literal["unchanged", "cosmetic", "substantive", "unreachable", "new"]


class SourceUnreachableError(Unavailable):
    """A source could not be asked, or gave no answer that can be used. Nothing is known about what it says now.

    `retry_seconds` is how long it asked to be left alone, None when it did not say.
    """

    def __init__(self, message: str, retry_seconds: float | None = None) -> None:
        super().__init__(message)
        self.retry_seconds = retry_seconds


class HostOutError(SourceUnreachableError):
    """The host of a source does not answer, or serves nobody: none of its other sources can be had at this moment either."""


class SourceRefusedError(Refused):
    """A rule forbids to fetch this, or to take what came: robots.txt, the domain, an address inside, size or type."""


class DocumentError(Invalid):
    """A document that was fetched cannot be read as text. The message names the place and the reason."""


@dataclass(frozen=True, slots=True)
class Fetched:
    """What a source said. `url` is the last address asked, `media_type` its Content-Type as it came, with any charset."""

    url: str
    media_type: str
    content: bytes
    etag: str | None = None
    last_modified: str | None = None


@dataclass(frozen=True, slots=True)
class Unchanged:
    """The source says that what was fetched before still holds."""

    url: str


@dataclass(frozen=True, slots=True)
class Wanted:
    """A page to fetch, and what is allowed for it: hosts within `domain`, so long a pause, these media types.

    `etag` and `last_modified` are of what was fetched before, so that an unchanged page need not be sent again.
    """

    url: str
    domain: str
    pause_seconds: float
    media_types: tuple[str, ...]
    etag: str | None = None
    last_modified: str | None = None


@dataclass(frozen=True, slots=True)
class Snapshot:
    """What a source said at a time. `id` is 0 before it is kept. `content` is the text that was read, of a norm its JSON.

    `digest` names the content; `version_date` is, of a norm, the day from which this wording holds.
    """

    source_id: str
    kind: str
    url: str
    digest: str
    content: str
    version_date: date | None = None
    etag: str | None = None
    last_modified: str | None = None
    fetched_at: datetime | None = None
    state: SnapshotState = "waiting"
    id: int = 0


@dataclass(frozen=True, slots=True)
class Check:
    """The last look at a source: when, when it last answered (None: never), and how it went."""

    source_id: str
    checked_at: datetime
    reached_at: datetime | None
    outcome: CheckOutcome
    detail: str = ""


class UnknownSnapshotError(NotFound):
    """There is no snapshot of that number."""


class Fetcher(Protocol):
    """Fetches pages politely."""

    def fetch(self, wanted: Wanted) -> Fetched | Unchanged:
        """Give what the address says now. Raises SourceUnreachableError, SourceRefusedError."""
        ...


class Snapshots(Protocol):
    """Keeps what sources said. Every method may raise StoreUnavailableError."""

    def served(self, source_id: str) -> Snapshot | None:
        """Give the one that answers rest on."""
        ...

    def waiting(self) -> Sequence[Snapshot]:
        """Give those that wait for a person, at most one of a source, by source."""
        ...

    def keep(self, snapshot: Snapshot, state: SnapshotState) -> Snapshot:
        """Store it as waiting or served, and give it as it is stored; repeating it changes nothing but the time.

        What is served, and what a person rejected, stays so however often it is kept as waiting. Of a source one snapshot
        waits, the last one; one is served.
        """
        ...

    def serve(self, snapshot_id: int) -> None:
        """Let answers rest on it from now on, and on no other of its source. Raises UnknownSnapshotError."""
        ...

    def check(self, source_id: str, outcome: CheckOutcome, *, reached: bool, detail: str = "") -> None:
        """Remember the look at a source."""
        ...


def digest_of_content(content: str) -> str:
    """Name a content: the same text has the same digest."""
    return hashlib.sha256(content.encode("utf-8", "replace")).hexdigest()
