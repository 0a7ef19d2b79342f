"""The editorial journey's jobs as they are started: one run of each at a time, recorded, and told to whoever asked."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from time import sleep
from typing import Any, Final

from clara.adapters.http.alerts import post_alert
from clara.adapters.postgres.editorial.findings import PostgresSnapshots
from clara.adapters.postgres.operations.audit import PostgresAudit
from clara.adapters.postgres.operations.runs import PostgresRuns
from clara.container import Container
from clara.editorial import publication
from clara.editorial.gazette.watch import DayChoice, WatchError, watched_by
from clara.editorial.intake import SourceChoice
from clara.editorial.pages import brief
from clara.editorial.ports import AlertNotTakenError, EditorialDesk, JobOutcome, Progress, Say
from clara.editorial.source_ingestion import IngestionChoice, IngestionMeans, Stages, ingest_chosen
from clara.errors import Invalid
from clara.ingestion.journey import IngestionReport
from clara.processes.editorial import build_editorial, build_norms
from clara.processes.ingestion_workers import WorkerCrew
from clara.processes.preparation import fill
from clara.processes.run_record import recorded
from clara.processes.source_readers import looking_at_sources, reading_the_net, watching_the_gazette
from clara.quality.publication_gate import PublicationGate, Verdict

PAUSES: Final = (1.0, 5.0)
# What became of an act, for the audit log; where nothing was to do there is none.
OUTCOMES: Final = {"served": "done", "withdrawn": "done", "refused": "refused"}


@dataclass(frozen=True, slots=True)
class Telling:
    """How a run is told: in lines, as JSON, posted to a `webhook`, and with `notify` to the operators' one."""

    say: Say
    as_json: Say | None = None
    webhook: str = ""
    notify: bool = False


@dataclass(frozen=True, slots=True)
class PublicationChoice:
    """What to do: publish, on whose behalf, or only say what that would change; or go one of the ways back."""

    by: str = "cli"
    dry_run: bool = False
    undo: bool = False
    withdraw: str | None = None

    @property
    def job(self) -> str:
        """Give the name of the job: each way back has its own, so that it fails while a publication goes on."""
        return "undo" if self.undo else "withdraw" if self.withdraw else "publish"


class NoWebhookError(Invalid):
    """Something shall be posted, and nowhere to. The message names the setting."""


def check_drift(container: Container, chosen: SourceChoice, telling: Telling, progress: Progress) -> int:
    """Look for drift, print and post what was found; give the exit code. Operators are told when they must act.

    Raises AlertNotTakenError, and NoWebhookError before anything is looked at.
    """
    operators = container.settings.secret("clara_alert_webhook")
    if telling.notify and not operators:
        raise NoWebhookError("there is nowhere to post; set CLARA_ALERT_WEBHOOK, or give --webhook instead of --notify")
    made: list[JobOutcome] = []
    editorial = build_editorial(container)

    def work() -> JobOutcome:
        with looking_at_sources(container, chosen.norms) as fetch:
            made.append(editorial.look(chosen, fetch, telling.say, progress))
        return JobOutcome(made[0].exit_code, brief(made[0].report))

    code = recorded(PostgresRuns(container.engine), "drift", str(chosen), work, say=telling.as_json or telling.say)
    for outcome in made:
        if telling.as_json:
            telling.as_json(json.dumps(outcome.report, ensure_ascii=False))
        for address in filter(None, (telling.webhook, operators if telling.notify and outcome.exit_code else "")):
            post_again(address, outcome.report)
    return code


def post_again(webhook: str, document: Mapping[str, Any], wait: Callable[[float], None] = sleep) -> None:
    """Post a report, again after a failure: receivers that restart are back after seconds. Raises AlertNotTakenError."""
    for pause in PAUSES:
        try:
            return post_alert(webhook, document)
        except AlertNotTakenError:
            wait(pause)
    return post_alert(webhook, document)


