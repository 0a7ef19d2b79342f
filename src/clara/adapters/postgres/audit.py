"""The record of what operators did: rows are added, never changed. It has no word of a person in it."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from sqlalchemy import Engine, text

from clara.adapters.postgres.desk import outages

RECORD: Final = text("""
insert into audit_log (actor, act, subject, outcome, details)
values (:actor, :act, :subject, :outcome, cast(:details as jsonb)) returning id
""")
ENTRIES: Final = text("""
select id, at, actor, act, subject, outcome, details from audit_log
where cast(:before as bigint) is null or id < :before order by id desc limit :limit
""")


@dataclass(frozen=True, slots=True)
class AuditEntry:
    """An act: by whom (operator, reader, stranger, cli), what, on what, and what came of it (done, refused, failed)."""

    id: int
    at: datetime
    actor: str
    act: str
    subject: str
    outcome: str
    details: Mapping[str, Any]


class PostgresAudit:
    """Adds to the record and reads it. Raises StoreUnavailableError."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def record(
        self, actor: str, act: str, subject: str = "", outcome: str = "done", details: Mapping[str, object] | None = None
    ) -> int:
        """Add an act; give its number. Nothing that a person wrote may be handed in."""
        told = {"actor": actor, "act": act, "subject": subject, "outcome": outcome, "details": json.dumps(dict(details or {}))}
        with outages(), self._engine.begin() as connection:
            return int(connection.execute(RECORD, told).scalar_one())

    def entries(self, limit: int, before: int | None = None) -> Sequence[AuditEntry]:
        """Give acts, the newest first; those before the one with this number."""
        with outages(), self._engine.connect() as connection:
            rows = connection.execute(ENTRIES, {"limit": limit, "before": before}).mappings()
            return [AuditEntry(**row) for row in rows]
