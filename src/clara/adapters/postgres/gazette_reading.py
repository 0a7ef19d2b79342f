"""The gazette as an operator reads it: which days were read, what concerns us, and what somebody has looked at."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any, Final

from sqlalchemy import Engine, text

from clara.adapters.postgres.desk import outages

DAYS: Final = text("""
select day, state, issues, items, tries, error, read_at from gazette_days order by day desc limit :limit
""")
# The newest day first; an item is older than another by day and, within a day, by id.
ITEMS: Final = text("""
select id, day, section, department, title, url, score, reasons, norms, facts, found_at, notified_at, seen_at
from gazette_items
where (not :unseen or seen_at is null)
    and (
        cast(:before as text) is null
        or (day, id) < (select day, id from gazette_items where id = :before)
    )
order by day desc, id desc limit :limit
""")
SEEN: Final = text("update gazette_items set seen_at = coalesce(seen_at, now()) where id = :id returning seen_at")


@dataclass(frozen=True, slots=True)
class GazetteDay:
    """A day of the gazette: read, none (no issue on that day), or failed, with the last error."""

    day: date
    state: str
    issues: int
    items: int
    tries: int
    error: str | None
    read_at: datetime


@dataclass(frozen=True, slots=True)
class GazetteItem:
    """An item of the gazette that concerns norms we cite, or our matters, and why."""

    id: str
    day: date
    section: str
    department: str
    title: str
    url: str
    score: float
    reasons: Any
    norms: Sequence[str]
    facts: Sequence[str]
    found_at: datetime
    notified_at: datetime | None
    seen_at: datetime | None


class PostgresGazetteReading:
    """Reads the gazette's days and items, and notes what a person has looked at. Raises StoreUnavailableError."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def days(self, limit: int) -> Sequence[GazetteDay]:
        """Give the last days."""
        with outages(), self._engine.connect() as connection:
            return [GazetteDay(**row) for row in connection.execute(DAYS, {"limit": limit}).mappings()]

    def items(self, limit: int, before: str | None = None, *, unseen: bool = False) -> Sequence[GazetteItem]:
        """Give items, the newest first, those older than the item with this id; `unseen`: that nobody has looked at."""
        told: Mapping[str, object] = {"limit": limit, "before": before, "unseen": unseen}
        with outages(), self._engine.connect() as connection:
            return [GazetteItem(**row) for row in connection.execute(ITEMS, told).mappings()]

    def seen(self, item: str) -> datetime | None:
        """Note that a person has looked at an item; give when that was first, None for an unknown item."""
        with outages(), self._engine.begin() as connection:
            when: datetime | None = connection.scalar(SEEN, {"id": item})
            return when
