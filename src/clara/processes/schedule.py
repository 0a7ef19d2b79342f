"""What runs by itself, when, and how late it may be: one table for the schedule and for /health."""

import subprocess
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import timedelta
from threading import Event
from time import monotonic
from typing import Final

import structlog
from sqlalchemy import Engine

from clara.adapters.postgres.connections import plain_url
from clara.adapters.postgres.operations.runs import Expected, PostgresRuns
from clara.adapters.procrastinate.schedule import InterruptedRunError, PeriodicWorker
from clara.container import Container
from clara.processes.children import end_process, start_command
from clara.settings import Settings, child_environment
from clara.web.health import Part

HOUR: Final = 3600.0
# How often it is looked whether a child has ended, or should.
LOOK_SECONDS: Final = 0.2
# A job keeps what it has done, so it may be ended at any moment; this long it gets to say so.
GRACE_SECONDS: Final = 3.0
log = structlog.get_logger()


@dataclass(frozen=True, slots=True)
class Scheduled:
    """A job that runs by itself: a command of Clara's, when it is due, how long it may take, how old its success may be.

    Its name is that of its rows in job_runs.
    """

    job: str
    cron: str
    arguments: tuple[str, ...]
    most_seconds: float
    allowed_days: float


# The gazette appears between 7:00 and 8:00, an extra issue at any hour. A quiet Sunday, and a day on which it cannot be read,
# are no alarm; three days are. The heavy ones run when hardly anybody writes.
SCHEDULES: Final = {
    "rag_boe_monitor_enabled": Scheduled("boe", "10 8,9,11,14,20 * * *", ("boe", "--check", "--notify"), HOUR, 3),
    "rag_drift_check_enabled": Scheduled("drift", "40 2 * * *", ("drift", "--stale"), 3 * HOUR, 3),
    "rag_ingestion_enabled": Scheduled("ingestion", "20 4 * * 0", ("ingest", "--all"), 8 * HOUR, 10),
}


def enabled(settings: Settings) -> tuple[Scheduled, ...]:
    """Give what is switched on. Drift reminds people of what waits where an address for alerts is set."""
    chosen = [scheduled for flag, scheduled in SCHEDULES.items() if getattr(settings, flag)]
    reminding = settings.clara_alert_webhook is not None
    return tuple(
        replace(one, arguments=(*one.arguments, "--notify")) if one.job == "drift" and reminding else one for one in chosen
    )


@contextmanager
def scheduling(container: Container) -> Iterator[None]:
    """Run what is switched on while the block lasts; with nothing switched on there is no schedule at all."""
    worker = build_schedule(container, enabled(container.settings))
    if worker is None:
        yield
        return
    worker.start()
    try:
        yield
    finally:
        worker.stop()


def build_schedule(container: Container, chosen: Sequence[Scheduled]) -> PeriodicWorker | None:
    """Build what runs the chosen jobs when they are due, each in a process of its own; None when none was chosen."""
    if not chosen:
        return None
    environment = child_environment(OMP_NUM_THREADS="1", RAG_DB_URL=str(container.database_url))
    by_name = {scheduled.job: scheduled for scheduled in chosen}

    def run(job: str, stopped: Event) -> None:
        run_beside(by_name[job], environment, stopped)

    due = {scheduled.job: scheduled.cron for scheduled in chosen}
    return PeriodicWorker(plain_url(str(container.database_url)), due, run)


def run_beside(scheduled: Scheduled, environment: Mapping[str, str], stopped: Event) -> int:
    """Run the command in a process of its own, in a group of its own; give its status. Raises InterruptedRunError.

    It is ended when it takes too long, when `stopped` is set, and, because it watches its standard input, when this process
    ends in whatever way.
    """
    log.info("scheduled job begins", job=scheduled.job)
    until = monotonic() + scheduled.most_seconds
    arguments = ("scheduled", *scheduled.arguments)
    # Its report is in job_runs.
    with start_command(arguments, environment, stdout=subprocess.DEVNULL) as process:
        try:
            while process.poll() is None and monotonic() <= until and not stopped.wait(LOOK_SECONDS):
                pass
        finally:
            ended = end_process(process, GRACE_SECONDS, group=True)
    if ended and stopped.is_set():
        log.info("scheduled job interrupted", job=scheduled.job)
        raise InterruptedRunError(f"{scheduled.job} was ended because its worker stops")
    tell = log.info if process.returncode in {0, 1} else log.error
    tell("scheduled job ended", job=scheduled.job, status=process.returncode, reason="too long" if ended else None)
    return process.returncode


def probe_schedule(settings: Settings, engine: Engine) -> Part:
    """Say of each job that is switched on when it last did its work, for the health page. Raises DatabaseUnavailableError.

    The first look after a job was switched on starts its clock, so a job that never runs is noticed too.
    """
    chosen = enabled(settings)
    runs = PostgresRuns(engine)
    runs.expect([scheduled.job for scheduled in chosen])
    return part_of(chosen, runs.expected())


def part_of(chosen: tuple[Scheduled, ...], known: Mapping[str, Expected]) -> Part:
    """Judge each job by its last success; by the day on which it was switched on, if that is later."""
    rows = {scheduled.job: _row(scheduled, known[scheduled.job]) for scheduled in chosen}
    late = [job for job, row in rows.items() if not row["ok"]]
    if late:
        return Part(ok=False, detail=f"late: {', '.join(late)}", rows=rows)
    return Part(ok=True, detail=f"{len(rows)} on time" if rows else "none is switched on", rows=rows)


def _row(scheduled: Scheduled, known: Expected) -> dict[str, object]:
    since = max(known.succeeded_at or known.enabled_at, known.enabled_at)
    return {
        "ok": known.now - since <= timedelta(days=scheduled.allowed_days),
        "last_success": known.succeeded_at.isoformat() if known.succeeded_at else None,
        "last_start": known.started_at.isoformat() if known.started_at else None,
        "expected_since": known.enabled_at.isoformat(),
        "allowed_days": scheduled.allowed_days,
    }
