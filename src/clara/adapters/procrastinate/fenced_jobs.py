"""The worker's own way with its jobs: many taken at once; ended only while they are its own; woken up without haste."""

import asyncio
import contextlib
import random
from collections import Counter, deque
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from datetime import datetime
from importlib.resources import files
from typing import Any, Final

import psycopg
import structlog
from procrastinate.connector import BaseConnector
from procrastinate.jobs import Job, JobInserted, Status
from procrastinate.manager import JobManager, NotificationCallback, get_channel_for_queues
from procrastinate.sql import parse_query_file
from psycopg import AsyncConnection, sql

# By their names, with the reasons beside them.
_WRITTEN: Final = parse_query_file((files(__package__) / "jobs.sql").read_text("utf-8"))
STATEMENTS: Final = {name: text.replace("{free}", _WRITTEN["free"]) for name, text in _WRITTEN.items()}
# After a wake-up the next ones are gathered for about so long, each time another: a notification reaches every worker, and
# workers that gather in step look in step, all but one of them in vain. At 50 messages a second and two workers, .05 s and
# chance instead of .02 s in step took .8 of the workers' processor time (44.7 -> 36.2 % of a processor, PostgreSQL's 31.5 ->
# 28.5 %; medians in turns) and left the time to a reply as it was.
GATHERED_SECONDS: Final = 0.05
# Jobs that end within so long of each other are ended by one statement.
ENDING_SECONDS: Final = 0.02
# One of so many slots may be taken by a long job, and always one: their turns take ten times an ordinary one's.
LONG_SHARE: Final = 4
# So often a silent connection is asked whether it is still there.
LISTENED_SECONDS: Final = 30.0
log = structlog.get_logger()

_INSERTED: Final[JobInserted] = {"type": "job_inserted", "job_id": 0}
# A lane is the sign of a job's priority.
Lane = int
EMERGENCY: Final[Lane] = 1
ORDINARY: Final[Lane] = 0
LONG: Final[Lane] = -1


def _lane(job: Job) -> Lane:
    return (job.priority > 0) - (job.priority < 0)


@dataclass(frozen=True, slots=True)
class Room:
    """The slots that are free: all of them, those that are not kept for emergencies, those of them that long jobs may take."""

    all: int
    usual: int
    long: int


