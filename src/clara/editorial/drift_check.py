"""Comparing what sources say now with what answers rest on. What changed in substance waits for a person."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from time import sleep
from typing import Any

from clara.adapters.boe.client import BoeClient
from clara.adapters.http.alerts import AlertNotTakenError, post_alert
from clara.adapters.http.fetcher import PoliteFetcher
from clara.adapters.postgres.editorial.findings import PostgresFindings
from clara.adapters.postgres.editorial.snapshots import PostgresSnapshots
from clara.container import Container
from clara.editorial.drift import Finding, drift_of_norm, drift_of_page
from clara.editorial.drift_report import brief, entry_of, lines_of
from clara.editorial.intake import Fetch, giving_up, in_folder, in_the_net, looking
from clara.editorial.radius import Touched, blast_radius
from clara.editorial.sources import Check, CheckOutcome, Snapshot, SourceUnreachableError, digest_of_content
from clara.errors import Invalid, NotFound
from clara.knowledge.derivations import read_derivations
from clara.knowledge.law.norm import Norm, norm_as_json, norm_from_json
from clara.knowledge.law.references import absent
from clara.knowledge.procedure import Procedure
from clara.knowledge.retriever_wrappers import madrid_today
from clara.knowledge.sources import RegisteredSource, SourceKind, address_of, read_sources
from clara.processes.run_record import Outcome, recorded
from clara.settings import resources

Say = Callable[[str], None]
Progress = Callable[[int, int], None]
FINE, FINDINGS, COULD_NOT_RUN = 0, 1, 2


JOB = "drift"
PAUSES = (1.0, 5.0)


class NoWebhookError(Invalid):
    """Something shall be posted, and nowhere to. The message names the setting."""


class UnknownSourceError(NotFound):
    """There is no source of that id in data/sources.yaml."""


@dataclass(frozen=True, slots=True)
class Choice:
    """Which sources to look at: all, only those not looked at for too long, one of them, or the norms of a folder."""

    stale: bool = False
    source: str | None = None
    norms: Path | None = None

    def __str__(self) -> str:
        if self.source or self.norms:
            return f"--source {self.source}" if self.source else f"--norms {self.norms}"
        return "--stale" if self.stale else "--all"


@dataclass(frozen=True, slots=True)
class Looked:
    """What a look at one source gave. `open` has the numbers of the findings that wait for a person, by digest."""

    source: RegisteredSource
    outcome: CheckOutcome
    detail: str = ""
    found: tuple[tuple[Finding, tuple[Touched, ...]], ...] = ()
    open: Mapping[str, int] = field(default_factory=dict)
    absent: tuple[Mapping[str, Any], ...] = ()


@dataclass(frozen=True, slots=True)
class Telling:
    """How a look is told: as JSON, posted to a `webhook`, and with `notify` to the operators' when a person has to act."""

    as_json: bool = False
    webhook: str | None = None
    notify: bool = False


def run(services: Container, chosen: Choice, say: Say, progress: Progress, telling: Telling = Telling()) -> int:
    """Look for drift as a recorded job, print and post what was found; give the exit code.

    Raises AlertNotTakenError, and NoWebhookError before anything is looked at.
    """
    operators = services.settings.secret("clara_alert_webhook")
    if telling.notify and not operators:
        raise NoWebhookError("there is nowhere to post; set CLARA_ALERT_WEBHOOK, or give --webhook instead of --notify")
    made: list[Outcome] = []
    fetcher = PoliteFetcher(services.settings.clara_public_url or "")
    gazette = BoeClient(services.settings.boe_base_url)
    reading = giving_up(in_the_net(fetcher, gazette, madrid_today()), services.settings.boe_base_url)
    fetch = in_folder(chosen.norms) if chosen.norms else looking(reading)

    def work() -> Outcome:
        outcome = check_drift(services, chosen, fetch, _silent if telling.as_json else say, progress)
        made.append(outcome)
        return Outcome(outcome.exit_code, brief(outcome.report))

    try:
        code = recorded(services, JOB, str(chosen), work, say=say)
    finally:
        fetcher.close()
        gazette.close()
    for outcome in made:
        if telling.as_json:
            say(json.dumps(outcome.report, ensure_ascii=False))
        for address in filter(None, (telling.webhook, operators if telling.notify and outcome.exit_code else "")):
            _post(address, dict(outcome.report))
    return code


def _post(webhook: str, document: dict[str, Any], wait: Callable[[float], None] = sleep) -> None:
    """Post a report, again after a failure: receivers that restart are back after seconds. Raises AlertNotTakenError."""
    for pause in PAUSES:
        try:
            return post_alert(webhook, document)
        except AlertNotTakenError:
            wait(pause)
    return post_alert(webhook, document)


def _silent(_line: str) -> None:
    """Say nothing."""


