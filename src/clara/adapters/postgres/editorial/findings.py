"""What sources said, and what was found to differ from what is served: kept once, decided by a person, fact by fact."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Final

from clara.adapters.postgres.corpus.index import storable
from clara.adapters.postgres.statements import Row, Statements, Store, Transaction, made
from clara.delivery.ports import StoreUnavailableError
from clara.editorial import records
from clara.editorial.drift import DriftFinding, Touched
from clara.editorial.sources import Snapshot, SnapshotState
from clara.ingestion.ports import CorpusUnavailableError
from clara.knowledge.freshness import Check
from clara.knowledge.passages import CORPUS
from clara.knowledge.revisions import Revision
from clara.language.figures.figure import figures_as_json

# Answers of these days may still be acted upon; whoever got an older one has asked again, or has done without.
ANSWERS_DAYS: Final = 30
BY_RULE: Final = "rule"
# Turns that are named, the newest first, for `clara explain --turn`.
NAMED_TURNS: Final = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class QueuedFinding(records.FindingRecord):
    """A finding as operators read it. `answers` counts those of the last days that cited a fact it touches.

    `facts` have the relation to the finding and, where it is certain, the fact with its new figures. `turns` are the newest of
    those answers, by number.
    """

    source: str
    facts: Sequence[Mapping[str, Any]]
    procedures: Sequence[str]
    answers: int
    turns: Sequence[int]


class PostgresReview(Store):
    """Reads findings. Raises StoreUnavailableError."""

    unavailable = StoreUnavailableError

    def findings(self, limit: int, before: int | None = None, state: str | None = None) -> Sequence[QueuedFinding]:
        """Give findings in a state, or in any, the newest first; those older than the one with this number."""
        return self._read(limit=limit, before=before, state=state)

    def finding(self, number: int) -> QueuedFinding | None:
        """Give one finding."""
        return next(iter(self._read(number=number)), None)

    def _read(
        self, limit: int = 1, before: int | None = None, state: str | None = None, number: int | None = None
    ) -> Sequence[QueuedFinding]:
        asked = {"limit": limit, "before": before, "state": state, "number": number}
        return self._at_once.read(QueuedFinding, "findings", **asked, corpus=CORPUS, days=ANSWERS_DAYS, turns=NAMED_TURNS)


def _keep_decisions(together: Transaction, number: int, decided: records.Decided, why: str, actor: str) -> tuple[int, ...]:
    """Keep decisions about facts of a finding, each in place of the one before; give the numbers of the drafts.

    `why` is what the drafts are made for. Raises UntouchedFactError; then the caller's transaction must end.
    """
    drafts = []
    for one in decided:
        decision, reason = ("holds", storable(one.reason)) if isinstance(one, records.Holds) else ("corrected", None)
        fact = {"id": number, "fact_id": one.fact_id}
        if not together.changed("finding.decide_fact", **fact, decision=decision, reason=reason, actor=actor):
            raise records.UntouchedFactError(number, one.fact_id)
        together.changed("finding.withdraw_drafts", **fact)
        if isinstance(one, Revision):
            made_for = {"reason": why, "made_by": actor, "finding_id": number}
            drafts.append(int(together.value("fact.draft", **asdict(one) | made_for)))
    return tuple(drafts)


class PostgresFindings(Store):
    """Keeps findings. Each method is one transaction, and may raise CorpusUnavailableError."""

    unavailable = CorpusUnavailableError

    def record(self, source_id: str, found: records.Differences, snapshot_id: int | None = None) -> dict[str, int]:
        """Keep what a source differs in, and give the numbers of what waits for a person, by digest.

        Repeating it changes nothing. What was open and is not found any more is superseded, and without a snapshot that waits
        no other one does. What was decided stays decided. A cosmetic difference waits for nobody.
        """
        with self._at_once.transaction() as together:
            together.row("snapshot.lock", source_id=source_id)
            kept = [_keep(together, finding, touched, snapshot_id) for finding, touched in found]
            together.changed("finding.supersede", source_id=source_id, kept=[row.id for row in kept])
            if snapshot_id is None:
                together.changed("snapshot.displace", source_id=source_id, state="waiting", id=0)
            else:
                _settle(together, snapshot_id, source_id)
        return {finding.digest: row.id for (finding, _), row in zip(found, kept, strict=True) if row.state == "open"}

    def open(self) -> list[records.KeptFinding]:
        """Give what waits for a person, oldest first."""
        return _read(self._at_once, state="open")

    def undecided(self) -> list[records.KeptFinding]:
        """Give what was accepted and touches facts that nobody has decided about, oldest first."""
        return _read(self._at_once, undecided=True)

    def find(self, number: int) -> records.KeptFinding:
        """Give one finding. Raises UnknownFindingError."""
        return _one(self._at_once, number)

    def cited(self, fact_ids: Sequence[str]) -> dict[str, int]:
        """Count the answers of the last 30 days that quote each fact; facts that none quotes are left out."""
        rows = self._at_once.rows("cited_turns", facts=list(fact_ids), days=ANSWERS_DAYS)
        return {row.fact_id: row.turns for row in rows}

    def accept(self, number: int, decided: records.Decided, actor: str, reason: str | None = None) -> records.Settled:
        """Let a finding be right, and keep what was decided about its facts; of one that is accepted already, only that.

        The last decision about a snapshot settles it: it is served from then on, or rejected if any finding of it was. Raises
        UnknownFindingError, UntouchedFactError, and DecidedFindingError where there is nothing left to decide or nothing was.
        """
        with self._at_once.transaction() as together:
            finding = _locked(together, number)
            if finding.state != "accepted" or not decided:
                finding = _decide(together, finding, "accepted", actor, reason)
            drafts = _keep_decisions(together, number, decided, f"{finding.source_id} {finding.title}", actor)
            return _settled(together, _one(together, number), actor, drafts, decided)

    def reject(self, number: int, reason: str, actor: str) -> records.Settled:
        """Let a finding be wrong, for a reason. Raises UnknownFindingError, DecidedFindingError."""
        with self._at_once.transaction() as together:
            finding = _decide(together, _locked(together, number), "rejected", actor, reason)
            return _settled(together, finding, actor)


def _keep(together: Transaction, finding: DriftFinding, touched: Sequence[Touched], snapshot_id: int | None) -> Row:
    cosmetic = finding.weight == "cosmetic"
    words = {name: getattr(finding, name) for name in ("place", "title", "before", "after")}
    row = together.row(
        "finding.keep",
        source_id=finding.source_id,
        kind=finding.kind,
        weight=finding.weight,
        figures={"gone": figures_as_json(finding.figures_gone), "new": figures_as_json(finding.figures_new)},
        snapshot_id=snapshot_id,
        digest=finding.digest,
        state="accepted" if cosmetic else "open",
        decided_by=BY_RULE if cosmetic else None,
        **{name: text and storable(text) for name, text in words.items()},
    )
    if row.state == "open":
        together.changed("finding.forget_touched", id=row.id)
        for one in touched:
            together.changed("finding.touch", id=row.id, fact_id=one.fact.id, relation=one.relation, proposal=one.proposal)
    return row


def _locked(together: Transaction, number: int) -> records.KeptFinding:
    """Give a finding; the snapshot's other findings wait meanwhile, so that exactly one decision is the last."""
    together.row("snapshot.lock", source_id=_one(together, number).source_id)
    return _one(together, number)


