"""The gazette as an operator reads it: which days were read, what concerns us, and what somebody has looked at."""

import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict
from datetime import date, datetime
from typing import Any, Final

from clara.adapters.postgres.statements import Store
from clara.delivery.ports import StoreUnavailableError
from clara.editorial.gazette.concerns import Concern
from clara.editorial.gazette.issues import DayReading, GazetteAlert, GazetteDay

LONGEST_ERROR: Final = 2_000


class PostgresGazette(Store):
    """Keeps days and items. Every method raises StoreUnavailableError."""

    unavailable = StoreUnavailableError

    def known(self) -> dict[date, GazetteDay]:
        """Give every day that was ever asked for."""
        return {known.day: known for known in self.days(None)}

    def keep(self, reading: DayReading, found: Iterable[Concern], now: datetime) -> list[str]:
        """Record a day and its items that concern us, together; give the ids of those that are new.

        A known item keeps whom it was told to. Its reasons are replaced only by stronger ones: what was found once by reading
        the item's document is not lost because that could not be read again.
        """
        day = asdict(reading) | {"state": reading.state.value, "error": (reading.error or "")[:LONGEST_ERROR] or None}
        with self._at_once.transaction() as together:
            together.changed("keep_gazette_day", **day, read_at=now)
            # In the order of their ids: two that keep the same day wait for each other instead of locking each other out.
            kept = [
                together.row("keep_gazette_item", **_item_of(concern, reading.day, now))
                for concern in sorted(found, key=lambda concern: concern.item.id)
            ]
        return [row.id for row in kept if row.new]

    def alerts(self, ids: Sequence[str] | None = None, *, unseen: bool = False, limit: int = 1_000) -> list[GazetteAlert]:
        """Give items that concern us, the newest day first: of these ids, or that nobody has looked at, or all."""
        return self._at_once.read(GazetteAlert, "gazette.alerts", ids=ids, unseen=unseen, limit=limit)

    def tell(self, post: Callable[[list[GazetteAlert]], None], now: datetime, limit: int = 50) -> list[str]:
        """Give `post` what nobody was told of and nobody has looked at, and mark it as told if that raises nothing.

        Rows that another process is telling at this moment are left to it. `post` has less than the 15 seconds that a
        transaction may wait.
        """
        with self._at_once.transaction() as together:
            alerts = together.read(GazetteAlert, "gazette.untold", limit=limit)
            told = [alert.id for alert in alerts]
            if told:
                post(alerts)
                together.changed("gazette.told", ids=told, now=now)
        return told

    def days(self, limit: int | None) -> Sequence[GazetteDay]:
        """Give the last days, or all."""
        return self._at_once.read(GazetteDay, "gazette.days", limit=limit)

    def items(self, limit: int, before: str | None = None, *, unseen: bool = False) -> Sequence[GazetteAlert]:
        """Give items, the newest first, those older than the item with this id; `unseen`: that nobody has looked at."""
        return self._at_once.read(GazetteAlert, "gazette.items", limit=limit, before=before, unseen=unseen)

    def seen(self, item_id: str, now: datetime | None = None) -> datetime | None:
        """Note that a person has looked at an item; give when that was first, None for an unknown item."""
        when: datetime | None = self._at_once.value("gazette.seen", id=item_id, now=now)
        return when


def _item_of(concern: Concern, day: date, now: datetime) -> dict[str, Any]:
    reasons = json.dumps([asdict(reason) for reason in concern.reasons], ensure_ascii=False)
    lists = {name: list(getattr(concern, name)) for name in ("norms", "facts", "procedures")}
    told = {"url": concern.item.url_html, "score": concern.score, "reasons": reasons, **lists}
    return {**asdict(concern.item), **told, "day": day, "found_at": now}
