"""The first step of the journey: what sources say is held against what answers rest on, and becomes findings or is served.

What changed in substance waits for a person, whether it was looked at (`DriftCheck`) or taken in (`Intake`).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from clara.editorial.drift import DriftFinding, blast_radius, drift_of_norm, drift_of_page
from clara.editorial.pages import drift_lines, looked_as_json
from clara.editorial.ports import COULD_NOT_RUN, FINDINGS, FINE, Findings, JobOutcome, Progress, Say, Snapshots
from clara.editorial.records import Differences, Looked
from clara.editorial.sources import (
    CheckOutcome,
    Fetch,
    Live,
    OlderWordingError,
    Read,
    Snapshot,
    SourceUnreachableError,
    Unchanged,
)
from clara.errors import NotFound
from clara.knowledge.derivations import Derivations
from clara.knowledge.freshness import Check
from clara.knowledge.law.norm import Norm, norm_from_json
from clara.knowledge.law.references import absent
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


class UnknownSourceError(NotFound):
    """There is no source of that id in data/sources.yaml."""


@dataclass(frozen=True, slots=True)
class SourceChoice:
    """Which sources to look at: all, only those not looked at for too long, one of them, or the norms of a folder."""

    stale: bool = False
    source: str | None = None
    norms: Path | None = None

    def __str__(self) -> str:
        if self.source or self.norms:
            return f"--source {self.source}" if self.source else f"--norms {self.norms}"
        return "--stale" if self.stale else "--all"


class DriftCheck:
    """Looks at sources one by one, and remembers the looks. Nothing that is served changes."""

    def __init__(self, comparison: SourceComparison, registry: Mapping[str, RegisteredSource], fetch: Fetch) -> None:
        self._comparison = comparison
        self._registry = registry
        self._fetch = fetch

    def run(self, chosen: SourceChoice, say: Say, progress: Progress) -> JobOutcome:
        """Look at the chosen sources, record what differs, and say it.

        Exit code 0: all is as it is served; 1: something waits for a person, could not be reached, or is not held yet; 2:
        nothing could be reached at all. Raises UnknownSourceError, DataError, CorpusUnavailableError.
        """
        wanted = self._chosen(chosen)
        looked = []
        progress(0, len(wanted))
        for number, source in enumerate(wanted, 1):
            looked.append(self.at(source))
            progress(number, len(wanted))
        facts = sorted({touched.fact.id for one in looked for _, radius in one.found for touched in radius})
        turns = self._comparison.findings.cited(facts)
        counts = {outcome: sum(one.outcome == outcome for one in looked) for outcome in sorted({one.outcome for one in looked})}
        report = {
            "sources": [looked_as_json(one, turns) for one in looked],
            "counts": counts,
            "facts": facts,
            "stale": [source.id for source in self._stale()],
        }
        for line in drift_lines(report):
            say(line)
        return JobOutcome(_exit_code(looked, len(wanted)), report)

    def at(self, source: RegisteredSource) -> Looked:
        """Look at one source, and remember the look."""
        try:
            looked = self._compared(source, self._fetch(source))
        except SourceUnreachableError as error:
            looked = Looked(source, "unreachable", str(error))
        reached = looked.outcome != "unreachable"
        self._comparison.snapshots.check(source.id, looked.outcome, reached=reached, detail=looked.detail)
        return looked

    def _compared(self, source: RegisteredSource, live: Live) -> Looked:
        served = self._comparison.snapshots.served(source.id)
        if served is None:
            return Looked(source, "new", f"nothing is served of it; run `clara ingest --source {source.id}`")
        differing: Sequence[DriftFinding] = differences(source, served, live)
        found = self._comparison.touching(source, live, differing)
        missing = _absent(self._comparison.procedures, live.norm) if live.norm is not None else ()
        if not substantive(differing):
            self._comparison.findings.record(source.id, found)
            return Looked(source, "cosmetic" if found else "unchanged", "", found, absent=missing)
        numbers = self._comparison.wait(source, live, found)
        if numbers is None:
            return Looked(source, "unchanged", "says what a person has rejected", absent=missing)
        return Looked(source, "substantive", "", found, numbers, missing)

    def _chosen(self, chosen: SourceChoice) -> list[RegisteredSource]:
        registry = self._registry
        if chosen.source is not None:
            if chosen.source not in registry:
                raise UnknownSourceError(f"there is no source {chosen.source!r}; data/sources.yaml names those there are")
            return [registry[chosen.source]]
        if chosen.norms is not None:
            names = sorted(path.stem for path in chosen.norms.glob("*.md"))
            if not names:
                raise UnknownSourceError(f"{chosen.norms} holds no norm as Markdown (BOE-A-....md)")
            if strange := [name for name in names if name not in registry]:
                raise UnknownSourceError(
                    f"{chosen.norms}/{strange[0]}.md is no source of data/sources.yaml; add it, or move the file"
                )
            return [registry[name] for name in names]
        return self._stale() if chosen.stale else list(registry.values())

    def _stale(self) -> list[RegisteredSource]:
        checks = {check.source_id: check for check in self._comparison.snapshots.checks()}
        return stale_sources(list(self._registry.values()), checks, datetime.now(UTC))


def stale_sources(sources: Sequence[RegisteredSource], checks: Mapping[str, Check], now: datetime) -> list[RegisteredSource]:
    """Give the sources that have not answered for longer than the registry allows, or never."""
    return [
        source
        for source in sources
        if (check := checks.get(source.id)) is None
        or check.reached_at is None
        or now - check.reached_at > timedelta(days=source.every_days)
    ]


def _exit_code(looked: Sequence[Looked], wanted: int) -> int:
    unreachable = sum(one.outcome == "unreachable" for one in looked)
    if wanted and unreachable == wanted:
        return COULD_NOT_RUN
    attention = any(one.outcome in {"substantive", "unreachable", "new"} or one.open or one.absent for one in looked)
    return FINDINGS if attention else FINE


def _absent(procedures: Sequence[Procedure], live: Norm) -> tuple[Mapping[str, Any], ...]:
    """Give the facts that point to a provision which the norm does not have; one that is repealed may be cited as such."""
    facts = (fact for procedure in procedures for fact in procedure.facts)
    found = (one for one in absent(facts, {live.id: live}) if not one.repealed)
    return tuple({"fact": one.fact, "provision": one.provision, "key": one.key} for one in found)
