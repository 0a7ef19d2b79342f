"""Taking in what sources say: read, held against what is served, kept; nothing is indexed here."""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import date
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

from clara.adapters.boe.client import BoeClient
from clara.adapters.boe.consolidated import ConsolidatedLawError, read_consolidated
from clara.adapters.documents.reader import MEDIA_TYPES, text_of
from clara.adapters.postgres.editorial.findings import Differences, PostgresFindings
from clara.adapters.postgres.editorial.snapshots import PostgresSnapshots
from clara.editorial.drift import Finding, drift_of_norm, drift_of_page
from clara.editorial.gazette.issues import GazetteFormatError, GazetteUnavailableError, NoIssueError
from clara.editorial.radius import blast_radius
from clara.editorial.sources import (
    CheckOutcome,
    DocumentError,
    Fetcher,
    HostOutError,
    Snapshot,
    SourceRefusedError,
    SourceUnreachableError,
    Unchanged,
    Wanted,
    digest_of_content,
)
from clara.errors import Refused
from clara.knowledge.derivations import read_derivations
from clara.knowledge.law.markdown import read_markdown
from clara.knowledge.law.norm import Norm, UnreadableNormError, norm_as_json, norm_from_json
from clara.knowledge.procedure import Procedure
from clara.knowledge.sources import RegisteredSource, SourceKind, address_of
from clara.settings import resources


class OlderWordingError(Refused):
    """A norm was read in an older wording than the one that is served. Give --accept to serve it all the same."""


