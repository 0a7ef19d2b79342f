"""The record of what operators did: rows are added, never changed. It has no word of a person in it."""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from clara.adapters.postgres.statements import Store
from clara.delivery.ports import StoreUnavailableError

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


class PostgresAudit(Store):
    """Adds to the record and reads it. Raises CorpusUnavailableError."""

    unavailable = StoreUnavailableError

    def record(
        self, actor: str, act: str, subject: str = "", outcome: str = "done", details: Mapping[str, object] | None = None
    ) -> int:
        """Add an act; give its number. Nothing that a person wrote may be handed in."""
        told = {"actor": actor, "act": act, "subject": subject, "outcome": outcome, "details": details or {}}
        return int(self._at_once.value("audit.record", **told))

    def entries(self, limit: int, before: int | None = None) -> Sequence[AuditEntry]:
        """Give acts, the newest first; those before the one with this number."""
        return self._at_once.read(AuditEntry, "audit.entries", limit=limit, before=before)

    def chain(self, noted: str = "") -> Chain:
        """Follow the digests from the first act to the last, or to the first that does not fit."""
        acts, last, previous, broken, seen = 0, None, b"", None, False
        with self._at_once.transaction() as held:
            for row in held.streamed("audit.chain", AT_ONCE):
                if bytes(row.digest) != hashlib.sha256(previous + bytes(row.said)).digest():
                    broken = row.id
                    break
                acts, last, previous = acts + 1, row.id, bytes(row.digest)
                seen = seen or previous.hex() == noted
        return Chain(acts, last, previous.hex(), broken, seen)
