"""The record of what operators did: rows are added, never changed. It has no word of a person in it."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from sqlalchemy import Engine, text

from clara.adapters.postgres.connections import translated
from clara.delivery.ports import StoreUnavailableError

RECORD: Final = text("""
insert into audit_log (actor, act, subject, outcome, details)
values (:actor, :act, :subject, :outcome, cast(:details as jsonb)) returning id
""")
ENTRIES: Final = text("""
select id, at, actor, act, subject, outcome, details from audit_log
where cast(:before as bigint) is null or id < :before order by id desc limit :limit
""")

# What the trigger chain_act digests (migration 0011): the check computes it itself, and asks no function of the database's.
CHAIN: Final = text("""
select id, digest, convert_to(jsonb_build_array(
           id, to_char(at at time zone 'UTC', 'YYYY-MM-DD HH24:MI:SS.US'), actor, act, subject, outcome, details
       )::text, 'UTF8') as said
  from audit_log order by id
""")
AT_ONCE: Final = 1_000


@dataclass(frozen=True, slots=True)
class Chain:
    """How far the acts fit together: how many do, the last of them and its digest, the first that does not.

    `noted`: whether one of the fitting ones has the digest that was asked for.
    """

    acts: int
    last: int | None
    head: str
    broken: int | None = None
    noted: bool = False


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
    """Adds to the record and reads it. Raises CorpusUnavailableError."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def record(
        self, actor: str, act: str, subject: str = "", outcome: str = "done", details: Mapping[str, object] | None = None
    ) -> int:
        """Add an act; give its number. Nothing that a person wrote may be handed in."""
        told = {"actor": actor, "act": act, "subject": subject, "outcome": outcome, "details": json.dumps(dict(details or {}))}
        with translated(StoreUnavailableError), self._engine.begin() as connection:
            return int(connection.execute(RECORD, told).scalar_one())

    def entries(self, limit: int, before: int | None = None) -> Sequence[AuditEntry]:
        """Give acts, the newest first; those before the one with this number."""
        with translated(StoreUnavailableError), self._engine.connect() as connection:
            rows = connection.execute(ENTRIES, {"limit": limit, "before": before}).mappings()
            return [AuditEntry(**row) for row in rows]

    def chain(self, noted: str = "") -> Chain:
        """Follow the digests from the first act to the last, or to the first that does not fit."""
        acts, last, previous, broken, seen = 0, None, b"", None, False
        with (
            translated(StoreUnavailableError),
            self._engine.connect() as connection,
            connection.execution_options(yield_per=AT_ONCE).execute(CHAIN) as rows,
        ):
            for row in rows:
                if bytes(row.digest) != hashlib.sha256(previous + bytes(row.said)).digest():
                    broken = row.id
                    break
                acts, last, previous = acts + 1, row.id, bytes(row.digest)
                seen = seen or previous.hex() == noted
        return Chain(acts, last, previous.hex(), broken, seen)
