"""Inbox and desk: what is stored together, what is stored once, who may still write, and what nobody can read."""

from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import psycopg
import pytest
from psycopg import sql
from tests.integration.delivering import (
    CUT,
    INCOMING,
    KEY,
    OTHER_KEY,
    OURS,
    PERSON,
    PSEUDONYM_KEY,
    REPLY,
    Store,
    at_once,
    store_on,
)
from tests.journeys.talking import until

from clara.adapters.aes_gcm import AesGcmSealer
from clara.adapters.postgres.delivery.inbox import TurnTask, pseudonym
from clara.adapters.postgres.operations.upkeep import PostgresUpkeep
from clara.adapters.procrastinate.engine import TASK, TurnScheduler
from clara.answering.message import Citation, Reply, ReplyStatus
from clara.delivery.limits import Limits
from clara.delivery.message import Case, Incoming, Limit, Outgoing
from clara.delivery.ports import RefusedError, StoreUnavailableError, SupersededError, UnsealableError
from clara.delivery.records import open_address

SOURCE = Citation("C1", "p", "nie", "plazos", "https://x", "2026-08")
CITED = Reply("con fuente", ReplyStatus.ANSWERED, "es", "pgvector", (SOURCE,))
# Ends the connection that meets it.
WORKERS = 8
WAITING = "select count(*) from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'"
Late = Callable[[Store, Case, Outgoing], None]


@pytest.fixture
def store(empty_url: str) -> Iterator[Store]:
    with store_on(empty_url) as made:
        yield made


def kinds(results: list[Any]) -> Counter[str]:
    return Counter(type(result).__name__ for result in results)


def test_a_message_and_its_job_are_stored_together(store: Store) -> None:
    """Row and job name each other; the job is locked by the sender's pseudonym."""
    number, name = store.accept(), pseudonym(PSEUDONYM_KEY, PERSON)
    assert store.rows("select id, pseudonym, body from inbox") == [(number, name, "¿NIE?")]
    assert store.rows("select args, lock, status::text from procrastinate_jobs") == [({"inbox_id": number}, name, "todo")]


def test_a_message_that_comes_on_many_connections_is_stored_once(store: Store) -> None:
    """The signed id stops replays and the channel's own retries, at the same moment too."""
    inbox = store.inbox(limits=Limits(10, 10, 10, 10))
    assert Counter(at_once(WORKERS, lambda _: inbox.accept(INCOMING))) == {True: 1, False: WORKERS - 1}
    assert inbox.accept(INCOMING) is False
    assert store.rows("select (select count(*) from inbox), (select count(*) from procrastinate_jobs)") == [(1, 1)]
    assert store.rows("select scope, sum(used)::int from usage where scope = 'everyone_day' group by 1") == [
        ("everyone_day", 1)
    ]


def test_no_job_no_message(store: Store) -> None:
    """When the job cannot be queued, the message is not stored either, and can be sent again."""
    with pytest.raises(RefusedError, match="22001"):
        store.inbox(TurnTask("q" * 200, TASK)).accept(INCOMING)  # longer than the job engine's column
    assert store.rows("select count(*) from inbox") == [(0,)]
    assert store.inbox().accept(INCOMING)


def test_a_connection_that_breaks_as_the_job_is_queued_is_an_outage(store: Store) -> None:
    """Whoever wanted to store the message hears that it is not stored, and may spool it."""
    store.change(CUT)
    store.change("create trigger cut after insert on procrastinate_jobs for each row execute function cut()")
    with pytest.raises(StoreUnavailableError):
        store.inbox().accept(INCOMING)
    store.change("drop trigger cut on procrastinate_jobs")
    assert store.rows("select count(*) from inbox") == [(0,)]
    assert store.inbox().accept(INCOMING)


