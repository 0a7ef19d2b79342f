"""The first step of the journey: what a source says now is held against what answers rest on, and becomes findings."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from clara.editorial.drift import DriftFinding, drift_of_norm, drift_of_page
from clara.editorial.findings import Differences
from clara.editorial.ports import Findings, Snapshots
from clara.editorial.radius import blast_radius
from clara.editorial.sources import CheckOutcome, Live, OlderWordingError, Read, Snapshot, Unchanged
from clara.knowledge.derivations import Derivations
from clara.knowledge.law.norm import Norm, norm_from_json
from clara.knowledge.procedure import Procedure
from clara.knowledge.sources import RegisteredSource, address_of

# In whose name `--accept` accepts: a role, for the audit log.
OPERATOR = "cli"


@dataclass(frozen=True, slots=True)
class SourceComparison:
    """What sources are held against: what is kept of them, and the facts that rest on it."""

    snapshots: Snapshots
    findings: Findings
    procedures: Sequence[Procedure]
    derivations: Derivations

    def touching(self, source: RegisteredSource, live: Live, found: Sequence[DriftFinding]) -> Differences:
        """Give each difference with the facts that it touches."""
        named = (source.url, live.norm.eli, live.norm.url) if live.norm is not None else (source.url,)
        addresses = frozenset(address_of(url) for url in named)
        return [(one, blast_radius(one, self.procedures, addresses, self.derivations)) for one in found]

    def wait(self, source: RegisteredSource, live: Live, found: Differences) -> Mapping[str, int] | None:
        """Keep a change of substance for a person; None where one has rejected these very words. Give its findings' numbers."""
        kept = self.snapshots.keep(live.snapshot, "waiting")
        return None if kept.state == "rejected" else self.findings.record(source.id, found, kept.id)


@dataclass(frozen=True, slots=True)
class Looked:
    """What a look at one source gave. `open` has the numbers of the findings that wait for a person, by digest."""

    source: RegisteredSource
    outcome: CheckOutcome
    detail: str = ""
    found: Differences = ()
    open: Mapping[str, int] = field(default_factory=dict)
    absent: tuple[Mapping[str, Any], ...] = ()


def differences(source: RegisteredSource, served: Snapshot | None, live: Live) -> Sequence[DriftFinding]:
    """Give what differs from what is served; nothing where nothing is."""
    if served is None or served.digest == live.snapshot.digest:
        return ()
    if live.norm is not None:
        return drift_of_norm(norm_from_json(served.content), live.norm)
    return drift_of_page(source.id, served.content, live.snapshot.content)


def substantive(found: Sequence[DriftFinding]) -> int:
    """Count what changed in substance."""
    return sum(one.weight == "substantive" for one in found)


@dataclass(frozen=True, slots=True)
class TakenSource:
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

    def __init__(self, comparison: SourceComparison, *, accept: bool = False, keep: bool = True) -> None:
        self._comparison = comparison
        self._accept = accept
        self._keep = keep

    def take(self, source: RegisteredSource, read: Read) -> TakenSource:
        """Read a source, and keep what it says: served when it is new or changed in nothing that matters. Raises FAULTS.

        Raises CorpusUnavailableError.
        """
        served = self._comparison.snapshots.served(source.id)
        live = read(source, served)
        if isinstance(live, Unchanged):
            return self._looked(TakenSource(source, "unchanged"))
        found = differences(source, served, live)
        outcome = _outcome_of(served, live, found)
        if outcome != "new" and served is not None and not self._accept:
            _refuse_older(served, live)
        if outcome == "substantive" and not self._accept:
            return self._waiting(source, served, live, found)
        if self._keep:
            if outcome == "substantive":
                self._accepted(source, live, found)
            self._comparison.snapshots.keep(live.snapshot, "served")
            self._comparison.findings.record(source.id, [(one, ()) for one in found if one.weight == "cosmetic"])
        return self._looked(TakenSource(source, outcome, outcome == "substantive", "", live.norm))

    def unreachable(self, source: RegisteredSource, reason: str) -> None:
        """Remember that a source could not be read."""
        if self._keep:
            self._comparison.snapshots.check(source.id, "unreachable", reached=False, detail=reason)

    def _accepted(self, source: RegisteredSource, live: Live, found: Sequence[DriftFinding]) -> None:
        """Accept every change of substance at once: the facts that they touch stay in doubt until each is decided."""
        kept = self._comparison.snapshots.keep(live.snapshot, "waiting")
        touching = self._comparison.touching(source, live, found)
        for number in self._comparison.findings.record(source.id, touching, kept.id).values():
            self._comparison.findings.accept(number, (), OPERATOR)

    def _waiting(
        self, source: RegisteredSource, served: Snapshot | None, live: Live, found: Sequence[DriftFinding]
    ) -> TakenSource:
        norm = norm_from_json(served.content) if served is not None and live.norm is not None else None
        if self._keep and self._comparison.wait(source, live, self._comparison.touching(source, live, found)) is None:
            return self._looked(TakenSource(source, "unchanged", detail="says what a person has rejected", norm=norm))
        detail = f"{substantive(found)} changes wait: `clara review list`; what was served stays"
        return self._looked(TakenSource(source, "substantive", detail=detail, norm=norm))

    def _looked(self, taken: TakenSource) -> TakenSource:
        if self._keep:
            self._comparison.snapshots.check(taken.source.id, taken.outcome, reached=True, detail=taken.detail)
        return taken


def _outcome_of(served: Snapshot | None, live: Live, found: Sequence[DriftFinding]) -> CheckOutcome:
    """Weigh what a source says against what is served."""
    if served is None:
        return "new"
    if served.digest == live.snapshot.digest:
        return "unchanged"
    return "substantive" if substantive(found) else "cosmetic"


def _refuse_older(served: Snapshot, live: Live) -> None:
    before, now = served.version_date, live.snapshot.version_date
    if before is not None and now is not None and now < before:
        raise OlderWordingError(f"is of {now}, older than what is served, {before}; give --accept to serve it all the same")