def check_drift(services: Container, chosen: Choice, fetch: Fetch, say: Say, progress: Progress) -> Outcome:
    """Look at the chosen sources, record what differs, and say it. Nothing that is served changes.

    Exit code 0: all is as it is served; 1: something waits for a person, could not be reached, or is not held yet; 2: nothing
    could be reached at all. Raises UnknownSourceError, DataError, StoreUnavailableError.
    """
    registry = read_sources(resources() / "data")
    snapshots = PostgresSnapshots(services.engine)
    wanted = _chosen(registry, chosen, {check.source_id: check for check in snapshots.checks()})
    look = _Look(services, snapshots, fetch)
    looked = []
    progress(0, len(wanted))
    for number, source in enumerate(wanted, 1):
        looked.append(look.at(source))
        progress(number, len(wanted))
    stale = stale_sources(list(registry.values()), {check.source_id: check for check in snapshots.checks()}, datetime.now(UTC))
    facts = sorted({touched.fact.id for one in looked for _, radius in one.found for touched in radius})
    turns = look.findings.cited(facts)
    counts = {outcome: sum(one.outcome == outcome for one in looked) for outcome in sorted({one.outcome for one in looked})}
    report = {
        "sources": [entry_of(one, turns) for one in looked],
        "counts": counts,
        "facts": facts,
        "stale": [source.id for source in stale],
    }
    for line in lines_of(report):
        say(line)
    return Outcome(_exit_code(looked, len(wanted)), report)


def stale_sources(sources: Sequence[RegisteredSource], checks: Mapping[str, Check], now: datetime) -> list[RegisteredSource]:
    """Give the sources that have not answered for longer than the registry allows, or never."""
    return [
        source
        for source in sources
        if (check := checks.get(source.id)) is None
        or check.reached_at is None
        or now - check.reached_at > timedelta(days=source.every_days)
    ]


def _chosen(registry: Mapping[str, RegisteredSource], chosen: Choice, checks: Mapping[str, Check]) -> list[RegisteredSource]:
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
    every = list(registry.values())
    return stale_sources(every, checks, datetime.now(UTC)) if chosen.stale else every


def _exit_code(looked: Sequence[Looked], wanted: int) -> int:
    unreachable = sum(one.outcome == "unreachable" for one in looked)
    if wanted and unreachable == wanted:
        return COULD_NOT_RUN
    attention = any(one.outcome in {"substantive", "unreachable", "new"} or one.open or one.absent for one in looked)
    return FINDINGS if attention else FINE


class _Look:
    """Looks at sources one by one."""

    def __init__(self, services: Container, snapshots: PostgresSnapshots, fetch: Fetch) -> None:
        self.findings = PostgresFindings(services.engine)
        self._procedures = tuple(services.snapshot().knowledge.catalogue.procedures.values())
        self._derivations = read_derivations(resources() / "data")
        self._snapshots = snapshots
        self._fetch = fetch

    def at(self, source: RegisteredSource) -> Looked:
        """Look at one source, and remember the look."""
        try:
            looked = self._compared(source, self._fetch(source))
        except SourceUnreachableError as error:
            looked = Looked(source, "unreachable", str(error))
        self._snapshots.check(source.id, looked.outcome, reached=looked.outcome != "unreachable", detail=looked.detail)
        return looked

    def _compared(self, source: RegisteredSource, live: Norm | str) -> Looked:
        served = self._snapshots.served(source.id)
        if served is None:
            return Looked(source, "new", f"nothing is served of it; run `clara ingest --source {source.id}`")
        found = tuple((finding, self._radius(source, finding, live)) for finding in _drift(source, served, live))
        missing = _absent(self._procedures, live) if isinstance(live, Norm) else ()
        if not any(finding.weight == "substantive" for finding, _ in found):
            self.findings.record(source.id, found)
            return Looked(source, "cosmetic" if found else "unchanged", "", found, absent=missing)
        kept = self._snapshots.keep(_snapshot(source, live), "waiting")
        if kept.state == "rejected":
            return Looked(source, "unchanged", "says what a person has rejected", absent=missing)
        numbers = self.findings.record(source.id, found, kept.id)
        return Looked(source, "substantive", "", found, numbers, missing)

    def _radius(self, source: RegisteredSource, finding: Finding, live: Norm | str) -> tuple[Touched, ...]:
        named = {source.url, *((live.eli, live.url) if isinstance(live, Norm) else ())}
        return blast_radius(finding, self._procedures, frozenset(address_of(url) for url in named), self._derivations)


def _drift(source: RegisteredSource, served: Snapshot, live: Norm | str) -> Sequence[Finding]:
    if isinstance(live, Norm):
        return drift_of_norm(norm_from_json(served.content), live)
    return drift_of_page(source.id, served.content, live)


def _absent(procedures: Sequence[Procedure], live: Norm) -> tuple[Mapping[str, Any], ...]:
    """Give the facts that point to a provision which the norm does not have; one that is repealed may be cited as such."""
    facts = (fact for procedure in procedures for fact in procedure.facts)
    found = (one for one in absent(facts, {live.id: live}) if not one.repealed)
    return tuple({"fact": one.fact, "provision": one.provision, "key": one.key} for one in found)


def _snapshot(source: RegisteredSource, live: Norm | str) -> Snapshot:
    content = norm_as_json(live) if isinstance(live, Norm) else live
    kind = SourceKind.NORM.value if isinstance(live, Norm) else source.kind.value
    version = live.updated if isinstance(live, Norm) else None
    return Snapshot(source.id, kind, source.url, digest_of_content(content), content, version)
