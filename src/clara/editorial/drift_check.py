"""Comparing what sources say now with what answers rest on. What changed in substance waits for a person."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from clara.editorial.drift import DriftFinding
from clara.editorial.intake import Looked, SourceComparison, differences, substantive
from clara.editorial.pages import drift_lines, looked_as_json
from clara.editorial.ports import COULD_NOT_RUN, FINDINGS, FINE, JobOutcome, Progress, Say
from clara.editorial.sources import Fetch, Live, SourceCheck, SourceUnreachableError
from clara.errors import NotFound
from clara.knowledge.law.norm import Norm
from clara.knowledge.law.references import absent
from clara.knowledge.procedure import Procedure
from clara.knowledge.sources import RegisteredSource


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


def stale_sources(
    sources: Sequence[RegisteredSource], checks: Mapping[str, SourceCheck], now: datetime
) -> list[RegisteredSource]:
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