class FencedJobs(JobManager):
    """Takes, ends and repeats the jobs of a worker that does `at_once`, and emergencies (of a priority above 0) in `kept` more.

    Leaves alone what was given to another meanwhile. A worker `aside` answers nobody, and is not counted among those who do.
    """

    def __init__(self, connector: BaseConnector, url: str, at_once: int = 1, kept: int = 0, *, aside: bool = False) -> None:
        super().__init__(connector)
        self._url = url
        self._at_once = at_once
        self._kept = kept
        self._aside = aside
        self._taken: deque[Job] = deque()
        self._doing: Counter[Lane] = Counter()
        self._full = False  # the last look may have left some for which there was no slot
        self._on_notification: NotificationCallback | None = None
        self._none_left = False  # the last look took all there were ...
        self._told = False  # ... and others came since
        self._ended: list[Job] = []
        self._ending: asyncio.Task[None] | None = None

    async def fetch_job(self, queues: Iterable[str] | None, worker_id: int) -> Job | None:
        """Give the next job, None when there is none; as many are taken at once as this worker can begin."""
        while not self._taken:
            if self._none_left and not self._told:
                self._none_left = False  # who asks again, asks the database
                return None
            await self._take(queues, worker_id)
        job = self._taken.popleft()
        self._doing[_lane(job)] += 1
        return job

    async def _take(self, queues: Iterable[str] | None, worker_id: int) -> None:
        self._told = False
        room = self._room()
        named = None if queues is None else list(queues)  # None: all there are
        asked: dict[str, Any] = {"queues": named, "worker": worker_id, **asdict(room)}
        rows = await self.connector.execute_query_all_async(STATEMENTS["take"], **asked)
        self._taken.extend(sorted((Job.from_row(row) for row in rows), key=lambda job: (job.priority <= 0, job.id or 0)))
        took = Counter(map(_lane, self._taken))
        self._full = took[LONG] >= room.long or took[LONG] + took[ORDINARY] >= room.usual
        self._none_left = len(rows) < room.all

    def _room(self) -> Room:
        left = max(1, self._at_once + self._kept - self._doing.total())
        usual = max(0, self._at_once - self._doing[ORDINARY] - self._doing[LONG]) if self._kept else left
        return Room(left, usual, max(0, min(usual, max(1, self._at_once // LONG_SHARE) - self._doing[LONG])))

    async def register_worker(self) -> int:
        """Join, unless told to end meanwhile: waiting for a connection can swallow that (asyncio.wait_for before Python 3.12).

        Nothing asks again later: such a worker went on for ever. Raises CancelledError.
        """
        if self._aside:
            number = int((await self.connector.execute_query_one_async(STATEMENTS["register_aside"]))["worker_id"])
        else:
            number = await super().register_worker()
        task = asyncio.current_task()
        if task is not None and task.cancelling():
            raise asyncio.CancelledError
        return number

    async def update_heartbeat(self, worker_id: int) -> None:
        """Say that the worker lives, even when another took it for dead."""
        await self.connector.execute_query_async(STATEMENTS["beat"], worker=worker_id)

    async def unregister_worker(self, worker_id: int) -> None:
        """Leave, and give back what was taken and not begun."""
        while self._taken:
            await self._again(self._taken.popleft(), None)
        await super().unregister_worker(worker_id)

    async def finish_job(self, job: Job, status: Status, delete_job: bool) -> None:
        """End the job, together with those that end just now. Raises ConnectorException for all of them."""
        self._doing[_lane(job)] -= 1
        if not delete_job:
            more = {"job": job.id, "attempts": job.attempts, "worker": job.worker_id}
            await self.connector.execute_query_async(STATEMENTS["finish"], status=status.value, **more)
        else:
            self._ended.append(job)
            if self._ending is None:
                self._ending = asyncio.create_task(self._end())
            await asyncio.shield(self._ending)
        await self._made_room()

    async def _made_room(self) -> None:
        """Look again if somebody may wait for the slot that came free: the worker still had one, kept for emergencies."""
        if self._kept and self._full and self._on_notification is not None:
            self._told = True
            await self._on_notification(channel="", notification=_INSERTED)

    async def _end(self) -> None:
        await asyncio.sleep(ENDING_SECONDS)
        ended, self._ended, self._ending = self._ended, [], None
        columns: dict[str, Any] = {
            "jobs": [job.id for job in ended],
            "attempts": [job.attempts for job in ended],
            "workers": [job.worker_id for job in ended],
        }
        await self.connector.execute_query_async(STATEMENTS["delete"], **columns)

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
        self._doing[_lane(job)] -= 1
        await self._again(job, retry_at)
        await self._made_room()

    async def _again(self, job: Job, retry_at: datetime | None) -> None:
        await self.connector.execute_query_async(
            STATEMENTS["again"], at=retry_at, job=job.id, attempts=job.attempts, worker=job.worker_id
        )

    async def listen_for_jobs(self, *, on_notification: NotificationCallback, queues: Iterable[str] | None = None) -> None:
        """Wake the worker when jobs were put into the queue: at once, and then no oftener than it is worth.

        The library starts a task and a timer for each notification. What asks to abort is not told: turns are not aborted.
        Raises psycopg.OperationalError when the database is away.
        """
        self._on_notification = on_notification
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
                    self._told = True
                    await on_notification(channel=told[0], notification=_INSERTED)
                    await asyncio.sleep(GATHERED_SECONDS * random.uniform(0.5, 1.5))  # noqa: S311  nothing secret
                else:
                    await connection.execute("select 1")