def test_over_a_limit_a_process_that_dies_on_the_way_loses_nothing(store: Store) -> None:
    """A message that was counted as too many and not marked so is found by upkeep, and answered."""
    store.change(CUT)
    store.change("create trigger cut after update on inbox for each row execute function cut()")
    narrow = store.inbox(limits=Limits(sender_per_minute=1, sender_per_day=9, everyone_per_minute=9, everyone_per_day=9))
    received = datetime.now(UTC)
    narrow.accept(Incoming("SM1", "whatsapp", PERSON, OURS, "hola", received_at=received))
    with pytest.raises(StoreUnavailableError):
        narrow.accept(Incoming("SM2", "whatsapp", PERSON, OURS, "hola", received_at=received))
    store.change("drop trigger cut on inbox")
    assert narrow.accept(Incoming("SM2", "whatsapp", PERSON, OURS, "hola", received_at=received)) is False
    store.change("update inbox set created_at = now() - interval '2 minutes'")
    PostgresUpkeep(store.engine, store.sealer, TurnScheduler().schedule).run()
    assert store.rows("select (args->>'inbox_id')::int from procrastinate_jobs order by id") == [(1,), (2,)]


def test_a_database_that_is_away_is_named(server: object) -> None:
    """Nothing is stored and the caller is told so."""
    with store_on("postgresql://nobody@127.0.0.1:1/none") as away:
        for call in (lambda: away.inbox().accept(INCOMING), lambda: away.desk.begin(1), lambda: away.inbox().reply_to("SM1")):
            with pytest.raises(StoreUnavailableError):
                call()


def test_over_the_limit_there_is_one_notice_and_no_turn(store: Store) -> None:
    """What is over a limit is stored; only the first of it gets a turn, and a repeated message counts for nothing."""
    inbox = store.inbox(limits=Limits(sender_per_minute=2, sender_per_day=100, everyone_per_minute=100, everyone_per_day=100))
    received = datetime(2026, 1, 5, 10, 0, tzinfo=UTC)  # all in one minute, however slow this machine is
    for sid in ("SM1", "SM1", "SM2", "SM2", "SM3", "SM3", "SM4"):
        inbox.accept(Incoming(sid, "whatsapp", PERSON, OURS, "hola", received_at=received))
    inbox.accept(Incoming("SM5", "whatsapp", "whatsapp:+34600000002", OURS, "hola", received_at=received))
    assert store.rows("select message_sid, over_limit from inbox order by id") == [
        ("SM1", None), ("SM2", None), ("SM3", "sender_minute"), ("SM4", "sender_minute"), ("SM5", None),
    ]  # fmt: skip
    scheduled = "select message_sid from procrastinate_jobs j join inbox on inbox.id = (j.args->>'inbox_id')::int order by j.id"
    assert [sid for (sid,) in store.rows(scheduled)] == ["SM1", "SM2", "SM3", "SM5"]
    (third,) = store.rows("select id from inbox where message_sid = 'SM3'")
    assert store.begin(third[0]).limit is Limit.SENDER_MINUTE
    assert store.begin(1).limit is None


@pytest.mark.parametrize(
    "incoming",
    [
        pytest.param(Incoming("SM2", "whatsapp", "whatsapp:US.1234567890", "w", "hola"), id="no phone number"),
        pytest.param(Incoming("SM3", "whatsapp", "w", "w", None, ("audio/ogg",)), id="voice note"),
        pytest.param(Incoming("SM4", "whatsapp", "w", "w", "a\x00b \ud800 😀"), id="what PostgreSQL cannot store"),
        pytest.param(Incoming("S\x00M\ud800", "whatsapp", "w", "w", "hola"), id="an id that it cannot store"),
        pytest.param(Incoming("SM5", "whatsapp", "w", "w", "x" * 10_000), id="long"),
    ],
)
def test_any_message_can_be_stored_and_read(store: Store, incoming: Incoming) -> None:
    """Whatever arrives is kept, comes back as a case, and its reply finds the way back."""
    assert store.inbox().accept(incoming)
    case = store.answered()
    assert (case.first_contact, case.incoming.sender, case.incoming.recipient) == (True, "", "")
    assert case.incoming.media_types == incoming.media_types
    assert (case.incoming.text is None) == (incoming.text is None)
    (outgoing,) = store.desk.waiting(case)
    assert (outgoing.sender, outgoing.recipient) == (incoming.recipient, incoming.sender)


