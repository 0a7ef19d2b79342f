"""Delivery reports on a real database: the same as the pure rule in any order, and what is sent again."""

import itertools
import random
from collections.abc import Iterator
from threading import Thread
from typing import Any

import pytest
from sqlalchemy import Engine, text
from structlog.testing import capture_logs
from tests.journeys.talking import until

from clara.adapters.postgres.connections import open_engine
from clara.adapters.postgres.delivery.status_reports import PostgresReports
from clara.adapters.procrastinate.engine import TurnScheduler
from clara.delivery.message import Report
from clara.delivery.ports import StoreUnavailableError
from clara.delivery.status_reports import PENDING, REPORTED, Finding, ReplyPart, merge

RATE, DAY = "63018", 24 * 3600.0
Told = tuple[str, str | None]
READ_OF_ALL: tuple[Told, ...] = (("queued", None), ("sent", None), ("delivered", None), ("read", None), ("delivered", None))
CONTRADICTED: tuple[Told, ...] = (
    ("sent", None),
    ("undelivered", RATE),
    ("failed", RATE),
    ("delivered", None),
    ("failed", "63024"),
)
FAILED_TWICE: tuple[Told, ...] = (
    ("sent", None),
    ("failed", "63003"),
    ("failed", "63024"),
    ("undelivered", "9"),
    ("sent", None),
)
STARTS = (
    ReplyPart(),
    ReplyPart("sent", None, "SM1"),
    ReplyPart(PENDING, None, None, ("SM0",), 1),
    ReplyPart("failed", "63016", None),
    ReplyPart("sent", None, "SM1", ("SM0", "SM8", "SM9"), 3),
    ReplyPart("sent", None, "SM1", timely=False),
)


def within(told: Told) -> float:
    """Say for how long another try may help, as the channel does."""
    return DAY if told[1] == RATE else 0.0


@pytest.fixture
def engine(empty_url: str) -> Iterator[Engine]:
    made = open_engine(empty_url)
    yield made
    made.dispose()


@pytest.fixture
def reports(engine: Engine) -> PostgresReports:
    return PostgresReports(engine, TurnScheduler().schedule)


def store(engine: Engine, part: ReplyPart) -> int:
    """Store a message and a part of its reply, a try to send it having an unknown outcome; give the part's number.

    A message's id is unique over all parts, so each part's ids carry a mark of its own.
    """
    with engine.begin() as connection:
        inbox_id = connection.scalar(
            text("""
                insert into inbox (message_sid, channel, pseudonym, received_at)
                values (gen_random_uuid(), 'whatsapp', 'somebody', now() - make_interval(hours => :hours)) returning id
            """),
            {"hours": 1 if part.timely else 25},
        )
        return int(
            connection.scalar(
                text("""
                    insert into outbox
                        (inbox_id, body, status, error_code, provider_sid, superseded_sids, resends, attempted_at)
                    values (:inbox_id, 'b', :status, :code, :sid, :sids, :resends, now()) returning id
                """),
                {
                    "inbox_id": inbox_id,
                    "status": part.status,
                    "code": part.error_code,
                    "sid": part.provider_sid and f"{part.provider_sid}-{inbox_id}",
                    "sids": [f"{sid}-{inbox_id}" for sid in part.superseded_sids],
                    "resends": part.resends,
                },
            )
        )


def stored(engine: Engine, number: int) -> ReplyPart:
    """Read a part back, its ids without their mark."""
    sql = """
        select outbox.*, received_at > now() - interval '1 day' as timely
        from outbox join inbox on inbox.id = inbox_id where outbox.id = :number
    """
    with engine.connect() as connection:
        row = connection.execute(text(sql), {"number": number}).one()
    return ReplyPart(
        row.status,
        row.error_code,
        row.provider_sid and row.provider_sid.split("-")[0],
        tuple(sid.split("-")[0] for sid in row.superseded_sids),
        row.resends,
        row.timely,
    )


def report(number: int, told: Told, sid: str = "SM1") -> Report:
    return Report(number, f"{sid}-{number}", *told, within(told))


def jobs(engine: Engine) -> list[tuple[Any, ...]]:
    with engine.connect() as connection:
        sql = "select args->>'inbox_id', lock from procrastinate_jobs order by id"
        return [tuple(row) for row in connection.execute(text(sql))]


