"""Counting for the limits in PostgreSQL: exact for a sender, close for everyone, nobody waiting for others."""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from threading import Barrier
from typing import Any
from uuid import uuid4

import psycopg
import pytest
from sqlalchemy import Connection, Engine, text

from clara.adapters.postgres.connections import open_engine
from clara.adapters.postgres.delivery.inbox import KEPT_DAYS, PostgresBudget, TurnTask, take_in
from clara.adapters.postgres.statements import AtOnce
from clara.adapters.procrastinate.engine import QUEUE, TASK
from clara.delivery.limits import Admission, Limits
from clara.delivery.message import Limit
from clara.delivery.ports import StoreUnavailableError

ANA, EVA = "a" * 64, "e" * 64
# Long ago, so that no window ends while a test runs. A winter's day in Madrid begins at 23:00 UTC.
MOMENT = datetime(2020, 1, 15, 10, 30, 20, tzinfo=UTC)
MINUTE, DAY = timedelta(minutes=1), timedelta(days=1)
WIDE = Limits(sender_per_minute=1_000, sender_per_day=1_000, everyone_per_minute=10_000, everyone_per_day=10_000)
THREADS = 8


@pytest.fixture
def engine(empty_url: str) -> Iterator[Engine]:
    made = open_engine(empty_url, pool_size=16)
    yield made
    made.dispose()


class Held(AtOnce):
    """Statements in a transaction that stays open."""

    def __init__(self, engine: Engine, connection: Connection) -> None:
        super().__init__(engine)
        self._connection: Any = connection.connection.driver_connection

    @contextmanager
    def _lent(self) -> Iterator[psycopg.Connection[Any]]:
        yield self._connection


def stored(statements: AtOnce, sender: str, limits: Limits, received_at: datetime | None = MOMENT) -> Admission:
    """Take a new message in."""
    message = {
        "message_sid": uuid4().hex, "channel": "whatsapp", "pseudonym": sender, "address": b"", "body": "hola",
        "media_types": [], "recordings": [], "received_at": received_at,
    }  # fmt: skip
    admission = take_in(statements, message, limits, TurnTask(QUEUE, TASK))
    assert admission is not None
    return admission


def receive(engine: Engine, sender: str, limits: Limits, received_at: datetime | None = MOMENT) -> Admission:
    """Take a new message in as the inbox does."""
    return stored(AtOnce(engine), sender, limits, received_at)


def purge(engine: Engine) -> int:
    """Drop the windows that are over, as upkeep does."""
    return AtOnce(engine).changed("forget_usage", days=KEPT_DAYS)


def used(engine: Engine, scope: str) -> int:
    """Add up a scope over its windows and shards."""
    with engine.connect() as connection:
        return int(connection.scalar(text("select coalesce(sum(used), 0) from usage where scope = :scope"), {"scope": scope}))


def at_once(works: Sequence[Callable[[], list[Any]]]) -> list[Any]:
    """Run each on a thread of its own, all starting together; give everything they gave."""
    start = Barrier(len(works))

    def run(work: Callable[[], list[Any]]) -> list[Any]:
        start.wait()
        return work()

    with ThreadPoolExecutor(len(works)) as pool:
        return [result for results in pool.map(run, works) for result in results]


def test_a_sender_is_counted_exactly(engine: Engine) -> None:
    """Of messages that arrive on many connections at once exactly the limit is answered, and exactly one gets the notice."""
    limits = Limits(20, 1_000, 10_000, 10_000)
    admissions = at_once([lambda: [receive(engine, ANA, limits) for _ in range(15)]] * THREADS)
    assert Counter(admissions) == {
        Admission(): 20,
        Admission(Limit.SENDER_MINUTE, notice=True): 1,
        Admission(Limit.SENDER_MINUTE): THREADS * 15 - 21,
    }
    assert used(engine, f"sender_minute:{ANA}") == THREADS * 15


def test_many_senders_are_counted_together(engine: Engine) -> None:
    """Counts of everyone add up exactly over all connections, whoever writes; no transaction waits in a circle."""
    senders = [f"{number:064x}" for number in range(THREADS)]
    rounds = [senders[number:] + senders[:number] for number in range(THREADS)]
    admissions = at_once([lambda each=each: [receive(engine, sender, WIDE) for sender in each * 4] for each in rounds])
    assert set(admissions) == {Admission()}
    assert {used(engine, f"sender_day:{sender}") for sender in senders} == {THREADS * 4}
    assert used(engine, "everyone_minute") == used(engine, "everyone_day") == THREADS * THREADS * 4


