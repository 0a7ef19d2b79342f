"""Facts that are served: which are doubted, when they were last looked at, and corrections that wait."""

import time
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from threading import Lock
from typing import Any, Final, LiteralString

from sqlalchemy import Engine, Row, func, insert, select, text, update

from clara.adapters.postgres.connections import translated
from clara.adapters.postgres.editorial.schema import revisions
from clara.adapters.postgres.sql import statement
from clara.adapters.postgres.statements import Exchanges
from clara.delivery.ports import StoreUnavailableError
from clara.ingestion.ports import CorpusUnavailableError
from clara.knowledge.freshness import Check, Held, ServedFact
from clara.knowledge.passages import COLLECTION, CORPUS
from clara.knowledge.procedure import source_from
from clara.knowledge.retriever_wrappers import madrid_today
from clara.knowledge.revisions import Revision
from clara.knowledge.sources import RegisteredSource

# A warning that comes so much later than the finding is in time, and a question in ten pays for the look.
LOOK_SECONDS: Final = 5.0
# An accepted finding goes on warning of a fact until that is held to be true, or its correction is served.
OPEN_FLAGS: LiteralString = """
select fact_id, to_char(max(found_at) at time zone 'Europe/Madrid', 'YYYY-MM-DD')
  from facts_in_doubt group by fact_id"""


class PostgresFlags:
    """Knows the facts that a finding puts in doubt; while the database is away those that were known last."""

    def __init__(self, url: str, clock: Callable[[], float] = time.monotonic) -> None:
        self._exchanges = Exchanges(url, clock)
        self._clock = clock
        self._lock = Lock()
        self._known: Mapping[str, str] = {}
        self._again_at = float("-inf")

    def current(self) -> Mapping[str, str]:
        """Give the day on which each fact was found to be in doubt, by fact id."""
        with self._lock:
            if self._clock() >= self._again_at:
                rows = self._exchanges.rows(OPEN_FLAGS)
                self._known = self._known if rows is None else dict(rows)
                self._again_at = self._clock() + LOOK_SECONDS
            return self._known

    def close(self) -> None:
        """Give the connection back; the next look opens another."""
        self._exchanges.close()


CHECKS: Final = text("select source_id, checked_at, reached_at, outcome, detail from checks")
FINDINGS_OF_FACTS: Final = text("""
select fact_id, array_agg(finding_id order by finding_id) as findings from facts_in_doubt group by fact_id
""")


class PostgresStaleness:
    """Reads what freshness is judged by, at one moment. Raises CorpusUnavailableError."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine.execution_options(isolation_level="REPEATABLE READ")

    def held(self, registered: Mapping[str, RegisteredSource]) -> Held:
        """Read everything."""
        with translated(StoreUnavailableError), self._engine.connect() as connection:
            served = connection.execute(statement("served_facts"), {"corpus": CORPUS, "collection": COLLECTION})
            facts = [_fact(dict(row)) for row in served.mappings()]
            checks = {row["source_id"]: Check(**row) for row in connection.execute(CHECKS).mappings()}
            flagged = {row.fact_id: tuple(row.findings) for row in connection.execute(FINDINGS_OF_FACTS)}
            now: datetime = connection.execute(text("select now()")).scalar_one()
        return Held(facts, checks, flagged, registered, now, madrid_today())


def _fact(row: Mapping[str, Any]) -> ServedFact:
    bases: Sequence[Mapping[str, Any]] = row["legal_basis"] or ()
    return ServedFact(
        id=row["id"],
        procedure=row["document_id"],
        section=row["section"],
        sources=tuple(source_from(source) for source in row["sources"] or ()),
        norms=frozenset(basis["norm"] for basis in bases),
        valid_until=row["valid_until"],
    )


class PostgresRevisions:
    """Keeps revisions. Every method may raise CorpusUnavailableError."""

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
        with translated(CorpusUnavailableError), self._engine.begin() as connection:
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
        with translated(CorpusUnavailableError), self._engine.begin() as connection:
            return connection.execute(gone.values(withdrawn_at=func.now())).rowcount

    def _where(self, condition: Any) -> list[Revision]:  # noqa: ANN401  SQLAlchemy's own type of a condition
        with translated(CorpusUnavailableError), self._engine.connect() as connection:
            rows = connection.execute(select(revisions).where(condition).order_by(revisions.c.id))
            return [_revision(row) for row in rows]


def _revision(row: Row[Any]) -> Revision:
    fields: Mapping[str, Any] = row.fields
    return Revision(row.id, row.fact_id, fields, row.base_digest, row.reason, row.made_by)