@pytest.mark.parametrize("several", [READ_OF_ALL, CONTRADICTED, FAILED_TWICE], ids=["read", "contradicted", "failed"])
def test_all_orders_of_five_reports_end_alike(engine: Engine, reports: PostgresReports, several: tuple[Told, ...]) -> None:
    """Each of the 120 orders, told of a part of its own, ends in the state that the pure rule gives."""
    expected = ReplyPart("sent", None, "SM1")
    for told in several:
        expected, _ = merge(expected, Report(1, "SM1", *told, within(told)))
    orders = list(itertools.permutations(several))
    for order in orders:
        number = store(engine, ReplyPart("sent", None, "SM1"))
        assert all(reports.delivery(report(number, told)) for told in order)
        assert stored(engine, number) == expected, order
    assert len(orders) == 120


def test_every_step_is_the_pure_rule(engine: Engine, reports: PostgresReports) -> None:
    """Reports drawn at random, of several ids, leave after each the state that the pure rule gives, and the right jobs."""
    draw = random.Random(20260711)
    scheduled = 0
    for turn in range(200):
        part = STARTS[turn % len(STARTS)]
        number = store(engine, part)
        for _ in range(5):
            told = draw.choice((*sorted(REPORTED), "failed", "failed")), draw.choice((None, RATE, RATE, "63024"))
            sid = draw.choice(("SM1", "SM1", "SM1", "SM0", "SM2"))
            part, finding = merge(part, Report(1, sid, *told, within(told)))
            assert reports.delivery(report(number, told, sid)) is (finding is not Finding.ANOTHER)
            assert stored(engine, number) == part, (told, sid)
            scheduled += finding is Finding.TRY_AGAIN
    assert len(jobs(engine)) == scheduled > 20


@pytest.mark.parametrize("told", [("sent", None), ("failed", RATE), ("delivered", None), ("failed", "63024")])
def test_a_report_settles_a_lost_answer(engine: Engine, reports: PostgresReports, told: Told) -> None:
    """A part whose try has an unknown outcome takes the report's id, and nothing is uncertain any more."""
    number = store(engine, ReplyPart())
    assert reports.delivery(report(number, told))
    with engine.connect() as connection:
        ((sid, uncertain),) = connection.execute(
            text("select coalesce(provider_sid, superseded_sids[1]), attempted_at is not null from outbox")
        )
    assert (sid, uncertain) == (f"SM1-{number}", False)


def test_what_failed_for_its_rate_is_scheduled_with_it(engine: Engine, reports: PostgresReports) -> None:
    """The part waits again and its turn is in the queue under the sender's lock, once, however often it is told."""
    number = store(engine, ReplyPart("sent", None, "SM1"))
    assert [reports.delivery(report(number, ("failed", RATE))) for _ in range(3)] == [True] * 3
    assert stored(engine, number) == ReplyPart(PENDING, None, None, ("SM1",), 1)
    assert jobs(engine) == [("1", "somebody")]


def test_no_job_no_second_try(engine: Engine) -> None:
    """When the turn cannot be queued, the part stays as it was, and the report can be told again."""

    def broken(_connection: object, _inbox_id: int, _pseudonym: str) -> None:
        raise RuntimeError("no queue")

    number = store(engine, ReplyPart("sent", None, "SM1"))
    with pytest.raises(RuntimeError):
        PostgresReports(engine, broken).delivery(report(number, ("failed", RATE)))
    assert stored(engine, number) == ReplyPart("sent", None, "SM1")


def test_another_message_is_not_recorded(engine: Engine, reports: PostgresReports) -> None:
    """A report under an id that is not the part's, or is another part's, changes nothing and is logged without the id."""
    first, second = store(engine, ReplyPart("sent", None, "SM1")), store(engine, ReplyPart())
    with capture_logs() as logs:
        assert not reports.delivery(report(first, ("read", None), "SM2"))
        assert not reports.delivery(Report(second, f"SM1-{first}", "read"))
    assert [stored(engine, number) for number in (first, second)] == [ReplyPart("sent", None, "SM1"), ReplyPart()]
    assert [log["event"] for log in logs] == ["delivery report of another message"] * 2
    assert "SM1" not in str(logs)