@pytest.mark.parametrize(
    ("limits", "limit"),
    [
        pytest.param(Limits(100, 100, 30, 1_000), Limit.EVERYONE_MINUTE, id="minute"),
        pytest.param(Limits(100, 100, 1_000, 30), Limit.EVERYONE_DAY, id="day"),
    ],
)
def test_everyone_s_limit_is_close(engine: Engine, limits: Limits, limit: Limit) -> None:
    """At most as many messages as are stored at the moment pass beyond it, and each sender has one notice of it."""
    senders = [f"{number:064x}" for number in range(THREADS)]
    admissions = at_once([lambda own=own: [(own, receive(engine, own, limits)) for _ in range(10)] for own in senders])
    answered = sum(admission.limit is None for _, admission in admissions)
    assert 30 <= answered < 30 + THREADS
    assert {admission.limit for _, admission in admissions} == {None, limit}
    refused = {sender for sender, admission in admissions if admission.limit}
    assert Counter(sender for sender, admission in admissions if admission.notice) == dict.fromkeys(refused, 1)


def test_a_flood_takes_nothing_from_the_others(engine: Engine) -> None:
    """What a sender writes beyond a limit counts neither for everyone nor for the sender's own day."""
    limits = Limits(3, 5, 10, 10)
    assert [receive(engine, ANA, limits).limit for _ in range(50)].count(None) == 3
    assert used(engine, "everyone_day") == used(engine, f"sender_day:{ANA}") == 3
    assert receive(engine, EVA, limits) == Admission()


def test_a_full_minute_takes_nothing_from_the_day(engine: Engine) -> None:
    """What everyone wrote beyond the minute's limit does not count for everyone's day."""
    limits = Limits(100, 100, 3, 10)
    assert [receive(engine, sender, limits).limit for sender in (ANA, EVA) * 10].count(None) == 3
    assert used(engine, "everyone_day") == 3
    assert receive(engine, EVA, limits, MOMENT + MINUTE) == Admission()


def test_the_day_s_notice_ends_the_minute_s(engine: Engine) -> None:
    """A sender is told of the minute once in each, then once of the day, and of no minute after that."""
    limits = Limits(2, 5, 100, 100)
    told = [
        admission.limit
        for minute in range(5)
        for admission in (receive(engine, ANA, limits, MOMENT + minute * MINUTE) for _ in range(4))
        if admission.notice
    ]
    assert told == [Limit.SENDER_MINUTE, Limit.SENDER_MINUTE, Limit.SENDER_DAY]


def test_a_lowered_limit_is_told_too(engine: Engine) -> None:
    """Who is beyond a limit that was lowered in the middle of the window still gets one notice."""
    for _ in range(9):
        receive(engine, ANA, WIDE)
    lower = Limits(5, 100, 100, 100)
    assert [receive(engine, ANA, lower).notice for _ in range(3)] == [True, False, False]


@pytest.mark.parametrize(
    ("limits", "before", "after"),
    [
        pytest.param(Limits(1, 9, 9, 9), MOMENT.replace(second=59), MOMENT.replace(second=0) + MINUTE, id="sender's minute"),
        pytest.param(Limits(9, 9, 1, 9), MOMENT.replace(second=59), MOMENT.replace(second=0) + MINUTE, id="everyone's minute"),
        pytest.param(
            Limits(9, 1, 9, 9),
            datetime(2020, 1, 15, 22, 59, 59, tzinfo=UTC),
            datetime(2020, 1, 15, 23, 0, tzinfo=UTC),
            id="sender's day in winter",
        ),
        pytest.param(
            Limits(9, 9, 9, 1),
            datetime(2020, 7, 15, 21, 59, 59, tzinfo=UTC),
            datetime(2020, 7, 15, 22, 0, tzinfo=UTC),
            id="everyone's day in summer",
        ),
    ],
)
def test_a_new_window_begins_at_nothing(engine: Engine, limits: Limits, before: datetime, after: datetime) -> None:
    """A minute ends with the minute and a day at midnight in Madrid; then messages are answered and notices given again."""
    told = [receive(engine, ANA, limits, moment) for moment in (before, before, before, after, after)]
    assert [admission.limit is None for admission in told] == [True, False, False, True, False]
    assert [admission.notice for admission in told] == [False, True, False, False, True]


