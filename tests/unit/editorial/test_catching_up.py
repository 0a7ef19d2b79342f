"""Which days of the gazette are still to be read."""

from datetime import UTC, date, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clara.editorial.gazette.issues import MOST_DAYS, DayState, GazetteDay, missing

TODAY = date(2026, 7, 10)


def known(days_ago: int, state: DayState = DayState.READ, read_after_days: int = 1) -> GazetteDay:
    day = TODAY - timedelta(days=days_ago)
    moment = datetime(day.year, day.month, day.day, 10, tzinfo=UTC) + timedelta(days=read_after_days)
    return GazetteDay(day, state, 1, moment)


def by_day(*days: GazetteDay) -> dict[date, GazetteDay]:
    return {one.day: one for one in days}


def ago(days: tuple[date, ...]) -> list[int]:
    return [(TODAY - day).days for day in days]


@pytest.mark.parametrize(
    ("state", "read_after_days", "settled"),
    [
        (DayState.READ, 1, True),
        (DayState.NONE, 1, True),
        (DayState.READ, 0, False),
        (DayState.NONE, 0, False),
        (DayState.FAILED, 0, False),
        (DayState.FAILED, 5, False),
    ],
)
def test_a_day_is_settled_by_a_reading_after_its_end(state: DayState, read_after_days: int, settled: bool) -> None:
    """On the day itself an issue may still come; what failed is never settled."""
    assert known(9, state, read_after_days).settled is settled


def test_a_day_ends_in_madrid() -> None:
    """At 22:30 UTC in July it is the next day in Madrid; at 21:30 it is not."""
    day = date(2026, 7, 8)
    for hour, settled in ((21, False), (22, True)):
        assert GazetteDay(day, DayState.READ, 1, datetime(2026, 7, 8, hour, 30, tzinfo=UTC)).settled is settled


def test_without_any_reading_only_today_is_missing() -> None:
    """Nobody expects the past to be read unless it is asked for."""
    assert missing({}, TODAY).days == (TODAY,)
    assert ago(missing({}, TODAY, 4).days) == [3, 2, 1, 0]


def test_gaps_and_failures_are_missing() -> None:
    """Since the first day that was asked for, whatever is not settled is read, the oldest first."""
    days = by_day(known(6), known(5, DayState.FAILED), known(3), known(2, DayState.NONE), known(1, read_after_days=0))
    plan = missing(days, TODAY)
    assert (ago(plan.days), plan.behind) == ([5, 4, 1, 0], ())


def test_what_is_older_than_the_window_is_named() -> None:
    """It is read when somebody asks for so many days; settled days are not named."""
    days = by_day(known(40), known(35, DayState.FAILED), known(34))
    plan = missing(days, TODAY)
    assert ago(plan.days) == list(range(MOST_DAYS - 1, -1, -1))
    assert ago(plan.behind) == [39, 38, 37, 36, 35, 33, 32, 31, 30]
    assert ago(missing(days, TODAY, 41).days) == [39, 38, 37, 36, 35, *range(33, -1, -1)]
    assert missing(days, TODAY, 41).behind == ()


@given(
    st.dictionaries(st.integers(0, 60), st.tuples(st.sampled_from(DayState), st.integers(0, 3)), max_size=30),
    st.none() | st.integers(1, 90),
)
def test_no_day_falls_through(kept: dict[int, tuple[DayState, int]], days: int | None) -> None:
    """Since the first known day each one is settled, planned, or named as behind; nothing else is planned."""
    held = by_day(*(known(number, state, min(after, number)) for number, (state, after) in kept.items()))
    plan = missing(held, TODAY, days)
    assert list(plan.days) == sorted(set(plan.days))
    assert TODAY in plan.days
    assert not any(day in held and held[day].settled for day in (*plan.days, *plan.behind))
    if days is None:
        first = min(held, default=TODAY)
        every = {first + timedelta(days=after) for after in range((TODAY - first).days + 1)}
        assert every == {day for day, one in held.items() if one.settled} | set(plan.days) | set(plan.behind)
