"""What the editorial journey needs from outside. Whatever keeps something may raise CorpusUnavailableError."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import date, datetime
from pathlib import Path
from typing import Any, Final, Protocol, Self

from clara.editorial import records
from clara.editorial.gazette.concerns import Concern
from clara.editorial.gazette.issues import DayReading, GazetteAlert, GazetteDay
from clara.editorial.sources import Snapshot, SnapshotState
from clara.errors import Unavailable
from clara.ingestion.norms import NormIndex
from clara.ingestion.ports import FillableCorpora
from clara.knowledge.freshness import Check
from clara.knowledge.knowledge_base import Knowledge
from clara.knowledge.revisions import Revision
from clara.retrieval.ports import Embedder

Say = Callable[[str], None]
Progress = Callable[[int, int], None]
COULD_NOT_RUN: Final = 2


@dataclass(frozen=True, slots=True)
class JobOutcome:
    """What a job found: exit code 0 fine, 1 findings, 2 could not run; and its report as JSON, without personal data."""

    exit_code: int
    report: Mapping[str, Any]

    @classmethod
    def of(cls, report: Mapping[str, Any], *, failed: bool, attention: bool) -> Self:
        """Tell how a job ended: it could not do what it should, or somebody has to look at what it found."""
        return cls(COULD_NOT_RUN if failed else int(attention), report)


class Snapshots(Protocol):
    """Keeps what sources said, and how looks at them went."""

    def served(self, source_id: str) -> Snapshot | None:
        """Give the one that answers rest on."""

    def keep(self, snapshot: Snapshot, state: SnapshotState) -> Snapshot:
        """Store it as waiting or served, and give it as it is stored; repeating it changes nothing but the time.

        What is served, and what a person rejected, stays so however often it is kept as waiting. Of a source one snapshot
        waits, the last one; one is served.
        """

    def check(self, source_id: str, outcome: str, *, reached: bool, detail: str = "") -> None:
        """Remember the look at a source."""

    def checks(self) -> Sequence[Check]:
        """Give the last look at each source."""


class Findings(Protocol):
    """Keeps what differs, and what a person decided about it."""

    def record(self, source_id: str, found: records.Differences, snapshot_id: int | None = None) -> Mapping[str, int]:
        """Keep what a source differs in, and give the numbers of what waits for a person, by digest.

        What was open and is not found any more is superseded. What was decided stays decided.
        """

    def open(self) -> Sequence[records.KeptFinding]:
        """Give those that nobody has decided, oldest first."""

    def undecided(self) -> Sequence[records.KeptFinding]:
        """Give the accepted ones with facts that nobody has decided about."""

    def find(self, number: int) -> records.KeptFinding:
        """Give one. Raises UnknownFindingError."""

    def cited(self, fact_ids: Sequence[str]) -> Mapping[str, int]:
        """Count the recent answers that quoted these facts."""

    def accept(self, number: int, decided: records.Decided, actor: str, reason: str | None = None) -> records.Settled:
        """Let it be right, with decisions about its facts.

        Raises UnknownFindingError, UntouchedFactError, DecidedFindingError.
        """

    def reject(self, number: int, reason: str, actor: str) -> records.Settled:
        """Let it be wrong. Raises UnknownFindingError, DecidedFindingError."""


class Revisions(Protocol):
    """Keeps people's corrections of facts."""

    def drafts(self) -> Sequence[Revision]:
        """Give those that wait to be published."""

    def of(self, ids: Sequence[int], *, withdrawn: bool = True) -> Sequence[Revision]:
        """Give these by number."""

    def withdraw(self, fact_id: str) -> int:
        """Take back those of a fact; give how many there were."""


