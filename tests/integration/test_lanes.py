"""Lanes: an emergency waits for nobody, long messages take few slots, and each message is answered once all the same."""

import asyncio
from collections.abc import Callable, Iterator
from threading import Event, Lock

import pytest
from procrastinate.jobs import Job, Notification, Status
from tests.integration.delivering import OURS, Store, store_on
from tests.integration.test_recovery import working
from tests.integration.test_taking_jobs import taker
from tests.integration.test_upkeep import upkeep
from tests.journeys.talking import until

from clara.answering.message import Act, Reply, ReplyStatus
from clara.container import Container
from clara.delivery.message import Incoming, Lane
from clara.processes.web_app import build_app

JOBS = "select priority, lock from procrastinate_jobs order by id"
AGED = "update inbox set created_at = created_at - interval '2 minutes'"
PATIENCE = 200.0  # seconds that no test needs


@pytest.fixture
def store(empty_url: str) -> Iterator[Store]:
    with store_on(empty_url) as made:
        yield made


def accept(store: Store, *messages: tuple[str, Lane]) -> None:
    """Take messages in: sender and lane of each, ids from SM1 on."""
    for number, (sender, lane) in enumerate(messages, start=1):
        assert store.inbox().accept(Incoming(f"SM{number}", "whatsapp", sender, OURS, "x", lane=lane))


def numbers(*jobs: Job | None) -> list[int | None]:
    return [job and job.id for job in jobs]


def test_a_lane_is_a_priority_and_an_emergency_has_a_lock_of_its_own(store: Store) -> None:
    """So it waits for none of its sender's messages, but two emergencies of one person follow each other."""
    accept(store, ("a", Lane.LONG), ("a", Lane.ORDINARY), ("a", Lane.EMERGENCY))
    name = store.rows("select pseudonym from inbox limit 1")[0][0]
    assert store.rows(JOBS) == [(-1, name), (0, name), (1, f"emergency:{name}")]
    assert not store.inbox().accept(Incoming("SM3", "whatsapp", "a", OURS, "x", lane=Lane.EMERGENCY))
    assert len(store.rows(JOBS)) == 3


def test_an_emergency_goes_before_all_that_waits(store: Store, empty_url: str) -> None:
    """Before its own sender's messages too; long ones take one slot of four, and the kept slot is for emergencies alone."""
    ordinary = [(f"o{number}", Lane.ORDINARY) for number in range(5)]
    accept(store, *((f"l{number}", Lane.LONG) for number in range(4)), *ordinary, ("l3", Lane.EMERGENCY))

    async def taking() -> None:
        async with taker(empty_url, 4, 1) as worker:
            assert numbers(*[await worker.take() for _ in range(6)]) == [10, 1, 5, 6, 7, None]

    asyncio.run(taking())


def test_the_kept_slot_is_free_while_all_others_are_busy(store: Store, empty_url: str) -> None:
    """However many wait: whoever cries for help is begun at once, and the next one when that is done."""
    accept(store, *((f"o{number}", Lane.ORDINARY) for number in range(6)))

    async def taking() -> None:
        async with taker(empty_url, 2, 1) as worker:
            assert numbers(*[await worker.take() for _ in range(3)]) == [1, 2, None]
            for number, sender in ((7, "p"), (8, "q")):
                message = Incoming(f"SM{number}", "whatsapp", sender, OURS, "x", lane=Lane.EMERGENCY)
                assert store.inbox().accept(message)
            emergency = await worker.take()
            assert emergency is not None
            assert emergency.id == 7
            await worker.jobs.finish_job(emergency, Status.SUCCEEDED, delete_job=True)
            assert numbers(await worker.take(), await worker.take()) == [8, None]

    asyncio.run(taking())


