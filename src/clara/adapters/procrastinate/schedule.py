"""What runs by itself: once for each due time however many workers there are, and late rather than not at all.

It has a queue, a thread and connections of its own, so that no message waits for it and its failures end no turn.
"""

from collections.abc import Callable, Mapping
from datetime import datetime
from functools import cached_property
from threading import Event, Thread
from typing import Any, Final
from zoneinfo import ZoneInfo

import structlog
from croniter import croniter
from procrastinate import App, JobContext
from procrastinate.periodic import PeriodicTask
from procrastinate.tasks import ConfigureTaskOptions

from clara.adapters.procrastinate.engine import AfterOutage, QueueWorker
from clara.errors import Unavailable

TASK: Final = "run_scheduled"
QUEUE: Final = "operations"
# The gazette appears by the clock of Spain, summer and winter.
ZONE: Final = ZoneInfo("Europe/Madrid")
# A worker that starts does what was due while there was none, if that is not longer ago: a night, or a working day.
CAUGHT_UP_SECONDS: Final = 12 * 3600.0
# A job that ends its worker, by taking all memory for one, must not do so for ever.
MOST_TRIES: Final = 3
log = structlog.get_logger()


class InterruptedRunError(Unavailable):
    """The worker stops, so the job was ended. Nothing has to be done: the next worker begins it again."""


# Does a job; ends soon after the event is set, with InterruptedRunError.
Run = Callable[[str, Event], None]


class PeriodicWorker(QueueWorker):
    """Runs jobs when they are due, one at a time, in a thread of its own, until told to stop.

    `due` tells when, by job: minute, hour, day, month, weekday and, if there is a sixth field, second, in Spain's time.
    """

    queues = (QUEUE,)
    poll_seconds = 1.0
    listens = False

    def __init__(self, url: str, due: Mapping[str, str], run: Run, caught_up_seconds: float = CAUGHT_UP_SECONDS) -> None:
        super().__init__(url)
        self._due = dict(due)
        self._run_job = run
        self._caught_up_seconds = caught_up_seconds
        self._thread = Thread(target=self.run, kwargs={"handle_signals": False}, name="schedule")

    def start(self) -> None:
        """Begin."""
        self._thread.start()

    def stop(self) -> None:
        """End the job that runs, and then the thread; wait for both."""
        super().stop()
        self._thread.join()

    def _add_tasks(self, app: App) -> None:
        @app.task(name=TASK, queue=QUEUE, pass_context=True, retry=AfterOutage(InterruptedRunError))
        def run_scheduled(context: JobContext, /, timestamp: int, job: str, **_of_a_later_release: object) -> None:
            del timestamp
            with self._noting(context.job):
                self._take(job, context.job.attempts)

        app.periodic_defaults = {"max_delay": self._caught_up_seconds}
        for due, cron in self._due.items():
            lock = f"{QUEUE}:{due}"
            options: ConfigureTaskOptions = {"lock": lock, "queueing_lock": lock, "task_kwargs": {"job": due}}
            task = _InZone(task=run_scheduled, cron=cron, periodic_id=due, configure_kwargs=options)
            app.periodic_registry.periodic_tasks[TASK, due] = task

    def _take(self, job: str, attempts: int) -> None:
        if job not in self._due:
            log.info("scheduled job is switched off", job=job)
        elif attempts >= MOST_TRIES:
            log.error("scheduled job given up", job=job, attempts=attempts)
        else:
            self._run_job(job, self._stopped)


class _InZone(PeriodicTask[Any, Any, Any]):
    """A job that is due by the clock of Spain; the library's own are due by Greenwich's."""

    @cached_property
    def croniter(self) -> croniter:
        """Give what knows the due times."""
        return croniter(self.cron, datetime.now(ZONE))