# In whose name `--accept` accepts: a role, for the audit log.
OPERATOR: Final = "cli"
# What may be wrong with one source; the others go on.
FAULTS: Final = (
    SourceUnreachableError, SourceRefusedError, DocumentError, UnreadableNormError, ConsolidatedLawError, GazetteFormatError,
    GazetteUnavailableError, NoIssueError, OlderWordingError, OSError, UnicodeDecodeError,
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Live:
    """What a source says now, as it would be kept; of a norm also the norm."""

    snapshot: Snapshot
    norm: Norm | None = None


# Reads a source, given what is served of it: then it may say that nothing changed. Raises one of FAULTS.
Read = Callable[[RegisteredSource, Snapshot | None], Live | Unchanged]


def in_the_net(fetcher: Fetcher, gazette: BoeClient, today: date) -> Read:
    """Read norms through the gazette's interface for consolidated law, all else as pages."""

    def read(source: RegisteredSource, served: Snapshot | None) -> Live | Unchanged:
        if source.kind is SourceKind.NORM:
            files = gazette.norm(source.id)
            return live_norm(read_consolidated(files.metadata, files.text, today), source.url)
        known = (served.etag, served.last_modified) if served else (None, None)
        wanted = Wanted(source.url, source.domain, source.pause_seconds, MEDIA_TYPES[source.kind], *known)
        fetched = fetcher.fetch(wanted)
        if isinstance(fetched, Unchanged):
            return fetched
        text = text_of(fetched.content, fetched.media_type, source.kind)
        page = Snapshot(source.id, source.kind, source.url, digest_of_content(text), text)
        return Live(replace(page, etag=fetched.etag, last_modified=fetched.last_modified))

    return read


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


def live_norm(norm: Norm, url: str) -> Live:
    """Give a norm as it would be kept."""
    content = norm_as_json(norm)
    return Live(Snapshot(norm.id, SourceKind.NORM, url, digest_of_content(content), content, norm.updated), norm)


@dataclass(frozen=True, slots=True)
class Taken:
    """What taking in a source came to.

    `outcome` compares what it says with what was served; what is substantive waits for a person unless `accepted`. `norm` is
    the one that answers rest on from now on, None for a page.
    """

    source: RegisteredSource
    outcome: CheckOutcome
    accepted: bool = False
    detail: str = ""
    norm: Norm | None = None

    @property
    def waits(self) -> bool:
        """Whether a person has to decide."""
        return self.outcome == "substantive" and not self.accepted


class Intake:
    """Takes in sources one by one. `accept`: an operator wants to serve what they say, whatever changed. `keep`: for real."""

    def __init__(
        self,
        snapshots: PostgresSnapshots,
        findings: PostgresFindings,
        procedures: Sequence[Procedure],
        *,
        accept: bool = False,
        keep: bool = True,
    ) -> None:
        self._snapshots = snapshots
        self._findings = findings
        self._procedures = procedures
        self._derivations = read_derivations(resources() / "data")
        self._accept = accept
        self._keep = keep

    def take(self, source: RegisteredSource, read: Read) -> Taken:
        """Read a source, and keep what it says: served when it is new or changed in nothing that matters. Raises FAULTS.

        Raises StoreUnavailableError.
        """
        served = self._snapshots.served(source.id)
        live = read(source, served)
        if isinstance(live, Unchanged):
            return self._looked(Taken(source, "unchanged"))
        found = differences(source, served, live)
        outcome = outcome_of(served, live, found)
        if outcome != "new" and served is not None and not self._accept:
            _refuse_older(served, live)
        if outcome == "substantive" and not self._accept:
            return self._waiting(source, served, live, found)
        if self._keep:
            if outcome == "substantive":
                self._accepted(source, live, found)
            self._snapshots.keep(live.snapshot, "served")
            self._findings.record(source.id, [(one, ()) for one in found if one.weight == "cosmetic"])
        return self._looked(Taken(source, outcome, outcome == "substantive", "", live.norm))

    def _accepted(self, source: RegisteredSource, live: Live, found: Sequence[Finding]) -> None:
        """Accept every change of substance at once: the facts that they touch stay in doubt until each is decided."""
        kept = self._snapshots.keep(live.snapshot, "waiting")
        for number in self._findings.record(source.id, self._touching(source, live, found), kept.id).values():
            self._findings.accept(number, (), OPERATOR)

    def unreachable(self, source: RegisteredSource, reason: str) -> None:
        """Remember that a source could not be read."""
        if self._keep:
            self._snapshots.check(source.id, "unreachable", reached=False, detail=reason)

    def _waiting(self, source: RegisteredSource, served: Snapshot | None, live: Live, found: Sequence[Finding]) -> Taken:
        """Keep a change of substance for a person, unless one has rejected these very words."""
        norm = norm_from_json(served.content) if served is not None and live.norm is not None else None
        if self._keep:
            kept = self._snapshots.keep(live.snapshot, "waiting")
            if kept.state == "rejected":
                return self._looked(Taken(source, "unchanged", detail="says what a person has rejected", norm=norm))
            self._findings.record(source.id, self._touching(source, live, found), kept.id)
        changed = sum(one.weight == "substantive" for one in found)
        detail = f"{changed} changes wait: `clara review list`; what was served stays"
        return self._looked(Taken(source, "substantive", detail=detail, norm=norm))

    def _touching(self, source: RegisteredSource, live: Live, found: Sequence[Finding]) -> Differences:
        addresses = frozenset(address_of(url) for url in _addresses(source, live))
        return [(one, blast_radius(one, self._procedures, addresses, self._derivations)) for one in found]

    def _looked(self, taken: Taken) -> Taken:
        if self._keep:
            self._snapshots.check(taken.source.id, taken.outcome, reached=True, detail=taken.detail)
        return taken


def differences(source: RegisteredSource, served: Snapshot | None, live: Live) -> Sequence[Finding]:
    """Give what differs from what is served; nothing where nothing is."""
    if served is None or served.digest == live.snapshot.digest:
        return ()
    if live.norm is not None:
        return drift_of_norm(norm_from_json(served.content), live.norm)
    return drift_of_page(source.id, served.content, live.snapshot.content)


def outcome_of(served: Snapshot | None, live: Live, found: Sequence[Finding]) -> CheckOutcome:
    """Weigh what a source says against what is served."""
    if served is None:
        return "new"
    if served.digest == live.snapshot.digest:
        return "unchanged"
    return "substantive" if any(one.weight == "substantive" for one in found) else "cosmetic"


def _refuse_older(served: Snapshot, live: Live) -> None:
    before, now = served.version_date, live.snapshot.version_date
    if before is not None and now is not None and now < before:
        raise OlderWordingError(f"is of {now}, older than what is served, {before}; give --accept to serve it all the same")


def _addresses(source: RegisteredSource, live: Live) -> tuple[str, ...]:
    return (source.url, live.norm.eli, live.norm.url) if live.norm is not None else (source.url,)


# Gives a norm or the text of a page as it is now. Raises SourceUnreachableError.
Fetch = Callable[[RegisteredSource], Norm | str]
# After so many failures in a row a host is asked no more: each takes up to a minute, and the next run asks again.
STRIKES: Final = 3


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


def looking(read: Read) -> Fetch:
    """Make one error of all that may be wrong with a source, and ask for its whole state, never whether it changed."""

    def fetch(source: RegisteredSource) -> Norm | str:
        try:
            live = read(source, None)
        except FAULTS as error:
            raise SourceUnreachableError(str(error)) from error
        if isinstance(live, Unchanged):
            raise SourceUnreachableError(f"{live.url} says that nothing changed, without being asked")
        return live.norm or live.snapshot.content

    return fetch


def in_folder(folder: Path) -> Fetch:
    """Read norms from Markdown files named by their numbers, as if that were their live state."""
    return looking(in_files({path.stem: path for path in folder.glob("*.md")}))