def _decide(
    together: Transaction, finding: records.KeptFinding, state: str, actor: str, reason: str | None
) -> records.KeptFinding:
    if finding.state != "open":
        raise records.DecidedFindingError(finding)
    together.changed("finding.decide", id=finding.id, state=state, actor=actor, reason=reason and storable(reason))
    return _one(together, finding.id)


def _settled(
    together: Transaction, finding: records.KeptFinding, actor: str, drafts: tuple[int, ...] = (), decided: records.Decided = ()
) -> records.Settled:
    """Serve or reject the snapshot when nothing of it is open any more, and write down who decided what."""
    state = _settle(together, finding.snapshot_id, finding.source_id) if finding.snapshot_id else None
    details = {
        "source": finding.source_id, "place": finding.place,
        "facts": [one.fact_id for one in finding.touched], "undecided": list(finding.undecided),
        "held": {one.fact_id: one.reason for one in decided if isinstance(one, records.Holds)},
        "corrected": [one.fact_id for one in decided if isinstance(one, Revision)], "drafts": list(drafts),
        "snapshot": finding.snapshot_id, "snapshot_state": state,
    }  # fmt: skip
    act = {"act": f"review {finding.state}", "subject": f"finding {finding.id}", "outcome": "done"}
    together.row("audit.record", actor=actor, details=details, **act)
    return records.Settled(finding, state, drafts)