@pytest.mark.parametrize(
    "strange",
    [
        pytest.param(Report(99, "SM1", "sent"), id="no such reply"),
        pytest.param(Report(0, "SM1", "sent"), id="no number"),
        pytest.param(Report(-1, "SM1", "sent"), id="negative"),
        pytest.param(Report(2**63, "SM1", "sent"), id="larger than a row's number"),
        pytest.param(Report(1, "SM1", "nonsense"), id="unknown status"),
        pytest.param(Report(1, "SM1", "pending"), id="our own status"),
        pytest.param(Report(1, "SM1", ""), id="no status"),
        pytest.param(Report(1, "", "sent"), id="no id"),
    ],
)
def test_unknown_reports_are_told_apart(engine: Engine, reports: PostgresReports, strange: Report) -> None:
    """A report about no reply of ours, or with a status nobody knows, is refused quietly."""
    number = store(engine, ReplyPart())
    assert not reports.delivery(strange)
    assert stored(engine, number) == ReplyPart()


def test_what_the_database_cannot_store(engine: Engine, reports: PostgresReports) -> None:
    """Hostile ids and codes are stored without what a text cannot hold, and know themselves again."""
    number = store(engine, ReplyPart())
    hostile = Report(number, "SM\x00\ud800", "failed", "\ud800\x00")
    assert [reports.delivery(hostile) for _ in range(2)] == [True, True]
    assert (stored(engine, number).status, stored(engine, number).provider_sid) == ("failed", "SM ?")


def test_reports_at_the_same_time(engine: Engine, reports: PostgresReports) -> None:
    """Eight listeners that are told everything at once leave the state of one, and one more try."""
    read, again = store(engine, ReplyPart()), store(engine, ReplyPart("sent", None, "SM1"))
    told = [(read, told) for told in READ_OF_ALL] + [(again, ("failed", RATE)), (again, ("sent", None))]

    def listen(seed: int) -> None:
        for number, one in random.Random(seed).sample(told, len(told)):
            assert reports.delivery(report(number, one))

    threads = [Thread(target=listen, args=(seed,)) for seed in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert stored(engine, read) == ReplyPart("read", None, "SM1")
    assert stored(engine, again) == ReplyPart(PENDING, None, None, ("SM1",), 1)
    assert len(jobs(engine)) == 1


def test_a_part_that_is_held_keeps_no_other_waiting(engine: Engine, reports: PostgresReports) -> None:
    """Reports are recorded together, but the one whose part another process has locked waits alone."""
    held, free = store(engine, ReplyPart("sent", None, "SM1")), store(engine, ReplyPart("sent", None, "SM1"))
    waiting = Thread(target=lambda: reports.delivery(report(held, ("read", None))))
    blocked = text("select count(*) from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'")

    def is_held() -> bool:
        with engine.connect() as looking:  # a transaction of its own: within one, the server's answer stays the first
            return bool(looking.scalar(blocked))

    with engine.begin() as holder:
        holder.execute(text("select from outbox where id = :number for update"), {"number": held})
        waiting.start()
        until(is_held)
        assert reports.delivery(report(free, ("read", None)))
        assert waiting.is_alive()
    waiting.join()
    assert [stored(engine, number).status for number in (held, free)] == ["read", "read"]


def test_a_strange_report_spoils_none_that_are_recorded_with_it(engine: Engine, reports: PostgresReports) -> None:
    """Eight listeners tell of parts of their own, and each now and then of an id that belongs to another part."""
    taken = store(engine, ReplyPart("sent", None, "SM1"))
    parts = [[store(engine, ReplyPart()) for _ in range(20)] for _ in range(8)]
    ignored: list[bool] = []

    def listen(numbers: list[int]) -> None:
        for number in numbers:
            ignored.append(not reports.delivery(Report(number, f"SM1-{taken}", "delivered")))
            assert reports.delivery(report(number, ("delivered", None)))

    threads = [Thread(target=listen, args=(numbers,)) for numbers in parts]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert ignored == [True] * 160
    assert {stored(engine, number) for numbers in parts for number in numbers} == {ReplyPart("delivered", None, "SM1")}


def test_a_database_that_is_away_is_named() -> None:
    """Nothing is recorded and the caller is told so, for either kind of report."""
    engine = open_engine("postgresql://nobody@127.0.0.1:1/none")
    for told in (("sent", None), ("failed", RATE)):
        with pytest.raises(StoreUnavailableError):
            PostgresReports(engine, TurnScheduler().schedule).delivery(report(1, told))
    engine.dispose()
