"""Which days of the gazette are still to be read. Pure.

A day is settled when it was read, or had no issue, after it had ended in Madrid: before that an issue may still come, or a
second one. What failed is never settled.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from enum import StrEnum
from typing import Final
from zoneinfo import ZoneInfo

# Days that are caught up at once. An operator who was away for longer is told, and asks for more.
MOST_DAYS: Final = 30
MADRID: Final = ZoneInfo("Europe/Madrid")


class DayState(StrEnum):
    """What came of reading a day."""

    READ = "read"
    NONE = "none"
    """The gazette has no issue of that day."""
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class KnownDay:
    """What is kept of a day that was asked for, and when that was."""

    day: date
    state: DayState
    items: int
    read_at: datetime

    @property
    def settled(self) -> bool:
        """Whether it need not be asked for again."""
        return self.state is not DayState.FAILED and self.read_at.astimezone(MADRID).date() > self.day


@dataclass(frozen=True, slots=True)
class Plan:
    """The days to read, the oldest first, and those that are too long ago to be caught up without being asked to."""

    days: tuple[date, ...]
    behind: tuple[date, ...] = ()


def missing(known: Mapping[date, KnownDay], today: date, days: int | None = None) -> Plan:
    """Give the days that are not settled: of the last so many, or since the first that was ever asked for.

    Without any that was asked for, only today: the past is nobody's expectation.
    """
    window = [today - timedelta(days=back) for back in reversed(range(days or MOST_DAYS))]
    first = window[0] if days else min(known, default=today)
    unsettled = [day for day in window if day >= first and not (day in known and known[day].settled)]
    old = [first + timedelta(days=after) for after in range((window[0] - first).days)]
    return Plan(tuple(unsettled), tuple(day for day in old if not (day in known and known[day].settled)))