def test_the_age_counts_from_when_it_was_received(store: Store) -> None:
    """What waited in a spool is as old as its acknowledgement, whatever this machine's clock says."""
    with store.engine.connect() as connection:
        now: datetime = connection.exec_driver_sql("select clock_timestamp()").scalar_one()
    store.inbox().accept(Incoming("SM1", "whatsapp", PERSON, OURS, "hola", received_at=now - timedelta(hours=25)))
    store.accept("SM2")
    assert store.begin(1).age == pytest.approx(25 * 3600, abs=60)
    assert store.begin(2).age == pytest.approx(0, abs=60)


def test_nothing_that_leads_to_a_person_is_readable(store: Store, empty_url: str) -> None:
    """No column of any table holds the number in any form; the sealed one opens under its key, for its message."""
    store.accept()
    case = store.answered()
    (outgoing,) = store.desk.waiting(case)
    store.desk.claim(case, outgoing)
    store.desk.sent(outgoing, "SMout")
    with psycopg.connect(empty_url) as connection:
        tables = connection.execute("select tablename from pg_tables where schemaname = 'public'").fetchall()
        held = {
            name: str(connection.execute(sql.SQL("select to_jsonb(t) from {} t").format(sql.Identifier(name))).fetchall())
            for (name,) in tables
        }
        dump = b"".join(connection.execute("select address from inbox").fetchone() or ())
    assert len(held) > 10
    clear = ("34600000001", "15555550100", b"34600000001".hex(), b"15555550100".hex())
    assert [name for name, content in held.items() if any(number in content for number in clear)] == []
    assert open_address(dump, "SM1", AesGcmSealer(KEY)) == (PERSON, OURS)
    for key, sid in ((OTHER_KEY, "SM1"), (KEY, "SM2")):
        with pytest.raises(UnsealableError):
            open_address(dump, sid, AesGcmSealer(key))


def test_a_desk_with_another_key_sends_nothing(store: Store, empty_url: str) -> None:
    """The remedy is named, and the part goes on waiting."""
    store.accept()
    case = store.answered()
    with store_on(empty_url, OTHER_KEY) as other, pytest.raises(UnsealableError, match="CLARA_ADDRESS_KEY"):
        other.desk.waiting(case)
    assert len(store.desk.waiting(case)) == 1


def test_a_reply_is_recorded_once_with_its_turn(store: Store) -> None:
    """A second reply to the same message changes nothing, not even where it is longer; the next message knows the language."""
    store.accept()
    first = store.begin()
    assert not first.answered
    store.desk.reply(first, CITED, ("uno", "dos"))
    store.desk.reply(first, Reply("otra", ReplyStatus.NOT_FOUND, "fr"), ("un", "deux", "trois"))
    assert store.begin().answered
    assert store.rows("select part, body, status from outbox order by part") == [(0, "uno", "pending"), (1, "dos", "pending")]
    assert store.rows("select language, status, tier, citations->0->>'mark' from turns") == [
        ("es", "answered", "pgvector", "C1")
    ]
    following = store.begin(store.accept("SM9"))
    assert (following.first_contact, following.previous_language) == (False, "es")


def test_two_replies_at_once_do_not_mix(store: Store) -> None:
    """Of workers that hold the same turn under the same fence one records its reply, whole."""
    store.accept()
    case = store.begin()
    results = at_once(WORKERS, lambda number: store.desk.reply(case, REPLY, [f"{number}"] * (number + 2)))
    assert kinds(results) == {"NoneType": WORKERS}
    recorded = [body for (body,) in store.rows("select body from outbox order by part")]
    assert recorded == [recorded[0]] * (int(recorded[0]) + 2)


def test_a_turn_that_begins_while_another_s_reply_is_recorded_keeps_that_reply(store: Store) -> None:
    """The beginning waits for the recording; whatever it saw of it, the recorded reply stays and is what is sent."""
    store.accept()
    earlier = store.begin()
    with ThreadPoolExecutor(1) as pool:
        with store.engine.begin() as connection:
            connection.exec_driver_sql("select fence from inbox for update")
            connection.exec_driver_sql("insert into outbox (inbox_id, part, body) values (1, 0, 'la primera')")
            later = pool.submit(store.begin)
            until(lambda: store.rows(WAITING) != [(0,)])
        case = later.result()
    assert case.fence == earlier.fence + 1
    store.desk.reply(case, REPLY, ("la segunda", "y su final"))
    assert [outgoing.text for outgoing in store.desk.waiting(case)] == ["la primera"]