def watch_gazette(container: Container, chosen: DayChoice, telling: Telling, progress: Progress) -> int:
    """Read what is missing of the gazette, and with `notify` post new alerts, each once; give the exit code.

    Raises WatchError, DataError, CorpusUnavailableError.
    """
    address = telling.webhook or container.settings.secret("clara_alert_webhook")

    def work() -> JobOutcome:
        if telling.notify and not address:
            raise WatchError("there is nowhere to post alerts; set CLARA_ALERT_WEBHOOK, or give --webhook")
        watched = watched_by(container.snapshot().knowledge.catalogue, container.data, telling.say)
        with watching_the_gazette(container, address if telling.notify else "") as watch:
            outcome = watch.run(chosen, watched, telling.say, progress)
        if telling.as_json:
            telling.as_json(json.dumps(outcome.report, ensure_ascii=False, indent=2))
        return outcome

    arguments = f"{chosen}{' --notify' if telling.notify else ''}"
    return recorded(PostgresRuns(container.engine), "boe", arguments, work, say=telling.say)


def ingest_sources(
    container: Container, chosen: IngestionChoice, say: Say, progress: Stages, tell: Callable[[JobOutcome], None]
) -> int:
    """Ingest what was chosen, `tell` how it ended, and give the exit code.

    A dry run does nothing and is not recorded. Nor is data/ alone, which every start of a new release ingests: it must not be
    passed over because a long run is at work.
    """

    def work() -> JobOutcome:
        with reading_the_net(container) as read:
            outcome = ingest_chosen(build_means(container), chosen, read, say, progress)
        tell(outcome)
        return replace(outcome, report={name: value for name, value in outcome.report.items() if name != "unchanged"})

    return (
        work().exit_code if chosen.alone else recorded(PostgresRuns(container.engine), "ingestion", str(chosen), work, say=say)
    )


def build_means(container: Container) -> IngestionMeans:
    """Build what an ingestion works with."""
    engine = container.engine

    def filled(chosen: IngestionChoice, say: Say, progress: Stages) -> IngestionReport:
        return fill(
            container, say, dry_run=chosen.dry_run, anew=chosen.anew, progress=lambda done, of: progress("passages", done, of)
        )

    return IngestionMeans(
        build_editorial(container),
        build_norms(container),
        filled,
        lambda source: PostgresAudit(engine).record("cli", "ingest --accept", source),
        lambda run, size: WorkerCrew(str(container.database_url), PostgresSnapshots(engine), run, size),
    )


def publish(container: Container, chosen: PublicationChoice, telling: Telling, progress: Progress) -> int:
    """Publish, or go one of the ways back, and note it in the audit log; give the exit code."""
    desk = build_editorial(container).desk

    def work() -> JobOutcome:
        done = _acted(container, desk, chosen, telling.say, progress)
        if telling.as_json:
            telling.as_json(json.dumps(done.report, ensure_ascii=False, indent=1))
        if not chosen.dry_run and (outcome := OUTCOMES.get(done.report["state"])):
            subject = f"fact {chosen.withdraw}" if chosen.withdraw else f"publication {done.report['publication']}"
            PostgresAudit(container.engine).record("cli", chosen.job, subject, outcome)
        return done

    if chosen.dry_run:
        return work().exit_code
    return recorded(PostgresRuns(container.engine), chosen.job, chosen.withdraw or "", work, say=telling.say)


def _acted(container: Container, desk: EditorialDesk, chosen: PublicationChoice, say: Say, progress: Progress) -> JobOutcome:
    def judge(before: publication.Candidate, staged: publication.Candidate) -> Verdict:
        return PublicationGate(container.snapshot(), say, progress).held_against(before, staged)

    if chosen.dry_run:
        return publication.rehearse(desk, say)
    if chosen.undo:
        return publication.undo(desk, say)
    if chosen.withdraw is not None:
        return publication.withdraw(desk, chosen.withdraw, say)
    return publication.publish(desk, judge, chosen.by, say, progress)
