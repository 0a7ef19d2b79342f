"""Sources: what each says now, read from the net or from files, and what was kept of it."""

import hashlib
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import date, datetime
from pathlib import Path
from typing import Final, Literal
from urllib.parse import urlsplit

from clara.editorial.gazette.issues import GazetteFormatError, GazetteUnavailableError, NoIssueError
from clara.errors import Invalid, Refused, Unavailable
from clara.knowledge.law.markdown import read_markdown
from clara.knowledge.law.norm import Norm, UnreadableNormError, norm_as_json
from clara.knowledge.sources import RegisteredSource, SourceKind

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
class PageRequest:
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


def digest_of_content(content: str) -> str:
    """Name a content: the same text has the same digest."""
    return hashlib.sha256(content.encode("utf-8", "replace")).hexdigest()


@dataclass(frozen=True, slots=True)
class Live:
    """What a source says now, as it would be kept; of a norm also the norm."""

    snapshot: Snapshot
    norm: Norm | None = None


class OlderWordingError(Refused):
    """A norm was read in an older wording than the one that is served. Give --accept to serve it all the same."""


# Reads a source, given what is served of it: then it may say that nothing changed. Raises one of FAULTS.
Read = Callable[[RegisteredSource, Snapshot | None], Live | Unchanged]
# Gives the whole state of a source now. Raises SourceUnreachableError.
Fetch = Callable[[RegisteredSource], Live]
# What may be wrong with one source; the others go on.
FAULTS: Final = (
    SourceUnreachableError, SourceRefusedError, DocumentError, UnreadableNormError, GazetteFormatError, GazetteUnavailableError,
    NoIssueError, OlderWordingError, OSError, UnicodeDecodeError,
)  # fmt: skip
# After so many failures in a row a host is asked no more: each takes up to a minute, and the next run asks again.
STRIKES: Final = 3


def live_norm(norm: Norm, url: str) -> Live:
    """Give a norm as it would be kept."""
    content = norm_as_json(norm)
    return Live(Snapshot(norm.id, SourceKind.NORM, url, digest_of_content(content), content, norm.updated), norm)


def in_files(paths: dict[str, Path]) -> Read:
    """Read norms from Markdown files, by their numbers."""

    def read(source: RegisteredSource, served: Snapshot | None) -> Live:
        del served
        path = paths[source.id]
        norm = read_markdown(path.read_text("utf-8"))
        if norm.id != source.id:
            raise UnreadableNormError(f"{path} holds {norm.id}; name the file {norm.id}.md, or correct its identifier")
        return live_norm(norm, norm.url)

    return read


def in_folder(folder: Path) -> Fetch:
    """Read norms from Markdown files named by their numbers, as if that were their live state."""
    return looking(in_files({path.stem: path for path in folder.glob("*.md")}))


def looking(read: Read) -> Fetch:
    """Make one error of all that may be wrong with a source, and ask for its whole state, never whether it changed."""

    def fetch(source: RegisteredSource) -> Live:
        try:
            live = read(source, None)
        except FAULTS as error:
            raise SourceUnreachableError(str(error)) from error
        if isinstance(live, Unchanged):
            raise SourceUnreachableError(f"{live.url} says that nothing changed, without being asked")
        return replace(live, snapshot=replace(live.snapshot, url=source.url, etag=None, last_modified=None))

    return fetch


def giving_up(read: Read, gazette: str) -> Read:
    """Leave the other sources of a host alone once it was out for several in a row; they are not reached, and say so.

    Where as many hosts were out and none has ever answered, it is this machine that is cut off: nothing else is asked.
    `gazette` is the address at which norms are read. A page that is gone, or cannot be read, is no failure of its host.
    """
    strikes: Counter[str] = Counter()
    answered: set[str] = set()

    def sparing(source: RegisteredSource, served: Snapshot | None) -> Live | Unchanged:
        host = urlsplit(gazette if source.kind is SourceKind.NORM else source.url).netloc
        if strikes[host] >= STRIKES:
            raise SourceUnreachableError(f"was not asked: {host} was out {STRIKES} times in a row; run it again later")
        if not answered and len(strikes) >= STRIKES:
            raise SourceUnreachableError(f"was not asked: {len(strikes)} hosts were out and none answers; look at the network")
        try:
            live = read(source, served)
        except (HostOutError, GazetteUnavailableError):
            strikes[host] += 1
            raise
        except FAULTS:
            answer(host)
            raise
        answer(host)
        return live

    def answer(host: str) -> None:
        answered.add(host)
        strikes[host] = 0

    return sparing
