"""Keeping what a person decided about the facts of a finding, inside the transaction that decides the finding."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, func, insert, update

from clara.adapters.postgres.schema_publications import revisions
from clara.adapters.postgres.schema_sources import finding_facts
from clara.adapters.postgres.search import storable
from clara.ingestion.decisions import Holds


class UntouchedFactError(Exception):
    """The finding does not touch that fact. `clara review show N` names those that it touches."""

    def __init__(self, number: int, fact_id: str) -> None:
        super().__init__(f"finding {number} does not touch {fact_id}; `clara review show {number}` names those that it does")


@dataclass(frozen=True, slots=True)
class Draft:
    """A correction of a fact that deciding a finding leaves behind, unpublished."""

    fact_id: str
    fields: Mapping[str, Any]
    base_digest: str


Decided = Sequence[Draft | Holds]


def keep_decisions(connection: Connection, number: int, decided: Decided, why: str, actor: str) -> tuple[int, ...]:
    """Keep decisions about facts of a finding, each in place of the one before; give the numbers of the drafts.

    `why` is what the drafts are made for. Raises UntouchedFactError; then the caller's transaction must end.
    """
    drafts = []
    for one in decided:
        holds = isinstance(one, Holds)
        values = {
            "decision": "holds" if holds else "corrected",
            "reason": storable(one.reason) if isinstance(one, Holds) else None,
            "decided_at": func.now(),
            "decided_by": actor,
        }
        touched = update(finding_facts).where(finding_facts.c.finding_id == number, finding_facts.c.fact_id == one.fact_id)
        if not connection.execute(touched.values(values)).rowcount:
            raise UntouchedFactError(number, one.fact_id)
        earlier = update(revisions).where(
            revisions.c.finding_id == number,
            revisions.c.fact_id == one.fact_id,
            revisions.c.publication_id.is_(None),
            revisions.c.withdrawn_at.is_(None),
        )
        connection.execute(earlier.values(withdrawn_at=func.now()))
        if isinstance(one, Draft):
            drafts.append(_draft(connection, one, number, why, actor))
    return tuple(drafts)


def _draft(connection: Connection, draft: Draft, number: int, why: str, actor: str) -> int:
    made = insert(revisions).values(
        fact_id=draft.fact_id,
        fields=dict(draft.fields),
        base_digest=draft.base_digest,
        reason=why,
        finding_id=number,
        made_by=actor,
    )
    return int(connection.execute(made.returning(revisions.c.id)).scalar_one())
