"""The worker's own way with its jobs: ended only while they are its own, many at once; woken up without haste."""

import asyncio
import contextlib
from collections.abc import Iterable
from datetime import datetime
from typing import Any, Final

import psycopg
from procrastinate.connector import BaseConnector
from procrastinate.jobs import Job, Status
from procrastinate.manager import JobManager, NotificationCallback, get_channel_for_queues
from psycopg import AsyncConnection, sql

# Every giving back and every try counts `attempts` up: a worker that wakes up after its job was given to another finds nothing.
# The library's own statements would end the other's job, or put it back into the queue while it is being done: then each
# worker that is overtaken has the turn begun again and so overtakes the next one, for as long as the writer is slow.
_OWN: Final = "where id = %(job)s and attempts = %(attempts)s and worker_id = %(worker)s and status = 'doing'"
_DELETE: Final = """
delete from procrastinate_jobs job
using unnest(%(jobs)s::bigint[], %(attempts)s::integer[], %(workers)s::bigint[]) as ended (id, attempts, worker_id)
where job.id = ended.id and job.attempts = ended.attempts and job.worker_id = ended.worker_id and job.status = 'doing'
"""
_FINISH: Final = f"update procrastinate_jobs set status = %(status)s::procrastinate_job_status {_OWN}"  # noqa: S608
_AGAIN: Final = (
    f"update procrastinate_jobs set status = 'todo', attempts = attempts + 1, scheduled_at = coalesce(%(at)s, now()) {_OWN}"  # noqa: S608
)
# After a wake-up the next ones are gathered for so long. Each costs the worker a look for jobs: at 80 messages a second, looks
# that came back with nothing and their notifications took a fifth of its time.
GATHERED_SECONDS: Final = 0.02
# Jobs that end within so long of each other are ended by one statement.
ENDING_SECONDS: Final = 0.01
# So often a silent connection is asked whether it is still there.
LISTENED_SECONDS: Final = 30.0


class FencedJobs(JobManager):
    """Ends and repeats the jobs of this worker; leaves alone what was given to another meanwhile."""

    def __init__(self, connector: BaseConnector, url: str) -> None:
        super().__init__(connector)
        self._url = url
        self._ended: list[Job] = []
        self._ending: asyncio.Task[None] | None = None

    async def finish_job(self, job: Job, status: Status, delete_job: bool) -> None:
        """End the job, together with those that end just now. Raises ConnectorException for all of them."""
        if not delete_job:
            more = {"job": job.id, "attempts": job.attempts, "worker": job.worker_id}
            await self.connector.execute_query_async(_FINISH, status=status.value, **more)
            return
        self._ended.append(job)
        if self._ending is None:
            self._ending = asyncio.create_task(self._end())
        await asyncio.shield(self._ending)

    async def _end(self) -> None:
        await asyncio.sleep(ENDING_SECONDS)
        ended, self._ended, self._ending = self._ended, [], None
        columns: dict[str, Any] = {
            "jobs": [job.id for job in ended],
            "attempts": [job.attempts for job in ended],
            "workers": [job.worker_id for job in ended],
        }
        await self.connector.execute_query_async(_DELETE, **columns)

    async def retry_job(
        self,
        job: Job,
        retry_at: datetime | None = None,
        priority: int | None = None,
        queue: str | None = None,
        lock: str | None = None,
    ) -> None:
        """Put the job back into the queue, for the time given."""
        del priority, queue, lock  # a turn keeps its own
        await self.connector.execute_query_async(_AGAIN, at=retry_at, job=job.id, attempts=job.attempts, worker=job.worker_id)

    async def listen_for_jobs(self, *, on_notification: NotificationCallback, queues: Iterable[str] | None = None) -> None:
        """Wake the worker when jobs were put into the queue: at once, and then no oftener than it is worth.

        The library starts a task and a timer for each notification. What asks to abort is not told: turns are not aborted.
        Raises psycopg.OperationalError when the database is away.
        """
        while True:
            async with await AsyncConnection.connect(self._url, autocommit=True) as connection:
                for channel in get_channel_for_queues(queues):
                    await connection.execute(sql.SQL("listen {}").format(sql.Identifier(channel)))
                await self._wake(connection, on_notification)

    async def _wake(self, connection: AsyncConnection[Any], on_notification: NotificationCallback) -> None:
        """Wake until the connection dies."""
        with contextlib.suppress(psycopg.OperationalError):
            while True:
                told = [notice.channel async for notice in connection.notifies(timeout=LISTENED_SECONDS, stop_after=1)]
                if told:
                    await on_notification(channel=told[0], notification={"type": "job_inserted", "job_id": 0})
                    await asyncio.sleep(GATHERED_SECONDS)
                else:
                    await connection.execute("select 1")
