"""What was found to differ from what is served: kept once, decided by a person, with the facts that it touches."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from sqlalchemy import Connection, Engine, Row, Text, case, cast, delete, func, insert, select, text, update
from sqlalchemy.dialects.postgresql import insert as upsert

from clara.adapters.postgres.connections import translated
from clara.adapters.postgres.corpus.index import storable
from clara.adapters.postgres.editorial.schema import finding_facts, findings, revisions, snapshots
from clara.adapters.postgres.operations.schema import audit_log
from clara.adapters.postgres.sql import statement
from clara.delivery.ports import StoreUnavailableError
from clara.editorial.decisions import Holds
from clara.editorial.drift import DriftFinding, Touched
from clara.editorial.records import (
    Decided,
    DecidedFindingError,
    Differences,
    Draft,
    KeptFinding,
    KeptTouch,
    Settled,
    UnknownFindingError,
    UntouchedFactError,
)
from clara.ingestion.ports import CorpusUnavailableError
from clara.knowledge.passages import CORPUS
from clara.language.figures.figure import as_json

# Answers of these days may still be acted upon; whoever got an older one has asked again, or has done without.
ANSWERS_DAYS: Final = 30
# Turns that are named, the newest first, for `clara explain --turn`.
NAMED_TURNS: Final = 10


@dataclass(frozen=True, slots=True)
class QueuedFinding:
    """What was found to differ from what is served. `answers` counts those of the last days that cited a fact it touches.

    `facts` have the relation to the finding and, where it is certain, the fact with its new figures. `turns` are the newest of
    those answers, by number.
    """

    id: int
    source: str
    kind: str
    weight: str
    place: str
    title: str
    before: str | None
    after: str | None
    figures: Mapping[str, Any]
    found_at: datetime
    state: str
    decided_at: datetime | None
    decided_by: str | None
    reason: str | None
    facts: Sequence[Mapping[str, Any]]
    procedures: Sequence[str]
    answers: int
    turns: Sequence[int]


class PostgresReview:
    """Reads findings. Raises StoreUnavailableError."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def findings(self, limit: int, before: int | None = None, state: str | None = None) -> Sequence[QueuedFinding]:
        """Give findings in a state, or in any, the newest first; those older than the one with this number."""
        return self._read(limit=limit, before=before, state=state, number=None)

    def finding(self, number: int) -> QueuedFinding | None:
        """Give one finding."""
        return next(iter(self._read(limit=1, before=None, state=None, number=number)), None)

    def _read(self, **told: object) -> Sequence[QueuedFinding]:
        with translated(StoreUnavailableError), self._engine.connect() as connection:
            constant = {"corpus": CORPUS, "days": ANSWERS_DAYS, "turns": NAMED_TURNS}
            return [QueuedFinding(**row) for row in connection.execute(statement("findings"), told | constant).mappings()]


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


BY_RULE: Final = "rule"
RECENT_DAYS: Final = 30


