"""What is done regularly: sealing, forgetting, finding what nobody would answer; by several processes at once without harm."""

import json
from collections.abc import Iterator

import pytest
from tests.integration.delivering import KEY, OURS, PERSON, Store, at_once, store_on

from clara.adapters.aes_gcm import AesGcmSealer
from clara.adapters.postgres.operations.upkeep import PostgresUpkeep
from clara.adapters.procrastinate.engine import QUEUE, TurnScheduler
from clara.answering.message import Reply, ReplyStatus
from clara.answering.privacy.rights import TEXT_DAYS
from clara.answering.safety.guard import OPTIONS
from clara.delivery.records import open_address

JOBS = """
    select inbox.id, queue_name, lock = pseudonym from procrastinate_jobs job join inbox on inbox.id = (args->>'inbox_id')::int
    where job.status in ('todo', 'doing') order by inbox.id
"""
AGED = "update inbox set created_at = created_at - interval '{0}', received_at = received_at - interval '{0}'"


@pytest.fixture
def store(empty_url: str) -> Iterator[Store]:
    with store_on(empty_url) as made:
        yield made


def upkeep(store: Store) -> PostgresUpkeep:
    return PostgresUpkeep(store.engine, store.sealer, TurnScheduler().schedule)


def address_of(store: Store, sid: str) -> tuple[str, str]:
    ((sealed,),) = store.rows("select address from inbox where message_sid = :sid", sid=sid)
    return open_address(sealed, sid, AesGcmSealer(KEY))


def test_what_stands_in_clear_is_sealed(store: Store) -> None:
    """An address in clear is sealed as soon as no worker of the previous release can need it, and serves before and after."""
    store.earlier("SM1", job=False)
    store.earlier("SM2", "whatsapp:+34600000002")
    for inbox_id in (1, 2):
        store.answered(inbox_id=inbox_id)
    upkeep(store).run()
    clear = "select message_sid, sender, recipient from inbox where sender is not null or recipient is not null"
    assert store.rows(clear) == [("SM2", "whatsapp:+34600000002", OURS)]
    assert address_of(store, "SM1") == (PERSON, OURS)
    parts = [store.desk.waiting(store.begin(inbox_id))[0] for inbox_id in (1, 2)]
    assert [(part.recipient, part.sender) for part in parts] == [(PERSON, OURS), ("whatsapp:+34600000002", OURS)]
    store.change("delete from procrastinate_jobs")
    upkeep(store).run()
    assert store.rows(clear) == []
    assert address_of(store, "SM2") == ("whatsapp:+34600000002", OURS)


@pytest.mark.parametrize(
    ("change", "kept"),
    [
        pytest.param("select 1", False, id="a-day-after-the-last-delivery"),
        pytest.param("update outbox set updated_at = now() - interval '23 hours'", True, id="less-than-a-day-after-it"),
        pytest.param("update outbox set status = 'pending' where part = 1", True, id="a-part-still-waits"),
        pytest.param("update outbox set updated_at = now() where part = 1", True, id="one-part-was-delivered-late"),
        pytest.param("delete from outbox", True, id="not-answered"),
        pytest.param(
            "with gone as (delete from outbox) update inbox set over_limit = 'sender_day'", False, id="over-the-limit"
        ),
        pytest.param("update inbox set created_at = now()", True, id="a-young-message"),
    ],
)
@pytest.mark.parametrize("earlier", [False, True], ids=["sealed", "in-clear"])
def test_addresses_are_forgotten_when_nothing_is_left_to_send(store: Store, change: str, kept: bool, earlier: bool) -> None:
    """A day after the last delivery, and not before; what happened stays without the address."""
    store.earlier("SM1") if earlier else store.accept()
    store.answered("uno", "dos")
    store.change("update outbox set status = 'sent', updated_at = now() - interval '25 hours'")
    store.change(AGED.format("3 days"))
    store.change(change)
    upkeep(store).run()
    held = "select address is not null or sender is not null, address is not null or recipient is not null from inbox"
    assert store.rows(held) == [(kept, kept)]
    answered = store.rows("select count(*) > 0 from outbox") == [(True,)]
    assert store.rows("select body, pseudonym <> '' from inbox") == [("¿NIE?", True) if answered or kept else (None, False)]