def test_an_erased_message_has_no_turn(store: Store) -> None:
    """Neither a new one nor the rest of one that began before."""
    store.accept()
    case = store.answered()
    (outgoing,) = store.desk.waiting(case)
    store.change("delete from inbox")
    assert (store.desk.begin(1), list(store.desk.waiting(case))) == (None, [])
    for late in (lambda: store.desk.claim(case, outgoing), lambda: store.desk.reply(case, REPLY, ("x",))):
        with pytest.raises(SupersededError):
            late()
    store.desk.unclaim(outgoing)
    store.desk.sent(outgoing, "SMout")
    store.desk.refused(outgoing, "63016")
    assert store.rows("select count(*) from outbox") == [(0,)]


def test_every_beginning_has_a_fence_of_its_own(store: Store) -> None:
    """Also when many workers begin at once; tries are counted while there is no reply, and at the third it is set aside."""
    store.accept()
    assert (store.begin().tries, store.rows("select set_aside_at from inbox")) == (0, [(None,)])
    assert (store.begin().tries, store.rows("select set_aside_at from inbox")) == (1, [(None,)])
    third = store.begin()
    ((since,),) = store.rows("select set_aside_at from inbox")
    assert (third.tries, since is not None) == (2, True)
    begun = at_once(WORKERS, lambda _: store.begin())
    assert sorted(case.fence for case in begun) == list(range(4, 4 + WORKERS))
    assert sorted(case.tries for case in begun) == list(range(3, 3 + WORKERS))
    store.answered()
    store.begin()
    store.begin()
    assert store.rows("select tries, set_aside_at from inbox") == [(4 + WORKERS, since)]


def test_one_worker_claims_a_part(store: Store) -> None:
    """Of many that want to send it at once, of the same fence even, one may; later ones see since when it is uncertain."""
    store.accept()
    case = store.answered("uno", "dos")
    first, second = store.desk.waiting(case)
    assert kinds(at_once(WORKERS, lambda _: store.desk.claim(case, first))) == {"NoneType": 1, "SupersededError": WORKERS - 1}
    store.change("update outbox set attempted_at = attempted_at - interval '1 hour' where part = 0")
    again, untouched = store.desk.waiting(case)
    assert (again.attempts, untouched) == (1, second)
    assert again.uncertain_for == pytest.approx(3_600, abs=60)
    store.desk.claim(case, again)  # who has looked for it at the channel may try again
    assert store.rows("select attempts, attempted_at > now() - interval '1 minute' from outbox where part = 0") == [(2, True)]


def test_the_only_part_of_a_reply_is_claimed_with_it(store: Store) -> None:
    """Whoever records it is given it to send, and nobody else may; of several parts, and of an earlier reply, none is given."""
    store.accept()
    case = store.begin()
    part = store.desk.reply(case, REPLY, ("una respuesta",))
    assert part is not None
    assert (part.sender, part.recipient, part.text, part.attempts, part.uncertain_for) == (
        OURS,
        PERSON,
        "una respuesta",
        0,
        None,
    )
    assert store.rows("select attempts, attempted_at is not null from outbox") == [(1, True)]
    with pytest.raises(SupersededError):
        store.desk.claim(case, part)
    assert store.desk.reply(case, REPLY, ("otra",)) is None
    store.accept("SM2")
    assert store.desk.reply(store.begin(2), REPLY, ("una", "dos")) is None
    store.accept("SM3")
    assert store.desk.reply(replace(store.begin(3), timely=False), REPLY, ("tarde",)) is None


def test_a_reply_that_cannot_be_addressed_is_not_on_its_way(store: Store, empty_url: str) -> None:
    """Under another key the reply is recorded and waits, with no try of unknown outcome."""
    store.accept()
    with store_on(empty_url, "another-key-of-thirty-two-characters") as other, pytest.raises(UnsealableError):
        other.desk.reply(other.begin(), REPLY, ("una respuesta",))
    assert store.rows("select status, attempted_at from outbox") == [("pending", None)]


