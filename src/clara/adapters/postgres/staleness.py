"""What freshness is judged by: the facts that are served, the last looks at their sources, and the findings that touch them."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Final

from sqlalchemy import Engine, text

from clara.adapters.postgres.desk import outages
from clara.adapters.postgres.sql import statement
from clara.knowledge.freshness import Check, Held, ServedFact
from clara.knowledge.passages import COLLECTION, CORPUS
from clara.knowledge.placing import madrid_today
from clara.knowledge.procedure import Source
from clara.knowledge.sources import RegisteredSource

CHECKS: Final = text("select source_id, checked_at, reached_at, outcome, detail from checks")
FINDINGS_OF_FACTS: Final = text("""
select fact_id, array_agg(finding_id order by finding_id) as findings from facts_in_doubt group by fact_id
""")


class PostgresStaleness:
    """Reads what freshness is judged by, at one moment. Raises StoreUnavailableError."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine.execution_options(isolation_level="REPEATABLE READ")

    def held(self, registered: Mapping[str, RegisteredSource]) -> Held:
        """Read everything."""
        with outages(), self._engine.connect() as connection:
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
        sources=tuple(Source(**source) for source in row["sources"] or ()),
        norms=frozenset(basis["norm"] for basis in bases),
        valid_until=row["valid_until"],
    )