def test_a_message_belongs_to_when_it_was_received(engine: Engine) -> None:
    """What waited out an outage takes no part of the present; without a moment, or with one ahead, it is now."""
    limits = Limits(9, 1, 9, 9)
    assert receive(engine, ANA, limits, MOMENT) == Admission()
    assert receive(engine, ANA, limits, None) == Admission()
    assert receive(engine, ANA, limits, datetime.now(UTC) + 400 * DAY).limit is Limit.SENDER_DAY
    with engine.connect() as connection:
        assert connection.scalar(text("select count(*) from usage where window_start > now()")) == 0


def test_earlier_windows_do_not_count(engine: Engine) -> None:
    """Windows that were used up yesterday and an hour ago are no hindrance now."""
    with engine.begin() as connection:
        connection.execute(
            text("""
                insert into usage (scope, window_start, used)
                select scope || :sender, date_trunc(part, now() - age, 'Europe/Madrid'), 99
                  from (values ('sender_minute:', 'minute', interval '1 hour'), ('sender_day:', 'day', '1 day'))
                       as old(scope, part, age)
            """),
            {"sender": ANA},
        )
    assert receive(engine, ANA, Limits(1, 1, 1, 1), None) == Admission()


def test_what_is_undone_is_not_counted(engine: Engine) -> None:
    """A message whose transaction fails takes no part of any limit."""
    with engine.connect() as connection, connection.begin() as undone:
        stored(Held(engine, connection), ANA, WIDE)
        undone.rollback()
    assert used(engine, f"sender_minute:{ANA}") == used(engine, "everyone_day") == 0


def test_another_sender_does_not_wait(engine: Engine) -> None:
    """While one message is being stored, messages of others are counted."""
    with engine.begin() as held:
        stored(Held(engine, held), ANA, WIDE)
        with engine.begin() as other:
            other.execute(text("set local lock_timeout = '2s'"))
            assert stored(Held(engine, other), EVA, WIDE) == Admission()
    assert used(engine, "everyone_day") == 2


@pytest.mark.parametrize(
    ("own", "all_together", "granted"),
    [
        pytest.param(10, 1_000, 20, id="both senders' shares"),
        pytest.param(1_000, 7, 7, id="everybody's share"),
        pytest.param(0, 10, 0, id="nothing for a sender"),
        pytest.param(10, 0, 0, id="nothing at all"),
    ],
)
def test_a_budget_is_never_passed(engine: Engine, own: int, all_together: int, granted: int) -> None:
    """Sixteen threads of two senders get exactly what there is, and what they did not get is not counted."""
    budget = PostgresBudget(engine, own, all_together)
    spent = at_once([lambda sender=sender: [budget.spend(sender) for _ in range(3)] for sender in (ANA, EVA) * 8])
    assert sum(spent) == granted
    assert used(engine, "model") == used(engine, f"model:{ANA}") + used(engine, f"model:{EVA}") == granted


def test_a_budget_begins_again_each_day(engine: Engine) -> None:
    """What was spent yesterday is not missing today."""
    budget = PostgresBudget(engine, 1, 1)
    assert [budget.spend(ANA), budget.spend(ANA), budget.spend(EVA)] == [True, False, False]
    with engine.begin() as connection:
        connection.execute(text("update usage set window_start = window_start - interval '1 day'"))
    assert budget.spend(EVA)


def test_purging_keeps_what_is_counted_in(engine: Engine) -> None:
    """Windows older than two days go, those that somebody holds the next time; the present ones stay."""
    receive(engine, ANA, WIDE, MOMENT)
    receive(engine, ANA, WIDE, datetime.now(UTC) - DAY)
    receive(engine, ANA, WIDE, None)
    with engine.begin() as held:
        stored(Held(engine, held), ANA, WIDE)
        purge(engine)
    assert used(engine, f"sender_minute:{ANA}") == 4
    assert purge(engine) >= 2
    assert used(engine, f"sender_minute:{ANA}") == 2
    assert purge(engine) == 0


def test_nothing_but_pseudonyms_is_kept(engine: Engine) -> None:
    """Every scope is a fixed word, alone or with a pseudonym."""
    for _ in range(2):
        receive(engine, ANA, Limits(1, 1, 1, 1))
    PostgresBudget(engine, 1, 1).spend(ANA)
    with engine.connect() as connection:
        strange = "select scope from usage where scope !~ '^[a-z_]+(:[0-9a-f]{64})?$'"
        assert connection.execute(text(strange)).all() == []


def test_a_database_that_is_away_is_named() -> None:
    """Whoever asks the budget is told that the store is away."""
    engine = open_engine("postgresql://nobody@127.0.0.1:1/none")
    with pytest.raises(StoreUnavailableError):
        PostgresBudget(engine, 1, 1).spend(ANA)
    engine.dispose()
