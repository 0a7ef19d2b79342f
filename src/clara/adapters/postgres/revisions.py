"""Facts that people corrected since the release: drafts until they are published."""

from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import Engine, Row, func, insert, select, update

from clara.adapters.postgres.evidence import outages
from clara.adapters.postgres.schema_publications import revisions
from clara.knowledge.revising import Revision


class PostgresRevisions:
    """Keeps revisions. Every method may raise StoreUnavailableError."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def draft(self, revision: Revision, finding: int | None = None) -> int:
        """Keep a correction that is not served yet; give its number. The one that is handed in counts for nothing."""
        kept = insert(revisions).values(
            fact_id=revision.fact_id,
            fields=dict(revision.fields),
            base_digest=revision.base_digest,
            reason=revision.reason,
            made_by=revision.made_by,
            finding_id=finding,
        )
        with outages(), self._engine.begin() as connection:
            return int(connection.execute(kept.returning(revisions.c.id)).scalar_one())

    def drafts(self) -> list[Revision]:
        """Give what waits to be published, oldest first."""
        waiting = revisions.c.publication_id.is_(None) & revisions.c.withdrawn_at.is_(None)
        return self._where(waiting)

    def of(self, ids: Sequence[int], *, withdrawn: bool = True) -> list[Revision]:
        """Give the revisions of a version, in order; without `withdrawn` those that the next one still holds."""
        kept = revisions.c.id.in_(list(ids))
        return self._where(kept if withdrawn else kept & revisions.c.withdrawn_at.is_(None)) if ids else []

    def withdraw(self, fact_id: str) -> int:
        """Take back every correction of a fact, drafts and published ones; give how many there were.

        What is served stays as it is until the next publication.
        """
        gone = update(revisions).where(revisions.c.fact_id == fact_id, revisions.c.withdrawn_at.is_(None))
        with outages(), self._engine.begin() as connection:
            return connection.execute(gone.values(withdrawn_at=func.now())).rowcount

    def _where(self, condition: Any) -> list[Revision]:  # noqa: ANN401  SQLAlchemy's own type of a condition
        with outages(), self._engine.connect() as connection:
            rows = connection.execute(select(revisions).where(condition).order_by(revisions.c.id))
            return [_revision(row) for row in rows]


def _revision(row: Row[Any]) -> Revision:
    fields: Mapping[str, Any] = row.fields
    return Revision(row.id, row.fact_id, fields, row.base_digest, row.reason, row.made_by)
