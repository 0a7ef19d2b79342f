"""Running a job so that it is known afterwards: one run of it at a time, its signs of life, and how it ended."""

import json
import os
import platform
import sys
from collections.abc import Callable, Mapping
from inspect import getdoc

import structlog

from clara.adapters.postgres.connections import DatabaseUnavailableError
from clara.adapters.postgres.corpus.index import storable
from clara.adapters.postgres.operations.runs import BEAT_SECONDS, HeldJob, PostgresRuns, heartbeat
from clara.editorial.ports import COULD_NOT_RUN, JobOutcome

log = structlog.get_logger()


def recorded(
    runs: PostgresRuns,
    job: str,
    arguments: str,
    work: Callable[[], JobOutcome],
    *,
    say: Callable[[str], None] | None = None,
    beat_seconds: float = BEAT_SECONDS,
) -> int:
    """Do the work under the job's lock and record the run; give its exit code.

    While another process does the same job nothing is done, which is fine: exit code 0. Whatever the work raises is recorded
    and goes on to the caller. Raises DatabaseUnavailableError when the run cannot be recorded, before anything was done.
    """
    with runs.alone(job) as held:
        if held is None:
            told = busy(runs, job)
            log.info("job is running already", job=job)
            if say is not None:
                say(told)
            return 0
        run = held.begin(arguments, f"{platform.node()}:{os.getpid()}")
        outcome: JobOutcome | None = None
        try:
            with heartbeat(held, run, beat_seconds):
                outcome = work()
            return outcome.exit_code
        finally:
            _record_end(held, run, job, outcome)


def busy(runs: PostgresRuns, job: str) -> str:
    """Say who does the job."""
    last = next(iter(runs.runs(1, job=job)), None)
    if last is None or last.finished_at is not None:  # it ended, or has not begun its row, while we looked
        return f"{job}: already running in another process. Nothing was done."
    told = f"{job}: already running since {last.started_at:%Y-%m-%d %H:%M:%S %Z} (process {last.process}). Nothing was done."
    return told if last.state == "running" else f"{told} It gives no sign of life since {last.alive_at:%Y-%m-%d %H:%M:%S %Z}."


def _record_end(held: HeldJob, run: int, job: str, outcome: JobOutcome | None) -> None:
    """Record how a run ended; without an outcome, by the error that is on its way to the caller."""
    error = None if outcome else sys.exception()
    code, report = (outcome.exit_code, outcome.report) if outcome else (COULD_NOT_RUN, {})
    try:
        held.end(run, code, json.dumps(_storable(report), default=str), described(error) if error else None)
    except DatabaseUnavailableError as away:
        log.warning("end of a job not recorded", job=job, error=type(away).__name__)


def described(error: BaseException) -> str:
    """Say what an error is and what to do, in words that stand in the code: a message may repeat what a person wrote."""
    own = type(error).__module__.partition(".")[0] == "clara"
    meaning = " ".join((getdoc(type(error)) or "").split("\n\n")[0].split()) if own else ""
    return f"{type(error).__name__}: {meaning}" if meaning else type(error).__name__


def _storable(value: object) -> object:
    """Give a report as JSON that PostgreSQL takes: what was read from outside may hold NUL."""
    if isinstance(value, Mapping):
        return {storable(str(name)): _storable(inner) for name, inner in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [_storable(inner) for inner in value]
    return storable(value) if isinstance(value, str) else value
