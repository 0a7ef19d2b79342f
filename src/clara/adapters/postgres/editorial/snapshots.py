"""What sources said, and the last look at each: implements ingestion's Snapshots."""

from collections.abc import Mapping, Sequence
from typing import Any, cast

from sqlalchemy import Connection, Engine, Row, and_, func, select, text, update
from sqlalchemy.dialects.postgresql import insert

from clara.adapters.postgres.connections import translated
from clara.adapters.postgres.corpus.index import storable
from clara.adapters.postgres.editorial.schema import checks, snapshots
from clara.editorial.sources import CheckOutcome, Snapshot, SnapshotState, SourceCheck, UnknownSnapshotError
from clara.ingestion.ports import CorpusUnavailableError

_FIELDS = [column for column in snapshots.c if column.name != "ingestion"]


class PostgresSnapshots:
    """Keeps every state of every source. Each method is one transaction, and may raise CorpusUnavailableError."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def served(self, source_id: str) -> Snapshot | None:
        """Give the one that answers rest on."""
        return self._one(and_(snapshots.c.source_id == source_id, snapshots.c.state == "served"))

    def find(self, snapshot_id: int) -> Snapshot | None:
        """Give the snapshot of that number."""
        return self._one(snapshots.c.id == snapshot_id)

    def waiting(self) -> Sequence[Snapshot]:
        """Give those that wait for a person, at most one of a source, by source."""
        wanted = select(*_FIELDS).where(snapshots.c.state == "waiting").order_by(snapshots.c.source_id)
        with translated(CorpusUnavailableError), self._engine.connect() as connection:
            return [_snapshot(row) for row in connection.execute(wanted)]

    def keep(self, snapshot: Snapshot, state: SnapshotState) -> Snapshot:
        """Store it as waiting or served, and give it as it is stored; repeating it changes nothing but the time."""
        values = {
            "source_id": snapshot.source_id,
            "kind": snapshot.kind,
            "url": snapshot.url,
            "digest": snapshot.digest,
            "content": storable(snapshot.content),
            "version_date": snapshot.version_date,
            "etag": snapshot.etag,
            "last_modified": snapshot.last_modified,
            "state": "waiting",
        }
        seen = {"fetched_at": func.now(), "etag": snapshot.etag, "last_modified": snapshot.last_modified, "url": snapshot.url}
        with translated(CorpusUnavailableError), self._engine.begin() as connection:
            _lock(connection, snapshot.source_id)
            kept = connection.execute(
                insert(snapshots)
                .values(values)
                .on_conflict_do_update(index_elements=["source_id", "digest"], set_=seen)
                .returning(snapshots.c.id, snapshots.c.state)
            ).one()
            if state == "served":
                _serve(connection, kept.id, snapshot.source_id)
            elif kept.state in {"waiting", "past"}:
                _wait(connection, kept.id, snapshot.source_id)
            return _snapshot(connection.execute(select(*_FIELDS).where(snapshots.c.id == kept.id)).one())

    def serve(self, snapshot_id: int) -> None:
        """Let answers rest on it from now on, and on no other of its source. Raises UnknownSnapshotError."""
        with translated(CorpusUnavailableError), self._engine.begin() as connection:
            source = connection.scalar(select(snapshots.c.source_id).where(snapshots.c.id == snapshot_id))
            if source is None:
                raise UnknownSnapshotError(f"there is no snapshot {snapshot_id}")
            _lock(connection, source)
            _serve(connection, snapshot_id, source)

    def reject(self, snapshot_id: int) -> None:
        """Never let answers rest on it, however often the source says so. Raises UnknownSnapshotError."""
        changed = update(snapshots).where(snapshots.c.id == snapshot_id, snapshots.c.state != "served").values(state="rejected")
        with translated(CorpusUnavailableError), self._engine.begin() as connection:
            if not connection.execute(changed).rowcount:
                raise UnknownSnapshotError(f"there is no snapshot {snapshot_id} that could be rejected")

    def note_ingestion(self, snapshot_id: int, done: Mapping[str, Any]) -> None:
        """Remember what the last ingestion of it did."""
        with translated(CorpusUnavailableError), self._engine.begin() as connection:
            connection.execute(update(snapshots).where(snapshots.c.id == snapshot_id).values(ingestion=dict(done)))

    def ingestions(self, run: str) -> dict[str, dict[str, Any]]:
        """Give what a run did, by source."""
        wanted = select(snapshots.c.source_id, snapshots.c.ingestion).where(snapshots.c.ingestion["run"].astext == run)
        with translated(CorpusUnavailableError), self._engine.connect() as connection:
            return {row.source_id: row.ingestion for row in connection.execute(wanted)}

    def check(self, source_id: str, outcome: CheckOutcome, *, reached: bool, detail: str = "") -> None:
        """Remember the look at a source; one that did not answer keeps the time when it last did."""
        now = func.statement_timestamp()  # the same in every column
        values: dict[str, Any] = {"checked_at": now, "outcome": outcome, "detail": storable(detail)}
        values |= {"reached_at": now} if reached else {}
        made = insert(checks).values(source_id=source_id, **values)
        with translated(CorpusUnavailableError), self._engine.begin() as connection:
            connection.execute(made.on_conflict_do_update(index_elements=["source_id"], set_=values))

    def checks(self) -> list[SourceCheck]:
        """Give the last look at each source, by id."""
        with translated(CorpusUnavailableError), self._engine.connect() as connection:
            rows = connection.execute(select(checks).order_by(checks.c.source_id)).all()
        return [
            SourceCheck(row.source_id, row.checked_at, row.reached_at, cast("CheckOutcome", row.outcome), row.detail)
            for row in rows
        ]

    def _one(self, condition: Any) -> Snapshot | None:  # noqa: ANN401  SQLAlchemy's own types differ by operator
        with translated(CorpusUnavailableError), self._engine.connect() as connection:
            row = connection.execute(select(*_FIELDS).where(condition)).one_or_none()
        return None if row is None else _snapshot(row)


def _lock(connection: Connection, source_id: str) -> None:
    """Be the only one who changes the snapshots of a source, until the transaction ends."""
    connection.execute(text("select pg_advisory_xact_lock(hashtext('snapshots'), hashtext(:source))"), {"source": source_id})


def _serve(connection: Connection, snapshot_id: int, source_id: str) -> None:
    of_source = snapshots.c.source_id == source_id
    before = update(snapshots).where(of_source, snapshots.c.state == "served", snapshots.c.id != snapshot_id)
    connection.execute(before.values(state="past"))
    connection.execute(update(snapshots).where(snapshots.c.id == snapshot_id).values(state="served"))


def _wait(connection: Connection, snapshot_id: int, source_id: str) -> None:
    earlier = update(snapshots).where(
        snapshots.c.source_id == source_id, snapshots.c.state == "waiting", snapshots.c.id != snapshot_id
    )
    connection.execute(earlier.values(state="past"))
    connection.execute(update(snapshots).where(snapshots.c.id == snapshot_id).values(state="waiting"))


def _snapshot(row: Row[Any]) -> Snapshot:
    return Snapshot(**row._mapping)  # noqa: SLF001  the columns are the fields