@pytest.mark.parametrize(("days", "kept"), [(TEXT_DAYS - 1, True), (TEXT_DAYS + 1, False)])
@pytest.mark.parametrize(
    "reply",
    [
        Reply(
            "112",
            ReplyStatus.URGENT,
            "es",
            timings_ms={"urgent": 1.0, "total": 1.0},
            trace={"danger": ["minor"], "level": "sure"},
        ),
        Reply(
            "?", ReplyStatus.ANSWERED, "es", timings_ms={"total": 9.0}, trace={"danger": [], "level": "hint"}, options=OPTIONS
        ),
    ],
    ids=["helped", "asked"],
)
def test_what_was_heard_of_danger_goes_with_the_words(store: Store, reply: Reply, days: int, kept: bool) -> None:
    """Help that was said, and the gentle question: neither the status nor the steps nor the options tell of it later."""
    store.accept()
    store.desk.reply(store.begin(1), reply, ("una respuesta",))
    store.change("update turns set created_at = created_at - make_interval(days => :days)", days=days)
    upkeep(store).run()
    ((status, trace, timings, total),) = store.rows("select status, trace, timings_ms, total_ms from turns")
    told = json.loads(json.dumps([status, trace, timings]))
    assert ("danger" in trace and told[0] == reply.status) is kept
    assert ("urgent" in json.dumps(told) or "in_danger" in json.dumps(told)) is kept
    assert total == reply.timings_ms["total"]


def test_what_nobody_would_answer_gets_a_job_again(store: Store) -> None:
    """A message without an unfinished job, though something is left to do, is queued again, once, for its sender's turn."""
    senders = [f"whatsapp:+3460000000{number}" for number in range(9)]
    lost, half, busy, todo, done, refused, over, noticed, failed = (
        store.accept(f"SM{n}", sender) for n, sender in enumerate(senders)
    )
    for number in (half, busy, done, noticed):
        store.answered("uno", "dos", inbox_id=number)
    store.answered(inbox_id=refused)
    store.change(
        "update outbox set status = 'sent' where inbox_id = :done or (inbox_id = :half and part = 0)", done=done, half=half
    )
    store.change("update outbox set status = 'failed' where inbox_id = :refused", refused=refused)
    store.change("update inbox set over_limit = 'sender_day' where id in (:over, :noticed)", over=over, noticed=noticed)
    for number, status in ((busy, "doing"), (todo, "todo"), (failed, "failed")):
        ended = "update procrastinate_jobs set status = cast(:status as procrastinate_job_status), priority = 1 "
        store.change(f"{ended} where (args->>'inbox_id')::int = :number", number=number, status=status)
    store.change("delete from procrastinate_jobs where priority = 0")
    upkeep(store).run()
    assert [number for number, _, _ in store.rows(JOBS)] == [busy, todo]  # the others may have been stored just now
    store.change(AGED.format("2 minutes"))
    for _ in range(2):
        upkeep(store).run()
        assert store.rows(JOBS) == [(number, QUEUE, True) for number in sorted((lost, half, busy, todo, noticed, failed))]


def test_several_processes_may_do_it_at_once(store: Store) -> None:
    """Nobody waits in a circle, nothing is queued twice, and every address that is sealed opens."""
    count = 120
    for number in range(count):
        store.earlier(f"SM{number}", f"whatsapp:+346{number:08}", job=False)
    store.change("insert into outbox (inbox_id, body, status) select id, 'x', 'sent' from inbox where id % 3 = 0")
    store.change("update outbox set updated_at = now() - interval '2 days'")
    store.change(AGED.format("2 days"))
    for _ in range(3):
        assert at_once(6, lambda _: upkeep(store).run()) == [None] * 6
    assert store.rows("select count(*), count(distinct args->>'inbox_id') from procrastinate_jobs") == [(count * 2 // 3,) * 2]
    assert store.rows("select count(address), count(sender), count(recipient) from inbox") == [(count * 2 // 3, 0, 0)]
    for sid, sealed in store.rows("select message_sid, address from inbox where address is not null"):
        assert open_address(sealed, sid, AesGcmSealer(KEY)) == (f"whatsapp:+346{int(sid[2:]):08}", OURS)


def test_an_outage_is_left_to_the_next_time() -> None:
    """Whoever does it goes on living."""
    with store_on("postgresql://nobody@127.0.0.1:1/none") as away:
        upkeep(away).run()
