"""Whether what should run by itself does: a run that is missing is an alarm of its own."""

from collections.abc import Mapping
from datetime import timedelta

from clara.adapters.postgres.runs import Expected, PostgresRuns
from clara.bootstrap import Services
from clara.jobs.scheduling import Scheduled, enabled
from clara.web.health import Part


def probe(services: Services) -> Part:
    """Say of each job that is switched on when it last did its work, for the health page. Raises DatabaseUnavailableError.

    The first look after a job was switched on starts its clock, so a job that never runs is noticed too.
    """
    chosen = enabled(services.settings)
    runs = PostgresRuns(services.engine.get())
    runs.expect([scheduled.job for scheduled in chosen])
    return part_of(chosen, runs.expected())


def part_of(chosen: tuple[Scheduled, ...], known: Mapping[str, Expected]) -> Part:
    """Judge each job by its last success; by the day on which it was switched on, if that is later."""
    late = [scheduled.job for scheduled in chosen if is_late(scheduled, known[scheduled.job])]
    rows = {scheduled.job: _row(scheduled, known[scheduled.job]) for scheduled in chosen}
    if late:
        return Part(ok=False, detail=f"late: {', '.join(late)}", rows=rows)
    return Part(ok=True, detail=f"{len(rows)} on time" if rows else "none is switched on", rows=rows)


def is_late(scheduled: Scheduled, known: Expected) -> bool:
    """Whether the job should have done its work again by now."""
    since = max(known.succeeded_at or known.enabled_at, known.enabled_at)
    return known.now - since > timedelta(days=scheduled.allowed_days)


def _row(scheduled: Scheduled, known: Expected) -> dict[str, object]:
    return {
        "ok": not is_late(scheduled, known),
        "last_success": known.succeeded_at.isoformat() if known.succeeded_at else None,
        "last_start": known.started_at.isoformat() if known.started_at else None,
        "expected_since": known.enabled_at.isoformat(),
        "allowed_days": scheduled.allowed_days,
    }