@pytest.mark.parametrize(
    "late",
    [
        pytest.param(lambda store, case, _part: store.desk.reply(case, REPLY, ("otra",)), id="reply"),
        pytest.param(lambda store, case, part: store.desk.claim(case, part), id="claim"),
    ],
)
def test_who_was_superseded_may_not_go_on(store: Store, late: Late) -> None:
    """After another beginning an earlier one neither records a reply nor begins to send."""
    store.accept()
    stalled = store.answered()
    (part,) = store.desk.waiting(stalled)
    store.begin()
    with pytest.raises(SupersededError):
        late(store, stalled, part)
    assert store.rows("select body, attempts from outbox") == [("una respuesta", 1)]


def test_a_late_unclaim_leaves_the_next_try_alone(store: Store) -> None:
    """Who gives back an old try does not make the one that followed look as if it had not been."""
    store.accept()
    part = store.desk.reply(store.begin(), REPLY, ("una respuesta",))
    assert part is not None
    other = store.begin()
    (again,) = store.desk.waiting(other)
    store.desk.claim(other, again)
    store.desk.unclaim(part)
    assert store.rows("select attempts, attempted_at is null from outbox") == [(2, False)]
    store.desk.unclaim(again)
    assert store.rows("select attempts, attempted_at is null from outbox") == [(2, True)]


def test_what_was_sent_late_is_recorded_all_the_same(store: Store) -> None:
    """Who stalled after the channel had taken the part may say so, whoever holds the turn now; the first id stays."""
    store.accept()
    stalled = store.answered()
    (part,) = store.desk.waiting(stalled)
    store.desk.claim(stalled, part)
    other = store.begin()
    store.desk.sent(part, "SMout")
    assert list(store.desk.waiting(other)) == []
    store.desk.sent(part, "SMout")
    store.desk.sent(part, "SMother")
    store.desk.refused(part, "63016")
    store.desk.unclaim(part)
    assert store.rows("select status, provider_sid, error_code, attempted_at from outbox") == [("sent", "SMout", None, None)]
    with pytest.raises(SupersededError):
        store.desk.claim(other, part)


def test_what_was_refused_is_over(store: Store) -> None:
    """The code is recorded, and only the other part goes on waiting."""
    store.accept()
    case = store.answered("uno", "dos")
    first, second = store.desk.waiting(case)
    store.desk.claim(case, first)
    store.desk.refused(first, "63024")
    assert list(store.desk.waiting(case)) == [second]
    assert store.rows("select status, error_code, attempted_at from outbox where part = 0") == [("failed", "63024", None)]


def test_ids_that_belong_to_replies_are_told_apart(store: Store) -> None:
    """What is recorded anywhere is nobody else's; what was superseded is not taken up again by its own part."""
    store.accept()
    case = store.answered("uno", "dos")
    first, second = store.desk.waiting(case)
    store.desk.sent(first, "SMone")
    store.change("update outbox set superseded_sids = '{SMold}' where part = 1")
    assert list(store.desk.unrecorded(second, ["SMnew", "SMone", "SMold", "SMlast"])) == ["SMnew", "SMlast"]
    assert list(store.desk.unrecorded(second, [])) == []
    store.desk.sent(second, "SMold")
    assert store.rows("select status, provider_sid from outbox where part = 1") == [("pending", None)]


def test_the_local_page_reads_its_reply(store: Store) -> None:
    """Unknown, pending and answered are three different things; all parts are one reply."""
    inbox = store.inbox()
    with pytest.raises(KeyError):
        inbox.reply_to("SM1")
    store.accept()
    assert inbox.reply_to("SM1") is None
    store.answered("uno", "dos")
    found = inbox.reply_to("SM1")
    assert found is not None
    assert (found.text, found.language) == ("uno\n\ndos", "es")


def test_pseudonyms_need_the_key() -> None:
    """The same address gives the same name under one key and another under another."""
    assert pseudonym(KEY, "a") == pseudonym(KEY, "a") != pseudonym(OTHER_KEY, "a")
    assert len(pseudonym(KEY, "a")) == 64
