"""When a failed turn is taken again: as soon as it helps, by the database's clock, without end."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from procrastinate.jobs import Job

from clara.adapters.procrastinate.engine import LONGEST_SECONDS, Patience, wait_after
from clara.adapters.procrastinate.recovery import DatabaseClock, Ended
from clara.delivery.ports import (
    LostAnswerError,
    StoreUnavailableError,
    SupersededError,
    TemporarySendError,
    UnsealableError,
)
from clara.delivery.turn_processor import SETTLED_SECONDS, UnsettledError

NOW = datetime(2026, 3, 29, 0, 59, 59, tzinfo=UTC)


def job(**values: Any) -> Job:
    known = {"id": 1, "status": "doing", "queue": "messages", "lock": "p", "queueing_lock": None, "task_name": "take_turn"}
    return Job(**{**known, "task_kwargs": {"inbox_id": 1}, "attempts": 0, "worker_id": 5, **values})


@pytest.mark.parametrize(
    ("error", "attempts", "least", "most"),
    [
        pytest.param(LostAnswerError(), 0, SETTLED_SECONDS, SETTLED_SECONDS + 0.5, id="lost-answer-when-it-can-be-looked-for"),
        pytest.param(LostAnswerError(), 99, SETTLED_SECONDS, SETTLED_SECONDS + 0.5, id="lost-again-no-longer"),
        pytest.param(UnsettledError("young", 1.25), 7, 1.25, 1.25, id="the-rest-of-that-wait"),
        pytest.param(TemporarySendError("429", 60.0), 0, 60, 60, id="what-the-channel-asks-for"),
        pytest.param(TemporarySendError("not in time", 0.0), 3, 0, 0, id="at-once"),
        pytest.param(TemporarySendError("500"), 0, 1.6, 2.4, id="busy"),
        pytest.param(TemporarySendError("500"), 3, 12.8, 19.2, id="busy-for-long"),
        pytest.param(TemporarySendError("500"), 10_000, LONGEST_SECONDS * 0.8, LONGEST_SECONDS * 1.2, id="busy-for-a-day"),
        pytest.param(StoreUnavailableError(), 50, 2, 2, id="the-database-comes-back"),
        pytest.param(SupersededError(), 50, 2, 2, id="somebody-else-has-it"),
        pytest.param(UnsealableError(), 4, 25.6, 38.4, id="anything-else"),
        pytest.param(ZeroDivisionError(), 0, 1.6, 2.4, id="a-mistake-of-ours"),
    ],
)
def test_how_long_to_wait(error: Exception, attempts: int, least: float, most: float) -> None:
    """Never longer than it may help, and there is always a next try."""
    assert all(least <= wait_after(error, attempts) <= most for _ in range(50))
    decision = Patience(lambda: NOW).get_retry_decision(exception=error, job=job(attempts=attempts))
    assert timedelta(seconds=least) <= decision.retry_at - NOW <= timedelta(seconds=most)


@pytest.mark.parametrize("ahead", [timedelta(hours=2), timedelta(hours=-2), timedelta(days=400), timedelta()], ids=str)
def test_the_database_s_clock_decides(ahead: timedelta) -> None:
    """A worker whose own clock is wrong waits neither for hours nor not at all."""
    clock = DatabaseClock()
    clock.seen(datetime.now(UTC) + ahead)
    decision = Patience(clock.now).get_retry_decision(exception=TemporarySendError("429", 60.0), job=job())
    wait = decision.retry_at - (datetime.now(UTC) + ahead)
    assert timedelta(seconds=50) < wait <= timedelta(seconds=61)


def test_a_try_that_ended_is_not_the_next_one() -> None:
    """The same worker may do the next try of the same job: only the one that ended can be given back."""
    ended = Ended()
    ended.note(job(attempts=0), 10.0)
    ended.note(job(attempts=1), 12.0)
    ended.note(job(id=None), 1.0)
    assert ended.older_than(10.0) == []
    assert ended.older_than(11.0) == [(1, 5, 0)]
    ended.forget([(1, 5, 0), (9, 9, 9)])
    assert ended.older_than(99.0) == [(1, 5, 1)]
