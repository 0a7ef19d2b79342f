"""What sources said, and the last look at each: implements ingestion's Snapshots."""

from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import Engine

from clara.adapters.postgres.corpus.index import storable
from clara.adapters.postgres.statements import AtOnce, Transaction
from clara.editorial.sources import CheckOutcome, Snapshot, SnapshotState, SourceCheck, UnknownSnapshotError
from clara.ingestion.ports import CorpusUnavailableError


class PostgresSnapshots:
    """Keeps every state of every source. Each method is one transaction, and may raise CorpusUnavailableError."""

    def __init__(self, engine: Engine) -> None:
        self._at_once = AtOnce(engine, CorpusUnavailableError)

    def served(self, source_id: str) -> Snapshot | None:
        """Give the one that answers rest on."""
        return next(iter(self._at_once.read(Snapshot, "snapshot.in_state", state="served", source_id=source_id)), None)

    def find(self, snapshot_id: int) -> Snapshot | None:
        """Give the snapshot of that number."""
        return next(iter(self._at_once.read(Snapshot, "snapshot.find", id=snapshot_id)), None)

    def waiting(self) -> Sequence[Snapshot]:
        """Give those that wait for a person, at most one of a source, by source."""
        return self._at_once.read(Snapshot, "snapshot.in_state", state="waiting", source_id=None)

    def keep(self, snapshot: Snapshot, state: SnapshotState) -> Snapshot:
        """Store it as waiting or served, and give it as it is stored; repeating it changes nothing but the time."""
        with self._at_once.transaction() as together:
            together.row("snapshot.lock", source_id=snapshot.source_id)
            kept = together.row(
                "snapshot.keep",
                source_id=snapshot.source_id,
                kind=snapshot.kind,
                url=snapshot.url,
                digest=snapshot.digest,
                content=storable(snapshot.content),
                version_date=snapshot.version_date,
                etag=snapshot.etag,
                last_modified=snapshot.last_modified,
            )
            if state == "served":
                _move(together, kept.id, snapshot.source_id, "served")
            elif kept.state in {"waiting", "past"}:
                _move(together, kept.id, snapshot.source_id, "waiting")
            return together.read(Snapshot, "snapshot.find", id=kept.id)[0]

    def serve(self, snapshot_id: int) -> None:
        """Let answers rest on it from now on, and on no other of its source. Raises UnknownSnapshotError."""
        with self._at_once.transaction() as together:
            found = together.row("snapshot.find", id=snapshot_id)
            if found is None:
                raise UnknownSnapshotError(f"there is no snapshot {snapshot_id}")
            together.row("snapshot.lock", source_id=found.source_id)
            _move(together, snapshot_id, found.source_id, "served")

    def reject(self, snapshot_id: int) -> None:
        """Never let answers rest on it, however often the source says so. Raises UnknownSnapshotError."""
        if not self._at_once.changed("snapshot.reject", id=snapshot_id):
            raise UnknownSnapshotError(f"there is no snapshot {snapshot_id} that could be rejected")

    def note_ingestion(self, snapshot_id: int, done: Mapping[str, Any]) -> None:
        """Remember what the last ingestion of it did."""
        self._at_once.changed("snapshot.note_ingestion", id=snapshot_id, done=done)

    def ingestions(self, run: str) -> dict[str, dict[str, Any]]:
        """Give what a run did, by source."""
        return {row.source_id: row.ingestion for row in self._at_once.rows("snapshot.ingestions", run=run)}

    def check(self, source_id: str, outcome: CheckOutcome, *, reached: bool, detail: str = "") -> None:
        """Remember the look at a source; one that did not answer keeps the time when it last did."""
        told = {"source_id": source_id, "outcome": outcome, "reached": reached, "detail": storable(detail)}
        self._at_once.changed("snapshot.check", **told)

    def checks(self) -> list[SourceCheck]:
        """Give the last look at each source, by id."""
        return self._at_once.read(SourceCheck, "snapshot.checks")


def _move(together: Transaction, snapshot_id: int, source_id: str, state: SnapshotState) -> None:
    """Let a snapshot be served, or wait, in place of the one of its source that did."""
    together.changed("snapshot.displace", id=snapshot_id, source_id=source_id, state=state)
    together.changed("snapshot.move", id=snapshot_id, state=state)
