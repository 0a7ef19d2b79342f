"""Ending a job only while it is one's own."""

from datetime import datetime
from typing import Final

from procrastinate.jobs import Job, Status
from procrastinate.manager import JobManager

# Every giving back and every try counts `attempts` up: a worker that wakes up after its job was given to another finds nothing.
# The library's own statements would end the other's job, or put it back into the queue while it is being done: then each
# worker that is overtaken has the turn begun again and so overtakes the next one, for as long as the writer is slow.
_OWN: Final = "where id = %(job)s and attempts = %(attempts)s and worker_id = %(worker)s and status = 'doing'"
_DELETE: Final = f"delete from procrastinate_jobs {_OWN}"  # noqa: S608
_FINISH: Final = f"update procrastinate_jobs set status = %(status)s::procrastinate_job_status {_OWN}"  # noqa: S608
_AGAIN: Final = (
    f"update procrastinate_jobs set status = 'todo', attempts = attempts + 1, scheduled_at = coalesce(%(at)s, now()) {_OWN}"  # noqa: S608
)


class FencedJobs(JobManager):
    """Ends and repeats the jobs of this worker; leaves alone what was given to another meanwhile."""

    async def finish_job(self, job: Job, status: Status, delete_job: bool) -> None:
        """End the job."""
        query, more = (_DELETE, {}) if delete_job else (_FINISH, {"status": status.value})
        await self.connector.execute_query_async(query, job=job.id, attempts=job.attempts, worker=job.worker_id, **more)

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
