"""The gazette as an operator reads it: which days were read, what concerns us, and what somebody has looked at."""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import date, datetime
from typing import Any, Final

from sqlalchemy import Engine, RowMapping, func, select, text, update

from clara.adapters.postgres.connections import translated
from clara.adapters.postgres.editorial.schema import gazette_days, gazette_items
from clara.adapters.postgres.sql import statement
from clara.delivery.ports import StoreUnavailableError
from clara.editorial.gazette.concerns import Concern
from clara.editorial.gazette.issues import CatchUp, DayReading, DayState, GazetteAlert, KnownDay, missing

LONGEST_ERROR: Final = 2_000


class PostgresGazette:
    """Keeps days and items. Every method raises CorpusUnavailableError."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def known(self) -> dict[date, KnownDay]:
        """Give every day that was ever asked for."""
        with translated(StoreUnavailableError), self._engine.connect() as connection:
            rows = connection.execute(select(gazette_days)).all()
        return {row.day: KnownDay(row.day, DayState(row.state), row.items, row.read_at) for row in rows}

    def missing(self, today: date, days: int | None = None) -> CatchUp:
        """Give the days that were not read yet, or failed, or might have got another issue since."""
        return missing(self.known(), today, days)

    def keep(self, reading: DayReading, found: Iterable[Concern], now: datetime) -> list[str]:
        """Record a day and its items that concern us, together; give the ids of those that are new.

        A known item keeps whom it was told to. Its reasons are replaced only by stronger ones: what was found once by reading
        the item's document is not lost because that could not be read again.
        """
        with translated(StoreUnavailableError), self._engine.begin() as connection:
            day = {
                **asdict(reading),
                "state": reading.state.value,
                "error": (reading.error or "")[:LONGEST_ERROR] or None,
                "read_at": now,
            }
            connection.execute(statement("keep_gazette_day"), day)
            # In the order of their ids: two that keep the same day wait for each other instead of locking each other out.
            kept = [
                connection.execute(statement("keep_gazette_item"), _item_of(concern, reading.day, now)).one()
                for concern in sorted(found, key=lambda concern: concern.item.id)
            ]
        return [row.id for row in kept if row.new]

    def alerts(self, ids: Sequence[str] | None = None, *, unseen: bool = False, limit: int = 1_000) -> list[GazetteAlert]:
        """Give items that concern us, the newest day first: of these ids, or that nobody has looked at, or all."""
        wanted = select(gazette_items).order_by(gazette_items.c.day.desc(), gazette_items.c.score.desc(), gazette_items.c.id)
        if ids is not None:
            wanted = wanted.where(gazette_items.c.id.in_(ids))
        if unseen:
            wanted = wanted.where(gazette_items.c.seen_at.is_(None))
        with translated(StoreUnavailableError), self._engine.connect() as connection:
            return [_alert(row) for row in connection.execute(wanted.limit(limit)).mappings()]

    def tell(self, post: Callable[[list[GazetteAlert]], None], now: datetime, limit: int = 50) -> list[str]:
        """Give `post` what nobody was told of and nobody has looked at, and mark it as told if that raises nothing.

        Rows that another process is telling at this moment are left to it. `post` has less than the 15 seconds that a
        transaction may wait.
        """
        waiting = (
            select(gazette_items)
            .where(gazette_items.c.notified_at.is_(None), gazette_items.c.seen_at.is_(None))
            .order_by(gazette_items.c.day, gazette_items.c.score.desc(), gazette_items.c.id)
            .limit(limit)
            .with_for_update(skip_locked=True)
        )
        with translated(StoreUnavailableError), self._engine.begin() as connection:
            alerts = [_alert(row) for row in connection.execute(waiting).mappings()]
            if not alerts:
                return []
            post(alerts)
            told = [alert.id for alert in alerts]
            connection.execute(update(gazette_items).where(gazette_items.c.id.in_(told)).values(notified_at=now))
        return told

    def seen(self, item_id: str, now: datetime) -> bool:
        """Record that a person has looked at an item; False when there is none of that id. The first time counts."""
        looked_at = func.coalesce(gazette_items.c.seen_at, now)
        with translated(StoreUnavailableError), self._engine.begin() as connection:
            done = connection.execute(update(gazette_items).where(gazette_items.c.id == item_id).values(seen_at=looked_at))
        return bool(done.rowcount)


def _item_of(concern: Concern, day: date, now: datetime) -> dict[str, Any]:
    return {
        "id": concern.item.id,
        "day": day,
        "section": concern.item.section,
        "department": concern.item.department,
        "title": concern.item.title,
        "url": concern.item.url_html,
        "score": concern.score,
        "reasons": json.dumps([asdict(reason) for reason in concern.reasons], ensure_ascii=False),
        "norms": list(concern.norms),
        "facts": list(concern.facts),
        "procedures": list(concern.procedures),
        "found_at": now,
    }


def _alert(row: RowMapping) -> GazetteAlert:
    fields: dict[str, Any] = dict(row)
    for name in ("reasons", "norms", "facts", "procedures"):
        fields[name] = tuple(fields[name])
    return GazetteAlert(**fields)


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
    """Reads the gazette's days and items, and notes what a person has looked at. Raises CorpusUnavailableError."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def days(self, limit: int) -> Sequence[GazetteDay]:
        """Give the last days."""
        with translated(StoreUnavailableError), self._engine.connect() as connection:
            return [GazetteDay(**row) for row in connection.execute(DAYS, {"limit": limit}).mappings()]

    def items(self, limit: int, before: str | None = None, *, unseen: bool = False) -> Sequence[GazetteItem]:
        """Give items, the newest first, those older than the item with this id; `unseen`: that nobody has looked at."""
        told: Mapping[str, object] = {"limit": limit, "before": before, "unseen": unseen}
        with translated(StoreUnavailableError), self._engine.connect() as connection:
            return [GazetteItem(**row) for row in connection.execute(ITEMS, told).mappings()]

    def seen(self, item: str) -> datetime | None:
        """Note that a person has looked at an item; give when that was first, None for an unknown item."""
        with translated(StoreUnavailableError), self._engine.begin() as connection:
            when: datetime | None = connection.scalar(SEEN, {"id": item})
            return when