def _settle(together: Transaction, snapshot_id: int, source_id: str) -> str | None:
    now = together.row("finding.states", id=snapshot_id)
    if now is None or now.state != "waiting" or "open" in now.findings:
        return now and str(now.state)
    new = "rejected" if "rejected" in now.findings else "served"
    if new == "served":
        together.changed("snapshot.displace", source_id=source_id, state="served", id=snapshot_id)
        together.changed("finding.spend", id=snapshot_id)
    together.changed("snapshot.move", id=snapshot_id, state=new)
    return new


def _one(held: Statements, number: int) -> records.KeptFinding:
    found = _read(held, number=number)
    if not found:
        raise records.UnknownFindingError(number)
    return found[0]


def _read(held: Statements, number: int = 0, state: str = "", *, undecided: bool = False) -> list[records.KeptFinding]:
    rows = held.rows("finding.read", id=number, state=state, undecided=undecided)
    touched: dict[int, list[records.KeptTouch]] = {}
    for finding_id, *fact in held.rows("finding.touched", findings=[row.id for row in rows]):
        touched.setdefault(finding_id, []).append(records.KeptTouch(*fact))
    return [made(records.KeptFinding, row, touched=tuple(touched.get(row.id, ()))) for row in rows]


class PostgresSnapshots(Store):
    """Keeps every state of every source. Each method is one transaction, and may raise CorpusUnavailableError."""

    unavailable = CorpusUnavailableError

    def served(self, source_id: str) -> Snapshot | None:
        """Give the one that answers rest on."""
        return next(iter(self._at_once.read(Snapshot, "snapshot.served", source_id=source_id)), None)

    def keep(self, snapshot: Snapshot, state: SnapshotState) -> Snapshot:
        """Store it as waiting or served, and give it as it is stored; repeating it changes nothing but the time."""
        with self._at_once.transaction() as together:
            together.row("snapshot.lock", source_id=snapshot.source_id)
            kept = together.row("snapshot.keep", **asdict(snapshot) | {"content": storable(snapshot.content)})
            if state == "served":
                _move(together, kept.id, snapshot.source_id, "served")
            elif kept.state in {"waiting", "past"}:
                _move(together, kept.id, snapshot.source_id, "waiting")
            return together.read(Snapshot, "snapshot.find", id=kept.id)[0]

    def note_ingestion(self, snapshot_id: int, done: Mapping[str, Any]) -> None:
        """Remember what the last ingestion of it did."""
        self._at_once.changed("snapshot.note_ingestion", id=snapshot_id, done=done)

    def ingestions(self, run: str) -> dict[str, dict[str, Any]]:
        """Give what a run did, by source."""
        return {row.source_id: row.ingestion for row in self._at_once.rows("snapshot.ingestions", run=run)}

    def check(self, source_id: str, outcome: str, *, reached: bool, detail: str = "") -> None:
        """Remember the look at a source; one that did not answer keeps the time when it last did."""
        told = {"source_id": source_id, "outcome": outcome, "reached": reached, "detail": storable(detail)}
        self._at_once.changed("snapshot.check", **told)

    def checks(self) -> list[Check]:
        """Give the last look at each source, by id."""
        return self._at_once.read(Check, "snapshot.checks")


def _move(together: Transaction, snapshot_id: int, source_id: str, state: SnapshotState) -> None:
    """Let a snapshot be served, or wait, in place of the one of its source that did."""
    together.changed("snapshot.displace", id=snapshot_id, source_id=source_id, state=state)
    together.changed("snapshot.move", id=snapshot_id, state=state)
