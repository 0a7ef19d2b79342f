"""How a worker takes its jobs: several at once, never two of a sender, and none kept that it does not begin."""

import asyncio
import itertools
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager

import pytest
from procrastinate.jobs import Job, Status
from tests.integration.delivering import Store, store_on
from tests.integration.test_recovery import working
from tests.journeys.talking import until

from clara.adapters.procrastinate.engine import QUEUES, opened_app
from clara.adapters.procrastinate.fenced_jobs import FencedJobs

STATES = "select status::text, attempts from procrastinate_jobs order by id"


@pytest.fixture
def store(empty_url: str) -> Iterator[Store]:
    with store_on(empty_url) as made:
        yield made


class Taker:
    """A registered worker that takes jobs by hand."""

    def __init__(self, jobs: FencedJobs, number: int) -> None:
        self.jobs = jobs
        self.number = number

    async def take(self) -> Job | None:
        return await self.jobs.fetch_job(QUEUES, self.number)

    async def leave(self) -> None:
        await self.jobs.unregister_worker(self.number)


@asynccontextmanager
async def taker(url: str, at_once: int, kept: int = 0) -> AsyncIterator[Taker]:
    app = await opened_app(url, 1)
    jobs = FencedJobs(app.connector, url, at_once, kept)
    async with app.open_async():
        yield Taker(jobs, await jobs.register_worker())


def accept(store: Store, *senders: str) -> None:
    for number, sender in enumerate(senders):
        store.accept(f"SM{number}", sender)


def test_what_can_be_begun_is_taken_at_once(store: Store, empty_url: str) -> None:
    """In the order of arrival, and what is ended makes room for the next."""
    accept(store, "a", "b", "c", "d")

    async def taking() -> None:
        async with taker(empty_url, 3) as worker:
            first = await worker.take()
            assert store.rows(STATES) == [("doing", 0)] * 3 + [("todo", 0)]
            second, third = await worker.take(), await worker.take()
            assert first is not None
            assert [first.id, second and second.id, third and third.id] == [1, 2, 3]
            await worker.jobs.finish_job(first, Status.SUCCEEDED, delete_job=True)
            fourth = await worker.jobs.fetch_job(None, worker.number)  # of whatever queue
            assert (fourth and fourth.id, await worker.take()) == (4, None)

    asyncio.run(taking())


def test_two_of_a_sender_are_never_taken_together(store: Store, empty_url: str) -> None:
    """Neither by one worker nor by two."""
    accept(store, "a", "a", "b", "a")

    async def taking() -> None:
        async with taker(empty_url, 9) as one, taker(empty_url, 9) as other:
            first, third = await one.take(), await one.take()
            assert [first and first.id, third and third.id] == [1, 3]
            assert (await one.take(), await other.take()) == (None, None)
            assert first is not None
            await one.jobs.finish_job(first, Status.SUCCEEDED, delete_job=True)
            second = await other.take()
            assert (second and second.id, await one.take()) == (2, None)

    asyncio.run(taking())


def test_what_was_not_begun_is_given_back(store: Store, empty_url: str) -> None:
    """A worker that leaves keeps what it does, and nothing that it only took: another takes that at once."""
    accept(store, "a", "b", "c")

    async def leaving() -> None:
        async with taker(empty_url, 3) as worker, taker(empty_url, 3) as other:
            await worker.take()
            await worker.leave()
            assert store.rows(STATES) == [("doing", 0), ("todo", 1), ("todo", 1)]
            taken = [await other.take(), await other.take(), await other.take()]
            assert [job and job.id for job in taken] == [2, 3, None]

    asyncio.run(leaving())


def test_one_that_is_told_to_end_while_it_joins_does_not_join(store: Store, empty_url: str) -> None:
    """At whichever step after its connection came: one that missed it worked on for ever."""

    async def joining() -> int:
        app = await opened_app(empty_url, 1)
        jobs = FencedJobs(app.connector, empty_url)
        async with app.open_async():
            for steps in itertools.count():
                async with app.connector.pool.connection():  # type: ignore[attr-defined]  # the connector of opened_app has one
                    joined = asyncio.create_task(jobs.register_worker())
                    await asyncio.sleep(0.02)  # it waits for the only connection
                for _ in range(steps):
                    await asyncio.sleep(0)
                told = joined.cancel()
                await asyncio.wait([joined])
                if not told:
                    return steps
                assert joined.cancelled(), steps
        raise AssertionError

    assert asyncio.run(joining()) > 5


def test_a_worker_that_was_struck_off_is_on_the_list_again(store: Store, empty_url: str) -> None:
    """One that only was slow, and that another took for dead while nothing was to be done."""
    listed = "select id from procrastinate_workers"
    with working(empty_url, lambda _: "sent"):
        until(lambda: len(store.rows(listed)) == 1)
        before = store.rows(listed)
        store.change("delete from procrastinate_workers")
        until(lambda: store.rows(listed) == before)
        store.accept("SM1")
        until(lambda: store.rows("select count(*) from procrastinate_jobs") == [(0,)])
        assert store.rows(listed) == before