def test_who_waits_for_a_slot_is_looked_for_when_one_comes_free(store: Store, empty_url: str) -> None:
    """The worker has a slot all the while, so nothing else would wake it; with nobody waiting it sleeps on."""
    accept(store, ("a", Lane.ORDINARY), ("b", Lane.ORDINARY), ("c", Lane.ORDINARY))

    async def taking() -> None:
        woken: list[Notification] = []

        async def wake(*, channel: str, notification: Notification) -> None:
            woken.append(notification)

        async with taker(empty_url, 2, 1) as worker:
            listening = asyncio.create_task(worker.jobs.listen_for_jobs(on_notification=wake))
            await asyncio.sleep(0)
            first, second = await worker.take(), await worker.take()
            assert first is not None
            assert second is not None
            assert await worker.take() is None
            await worker.jobs.finish_job(first, Status.SUCCEEDED, delete_job=True)
            assert len(woken) == 1
            third = await worker.take()
            assert third is not None
            assert (third.id, await worker.take()) == (3, None)
            await worker.jobs.retry_job(second)
            assert len(woken) == 2
            assert await worker.jobs.fetch_job(None, worker.number) is not None
            assert await worker.take() is None
            listening.cancel()
            await asyncio.wait([listening])

    asyncio.run(taking())


def test_an_emergency_is_answered_while_every_other_turn_hangs(store: Store, empty_url: str) -> None:
    """By a whole worker, with its slots full of turns that do not end."""
    gate, began, lock = Event(), list[int](), Lock()

    def take(inbox_id: int) -> str:
        with lock:
            began.append(inbox_id)
        if inbox_id <= 6:
            assert gate.wait(PATIENCE)
        return "sent"

    accept(store, *((f"o{number}", Lane.ORDINARY) for number in range(6)))
    with working(empty_url, take):
        until(lambda: len(began) == 4)
        assert store.inbox().accept(Incoming("SM7", "whatsapp", "o1", OURS, "x", lane=Lane.EMERGENCY))
        until(lambda: 7 in began)
        assert sorted(began) == [1, 2, 3, 4, 7]
        gate.set()
        until(lambda: store.rows("select count(*) from procrastinate_jobs") == [(0,)])
    assert sorted(began) == [1, 2, 3, 4, 5, 6, 7]


def test_a_message_that_waits_can_be_hastened(store: Store, empty_url: str) -> None:
    """As long as its turn has not begun; nothing is scheduled twice, now or by upkeep."""
    accept(store, ("a", Lane.LONG), ("b", Lane.LONG))

    async def taking() -> None:
        async with taker(empty_url, 4, 1) as worker:
            assert numbers(await worker.take()) == [1]
            inbox = store.inbox()
            assert [inbox.hasten("SM1"), inbox.hasten("SM2"), inbox.hasten("SM2"), inbox.hasten("SM9")] == [
                False, True, False, False,
            ]  # fmt: skip
            assert numbers(await worker.take(), await worker.take()) == [None, 2]  # nothing tells it, so the next look finds it

    asyncio.run(taking())
    store.change(AGED)
    upkeep(store).run()
    assert len(store.rows(JOBS)) == 2


def test_who_is_forgotten_leaves_no_name_in_the_lane_of_emergencies(store: Store) -> None:
    """A job that ended badly is kept by the job engine under its lock, and that holds the person's pseudonym."""
    accept(store, ("a", Lane.EMERGENCY), ("a", Lane.ORDINARY))
    store.change("update procrastinate_jobs set status = 'failed' where priority = 1")
    store.desk.reply(store.begin(2), Reply("forgotten", ReplyStatus.RIGHTS, "es", act=Act.ERASE), ["forgotten"])
    assert [lock for _, lock in store.rows(JOBS) if lock.startswith("emergency:")] == []


def test_the_web_process_tells_who_is_in_danger(empty_url: str, services_on: Callable[..., Container]) -> None:
    """By the letters alone, in whatever language, before anybody answers: no worker runs here. A long text takes a moment."""
    services = services_on(empty_url, clara_channel="local")
    web = build_app(services).test_client()
    story = "Llevo tres meses esperando la cita y nadie me contesta. " * 20
    told = ("¿Cuánto cuesta el NIE?", "quiero morir", "Я хочу умереть", story, f"{story} no puedo más, me quiero suicidar")
    for conversation, said in enumerate(told):
        assert web.post("/chat/messages", json={"conversation": str(conversation), "text": said}).status_code == 202
    priorities = "select priority from procrastinate_jobs order by id"
    with services.engine.connect() as connection:

        def shown() -> list[int]:
            connection.rollback()
            return list(connection.exec_driver_sql(priorities).scalars())

        assert shown()[:4] == [0, 1, 1, -1]
        until(lambda: shown() == [0, 1, 1, -1, 1])