class PostgresFindings:
    """Keeps findings. Each method is one transaction, and may raise CorpusUnavailableError."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def record(self, source_id: str, found: Differences, snapshot_id: int | None = None) -> dict[str, int]:
        """Keep what a source differs in, and give the numbers of what waits for a person, by digest.

        Repeating it changes nothing. What was open and is not found any more is superseded, and without a snapshot that waits
        no other one does. What was decided stays decided. A cosmetic difference waits for nobody.
        """
        with translated(CorpusUnavailableError), self._engine.begin() as connection:
            _lock(connection, source_id)
            kept = [_keep(connection, finding, touched, snapshot_id) for finding, touched in found]
            gone = update(findings).where(
                findings.c.source_id == source_id, findings.c.state == "open", findings.c.id.not_in([row.id for row in kept])
            )
            connection.execute(gone.values(state="superseded"))
            if snapshot_id is None:
                waiting = update(snapshots).where(snapshots.c.source_id == source_id, snapshots.c.state == "waiting")
                connection.execute(waiting.values(state="past"))
            else:
                _settle(connection, snapshot_id, source_id)
        return {finding.digest: row.id for (finding, _), row in zip(found, kept, strict=True) if row.state == "open"}

    def open(self) -> list[KeptFinding]:
        """Give what waits for a person, oldest first."""
        with translated(CorpusUnavailableError), self._engine.connect() as connection:
            return _read(connection, findings.c.state == "open")

    def undecided(self) -> list[KeptFinding]:
        """Give what was accepted and touches facts that nobody has decided about, oldest first."""
        with translated(CorpusUnavailableError), self._engine.connect() as connection:
            doubtful = text("findings.id in (select finding_id from facts_in_doubt where state = 'accepted' and not drafted)")
            return _read(connection, doubtful)

    def find(self, number: int) -> KeptFinding:
        """Give one finding. Raises UnknownFindingError."""
        with translated(CorpusUnavailableError), self._engine.connect() as connection:
            return _one(connection, number)

    def cited(self, fact_ids: Sequence[str]) -> dict[str, int]:
        """Count the answers of the last 30 days that quote each fact; facts that none quotes are left out."""
        with translated(CorpusUnavailableError), self._engine.connect() as connection:
            rows = connection.execute(statement("cited_turns"), {"facts": list(fact_ids), "days": RECENT_DAYS})
            return {row.fact_id: row.turns for row in rows}

    def accept(self, number: int, decided: Decided, actor: str, reason: str | None = None) -> Settled:
        """Let a finding be right, and keep what was decided about its facts; of one that is accepted already, only that.

        The last decision about a snapshot settles it: it is served from then on, or rejected if any finding of it was. Raises
        UnknownFindingError, UntouchedFactError, and DecidedFindingError where there is nothing left to decide or nothing was.
        """
        with translated(CorpusUnavailableError), self._engine.begin() as connection:
            finding = _locked(connection, number)
            if finding.state != "accepted" or not decided:
                finding = _decide(connection, finding, "accepted", actor, reason)
            made = keep_decisions(connection, number, decided, f"{finding.source_id} {finding.title}", actor)
            return _settled(connection, _one(connection, number), actor, made, decided)

    def reject(self, number: int, reason: str, actor: str) -> Settled:
        """Let a finding be wrong, for a reason. Raises UnknownFindingError, DecidedFindingError."""
        with translated(CorpusUnavailableError), self._engine.begin() as connection:
            finding = _decide(connection, _locked(connection, number), "rejected", actor, reason)
            return _settled(connection, finding, actor)


def _keep(connection: Connection, finding: DriftFinding, touched: Sequence[Touched], snapshot_id: int | None) -> Row[Any]:
    cosmetic = finding.weight == "cosmetic"
    values = {
        "source_id": finding.source_id,
        "kind": finding.kind,
        "weight": finding.weight,
        "place": storable(finding.place),
        "title": storable(finding.title),
        "before": None if finding.before is None else storable(finding.before),
        "after": None if finding.after is None else storable(finding.after),
        "figures": {
            name: _figures(figures) for name, figures in (("gone", finding.figures_gone), ("new", finding.figures_new))
        },
        "snapshot_id": snapshot_id,
        "digest": finding.digest,
        "state": "accepted" if cosmetic else "open",
        "decided_by": BY_RULE if cosmetic else None,
        "decided_at": func.now() if cosmetic else None,
    }
    made = upsert(findings).values(values)
    open_again = findings.c.state.in_(("open", "superseded"))
    kept = made.on_conflict_do_update(
        index_elements=["digest"],
        set_={
            "snapshot_id": made.excluded.snapshot_id,
            "state": case((open_again, made.excluded.state), else_=findings.c.state),
        },
    ).returning(findings.c.id, findings.c.state)
    row = connection.execute(kept).one()
    if row.state == "open":
        connection.execute(delete(finding_facts).where(finding_facts.c.finding_id == row.id))
    if touched and row.state == "open":
        facts = [
            {
                "finding_id": row.id,
                "fact_id": one.fact.id,
                "relation": one.relation,
                "proposal": one.proposal and dict(one.proposal),
            }
            for one in touched
        ]
        connection.execute(insert(finding_facts), facts)
    return row


def _figures(figures: frozenset[Any]) -> list[Any]:
    return [json.loads(as_json(figure)) for figure in sorted(figures, key=str)]


def _locked(connection: Connection, number: int) -> KeptFinding:
    """Give a finding; the snapshot's other findings wait meanwhile, so that exactly one decision is the last."""
    source = connection.scalar(select(findings.c.source_id).where(findings.c.id == number))
    if source is None:
        raise UnknownFindingError(number)
    _lock(connection, source)
    return _one(connection, number)


