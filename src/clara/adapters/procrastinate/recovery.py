"""Giving back to the queue what nobody is doing any more."""

import asyncio
from datetime import UTC, datetime, timedelta
from time import monotonic
from typing import Any

import structlog
from procrastinate import App
from procrastinate.exceptions import ProcrastinateException
from procrastinate.jobs import Job

from clara.adapters.procrastinate.fenced_jobs import STATEMENTS

log = structlog.get_logger()


class DatabaseClock:
    """Tells the database's time, from the difference to this machine's that was seen last."""

    def __init__(self) -> None:
        self._ahead = timedelta()

    def now(self) -> datetime:
        """Give the time by the database's clock."""
        return datetime.now(UTC) + self._ahead

    def seen(self, database: datetime) -> None:
        """Take note of what the database's clock says now."""
        self._ahead = database - datetime.now(UTC)


# Job, worker, earlier tries: the same worker may be doing the next try of what it ended.
Try = tuple[int, int, int]


class Ended:
    """Tries that ended in this process. One whose end the database did not hear of would hold up its sender for ever."""

    def __init__(self) -> None:
        self._ended: dict[Try, float] = {}

    def note(self, job: Job, when: float) -> None:
        """Take note that the turn of this job ended, by the monotonic clock."""
        if job.id is not None and job.worker_id is not None:
            self._ended[job.id, job.worker_id, job.attempts] = when

    def older_than(self, when: float) -> list[Try]:
        """Give what ended before."""
        return [key for key, ended in list(self._ended.items()) if ended < when]

    def forget(self, keys: list[Try]) -> None:
        """Forget what was looked at."""
        for key in keys:
            self._ended.pop(key, None)


class Recovery:
    """Recovers the turns of dead workers, and those of this one whose end could not be recorded."""

    def __init__(self, app: App, clock: DatabaseClock, ended: Ended, stalled_after: float) -> None:
        self._app = app
        self._clock = clock
        self._ended = ended
        self._stalled_after = stalled_after

    async def run(self, every: float) -> None:
        """Recover again and again, until cancelled."""
        while True:
            try:
                await self.once()
            except ProcrastinateException as error:
                log.warning("recovery could not ask the database", error=type(error).__name__)
            await asyncio.sleep(every)

    async def once(self) -> list[int]:
        """Give back what was abandoned; give the numbers of the jobs."""
        keys = self._ended.older_than(monotonic() - self._stalled_after)
        columns: dict[str, Any] = {
            name: [key[place] for key in keys] for place, name in enumerate(("jobs", "workers", "attempts"))
        }
        rows = await self._app.connector.execute_query_all_async(
            STATEMENTS["give_back"], stalled_after=self._stalled_after, **columns
        )
        self._ended.forget(keys)
        clock = await self._app.connector.execute_query_one_async("select clock_timestamp() as now")
        self._clock.seen(clock["now"])
        given_back = [row["id"] for row in rows]
        for number in given_back:
            log.warning("turn recovered", job=number)
        return given_back
