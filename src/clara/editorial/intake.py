"""The first step of the journey: what sources say is held against what answers rest on, and becomes findings or is served.

What changed in substance waits for a person, whether it was looked at (`DriftCheck`) or taken in (`Intake`).
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Final, Literal

from clara.editorial.drift import DriftFinding, blast_radius, drift_of_norm, drift_of_page
from clara.editorial.pages import looked_as_json, page
from clara.editorial.ports import Findings, JobOutcome, Progress, Say, Snapshots
from clara.editorial.records import Differences, Looked
from clara.editorial.sources import Fetch, Live, OlderWordingError, Read, Snapshot, SourceUnreachableError, Unchanged
from clara.errors import NotFound
from clara.ingestion.journey import IngestionReport
from clara.knowledge.derivations import Derivations
from clara.knowledge.law.norm import Norm, norm_from_json
from clara.knowledge.law.references import absent
from clara.knowledge.procedure import Procedure
from clara.knowledge.sources import RegisteredSource, address_of

# In whose name `--accept` accepts: a role, for the audit log.
OPERATOR = "cli"
COUNTED: Final = ("written", "embedded", "dropped", "kept")
REJECTED: Final = "says what a person has rejected"


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
    """What became of a source that was read.

    `outcome` compares what it says with what was served: what changed in substance was accepted, or is waiting for a person.
    `norm` is the one that answers rest on from now on, None for a page. `settled` is what bringing it into the index did;
    `queued`: others are to do that.
    """

    source: RegisteredSource
    outcome: Literal["new", "unchanged", "cosmetic", "substantive", "waiting", "failed"]
    detail: str = ""
    norm: Norm | None = None
    settled: IngestionReport | None = None
    queued: bool = False

    def as_json(self) -> dict[str, Any]:
        """Give the same as JSON."""
        counts = {name: getattr(self.settled, name) for name in (*COUNTED, "seconds")} if self.settled else {}
        return {"source": self.source.id, "outcome": self.outcome, "detail": self.detail, **counts}


@dataclass(frozen=True, slots=True)
class Intake:
    """Takes in sources one by one. `accept`: an operator wants to serve what they say, whatever changed. `keep`: for real."""

    comparison: SourceComparison
    accept: bool = False
    keep: bool = True

    def take(self, source: RegisteredSource, read: Read) -> TakenSource:
        """Read a source, and keep what it says: served when it is new or changed in nothing that matters. Raises FAULTS.

        Raises CorpusUnavailableError.
        """
        served = self.comparison.snapshots.served(source.id)
        live = read(source, served)
        taken = TakenSource(source, "unchanged") if isinstance(live, Unchanged) else self._held(source, served, live)
        if self.keep:
            outcome = "substantive" if taken.outcome == "waiting" else taken.outcome
            self.comparison.snapshots.check(source.id, outcome, reached=True, detail=taken.detail)
        return taken

    def unreachable(self, source: RegisteredSource, reason: str) -> None:
        """Remember that a source could not be read."""
        if self.keep:
            self.comparison.snapshots.check(source.id, "unreachable", reached=False, detail=reason)

    def _held(self, source: RegisteredSource, served: Snapshot | None, live: Live) -> TakenSource:
        """Hold what a source says against what is served."""
        found = differences(source, served, live)
        changed = substantive(found)
        if served is not None and not self.accept:
            _refuse_older(served, live)
            if changed:
                return self._waiting(source, served, live, found)
        if self.keep:
            findings = self.comparison.findings
            if changed:  # accepted at once: the facts that it touches stay in doubt until each is decided
                kept = self.comparison.snapshots.keep(live.snapshot, "waiting")
                for number in findings.record(source.id, self.comparison.touching(source, live, found), kept.id).values():
                    findings.accept(number, (), OPERATOR)
            self.comparison.snapshots.keep(live.snapshot, "served")
            findings.record(source.id, [(one, ()) for one in found if one.weight == "cosmetic"])
        if served is None:
            return TakenSource(source, "new", norm=live.norm)
        same = served.digest == live.snapshot.digest
        return TakenSource(source, "unchanged" if same else "substantive" if changed else "cosmetic", norm=live.norm)

    def _waiting(self, source: RegisteredSource, served: Snapshot, live: Live, found: Sequence[DriftFinding]) -> TakenSource:
        norm = norm_from_json(served.content) if live.norm is not None else None
        if self.keep and self.comparison.wait(source, live, self.comparison.touching(source, live, found)) is None:
            return TakenSource(source, "unchanged", REJECTED, norm)
        detail = f"{substantive(found)} changes wait: `clara review list`; what was served stays"
        return TakenSource(source, "waiting", detail, norm)


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


@dataclass(frozen=True, slots=True)
class DriftCheck:
    """Looks at sources one by one, and remembers the looks. Nothing that is served changes."""

    comparison: SourceComparison
    registry: Mapping[str, RegisteredSource]
    fetch: Fetch

    def run(self, chosen: SourceChoice, say: Say, progress: Progress) -> JobOutcome:
        """Look at the chosen sources, record what differs, and say it.

        Exit code 0: all is as it is served; 1: something waits for a person, could not be reached, or is not held yet; 2:
        nothing could be reached at all. Raises UnknownSourceError, DataError, CorpusUnavailableError.
        """
        wanted = self._chosen(chosen)
        looked: list[Looked] = []
        for source in wanted:
            progress(len(looked), len(wanted))
            looked.append(self._at(source))
        progress(len(wanted), len(wanted))
        facts = sorted({touched.fact.id for one in looked for _, radius in one.found for touched in radius})
        turns = self.comparison.findings.cited(facts)
        outcomes = Counter(one.outcome for one in looked)
        report = {
            "sources": [looked_as_json(one, turns) for one in looked],
            "counts": dict(sorted(outcomes.items())),
            "facts": facts,
            "stale": [source.id for source in self._stale()],
        }
        say(page("drift", report))
        attention = outcomes.keys() & {"substantive", "unreachable", "new"} or any(one.open or one.absent for one in looked)
        return JobOutcome.of(report, failed=outcomes.keys() == {"unreachable"}, attention=bool(attention))

    def _at(self, source: RegisteredSource) -> Looked:
        """Look at one source, and remember the look."""
        try:
            looked = self._compared(source, self.fetch(source))
        except SourceUnreachableError as error:
            looked = Looked(source, "unreachable", str(error))
        reached = looked.outcome != "unreachable"
        self.comparison.snapshots.check(source.id, looked.outcome, reached=reached, detail=looked.detail)
        return looked

    def _compared(self, source: RegisteredSource, live: Live) -> Looked:
        served = self.comparison.snapshots.served(source.id)
        if served is None:
            return Looked(source, "new", f"nothing is served of it; run `clara ingest --source {source.id}`")
        differing = differences(source, served, live)
        found = self.comparison.touching(source, live, differing)
        missing = _absent(self.comparison.procedures, live.norm) if live.norm is not None else ()
        if not substantive(differing):
            self.comparison.findings.record(source.id, found)
            return Looked(source, "cosmetic" if found else "unchanged", "", found, absent=missing)
        numbers = self.comparison.wait(source, live, found)
        if numbers is None:
            return Looked(source, "unchanged", REJECTED, absent=missing)
        return Looked(source, "substantive", "", found, numbers, missing)

    def _chosen(self, chosen: SourceChoice) -> list[RegisteredSource]:
        registry = self.registry
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
        """Give the sources that have not answered for longer than the registry allows, or never."""
        reached = {check.source_id: check.reached_at for check in self.comparison.snapshots.checks()}
        now = datetime.now(UTC)
        return [
            source
            for source in self.registry.values()
            if (last := reached.get(source.id)) is None or now - last > timedelta(days=source.every_days)
        ]


def _absent(procedures: Sequence[Procedure], live: Norm) -> tuple[Mapping[str, Any], ...]:
    """Give the facts that point to a provision which the norm does not have; one that is repealed may be cited as such."""
    facts = (fact for procedure in procedures for fact in procedure.facts)
    found = (one for one in absent(facts, {live.id: live}) if not one.repealed)
    return tuple({"fact": one.fact, "provision": one.provision, "key": one.key} for one in found)