def _decide(connection: Connection, finding: KeptFinding, state: str, actor: str, reason: str | None) -> KeptFinding:
    if finding.state != "open":
        raise DecidedFindingError(finding)
    decision = update(findings).where(findings.c.id == finding.id)
    connection.execute(
        decision.values(state=state, decided_at=func.now(), decided_by=actor, reason=reason and storable(reason))
    )
    return _one(connection, finding.id)


def _settled(
    connection: Connection, finding: KeptFinding, actor: str, drafts: tuple[int, ...] = (), decided: Decided = ()
) -> Settled:
    """Serve or reject the snapshot when nothing of it is open any more, and write down who decided what."""
    state = _settle(connection, finding.snapshot_id, finding.source_id) if finding.snapshot_id else None
    connection.execute(
        insert(audit_log).values(
            actor=actor,
            act=f"review {finding.state}",
            subject=f"finding {finding.id}",
            details={
                "source": finding.source_id, "place": finding.place,
                "facts": [one.fact_id for one in finding.touched], "undecided": list(finding.undecided),
                "held": {one.fact_id: one.reason for one in decided if isinstance(one, Holds)},
                "corrected": [one.fact_id for one in decided if isinstance(one, Draft)], "drafts": list(drafts),
                "snapshot": finding.snapshot_id, "snapshot_state": state,
            },
        )
    )  # fmt: skip
    return Settled(finding, state, drafts)


def _settle(connection: Connection, snapshot_id: int, source_id: str) -> str | None:
    of_snapshot = findings.c.snapshot_id == snapshot_id
    states = set(connection.scalars(select(findings.c.state).where(of_snapshot)))
    now: str | None = connection.scalar(select(snapshots.c.state).where(snapshots.c.id == snapshot_id))
    if now != "waiting" or "open" in states:
        return now
    new = "rejected" if "rejected" in states else "served"
    if new == "served":
        served = update(snapshots).where(snapshots.c.source_id == source_id, snapshots.c.state == "served")
        connection.execute(served.values(state="past"))
        # The decision has done its work: should the source go back and say this again one day, a person decides again.
        spent = update(findings).where(of_snapshot, findings.c.state == "accepted")
        connection.execute(spent.values(digest=findings.c.digest + "/" + cast(findings.c.id, Text)))
    connection.execute(update(snapshots).where(snapshots.c.id == snapshot_id).values(state=new))
    return new


def _one(connection: Connection, number: int) -> KeptFinding:
    found = _read(connection, findings.c.id == number)
    if not found:
        raise UnknownFindingError(number)
    return found[0]


def _read(connection: Connection, condition: Any) -> list[KeptFinding]:  # noqa: ANN401  SQLAlchemy's own types differ by operator
    columns = [findings.c[name] for name in KeptFinding.__dataclass_fields__ if name != "touched"]
    rows = connection.execute(select(*columns).where(condition).order_by(findings.c.id)).all()
    touched: dict[int, list[KeptTouch]] = {}
    for fact in connection.execute(statement("touched_facts"), {"findings": [row.id for row in rows]}).mappings():
        touched.setdefault(fact["finding_id"], []).append(
            KeptTouch(**{name: fact[name] for name in KeptTouch.__dataclass_fields__})
        )
    return [KeptFinding(**row._mapping, touched=tuple(touched.get(row.id, ()))) for row in rows]  # noqa: SLF001  the columns are the fields


def _lock(connection: Connection, source_id: str) -> None:
    """Be the only one who changes the findings and snapshots of a source, until the transaction ends."""
    connection.execute(text("select pg_advisory_xact_lock(hashtext('snapshots'), hashtext(:source))"), {"source": source_id})