class Publications(Protocol):
    """Keeps the versions of the knowledge, each a corpus of its own, one of them served."""

    def served(self, name: str) -> records.ServedVersion:
        """Give what is served under a name."""

    def publications(self, name: str) -> Sequence[records.Publication]:
        """Give every version, newest first."""

    def stage(self, name: str, revisions: Sequence[int]) -> records.Publication:
        """Begin a version that holds these corrections."""

    def switch(self, staged: records.Publication, before: records.ServedVersion, gate: Mapping[str, Any]) -> None:
        """Serve a staged version. Raises ServedChangedError when what is served is not `before` any more."""

    def undo(self, before: records.ServedVersion, target: records.Publication) -> None:
        """Serve an earlier version again. Raises ServedChangedError."""

    def refuse(self, staged: records.Publication, gate: Mapping[str, Any]) -> None:
        """Record that a staged version is not served."""

    def leftovers(self, name: str) -> Sequence[str]:
        """Give the corpora of versions that nobody needs any more."""

    def publishing(self) -> AbstractContextManager[None]:
        """Keep others from publishing. Raises BusyPublishingError."""

    def abandoned(self, name: str) -> Sequence[str]:
        """Give the copies whose process died."""

    def using(self, copy: str) -> AbstractContextManager[None]:
        """Keep a copy from being taken for abandoned."""


class EvidenceRecord(Protocol):
    """Knows everything that was ever served, and when."""

    def since(self, name: str) -> datetime | None:
        """Give when the first version was recorded; None when there is none."""

    def recorded(self, name: str) -> frozenset[str]:
        """Give the ids of all passages that were ever served under a name."""

    def as_of(self, name: str, moment: datetime) -> Sequence[records.KnownPassage]:
        """Give what was served under a name at a moment."""

    def shown(self, name: str, ids: Iterable[str], moment: datetime) -> Mapping[str, records.ShownPassage]:
        """Give what was served of these passages at a moment, and whether it is what is served now."""


class GazetteRecord(Protocol):
    """Keeps the days of the gazette that were read, and the alerts."""

    def known(self) -> Mapping[date, GazetteDay]:
        """Give every day that was ever asked for."""

    def keep(self, reading: DayReading, found: Iterable[Concern], now: datetime) -> Sequence[str]:
        """Keep a day with what concerns us; give the ids of alerts that are new."""

    def alerts(self, ids: Sequence[str] | None = None, *, unseen: bool = False) -> Sequence[GazetteAlert]:
        """Give these alerts, or all that nobody has looked at."""

    def tell(self, post: Callable[[list[GazetteAlert]], None], now: datetime, limit: int = 50) -> Sequence[str]:
        """Give `post` what nobody was told of, and mark it as told if that raises nothing."""

    def seen(self, item_id: str, now: datetime) -> datetime | None:
        """Record that a person has looked at an alert; give when that was first, None when there is none of that id."""


class PublicationVerdict(Protocol):
    """What trying a staged version against the served one came to."""

    @property
    def passed(self) -> bool:
        """Whether it may be served."""

    def as_json(self) -> dict[str, Any]:
        """Give what is kept with the version: `short`, `regressions`, `worse`, `wrong`."""

    def lines(self) -> list[str]:
        """Say it to a person."""


class AlertNotTakenError(Unavailable):
    """The webhook did not take the alerts, so they count as not told and are posted again by the next run."""


# Posts a document to a webhook. Raises AlertNotTakenError.
Post = Callable[[Mapping[str, Any]], None]


@dataclass(frozen=True, slots=True)
class EditorialDesk:
    """What deciding and publishing work with. `served` and `released` give what is known now, and what data/ says.

    `patient` gives what embeds the texts of a corpus of Clara's: what a served model that is out cannot embed is left without a
    vector, which is said.
    """

    snapshots: Snapshots
    findings: Findings
    revisions: Revisions
    publications: Publications
    corpora: FillableCorpora
    norms: NormIndex
    served: Callable[[], Knowledge]
    released: Callable[[], Knowledge]
    data: Path
    patient: Callable[[str, Say], Embedder]
