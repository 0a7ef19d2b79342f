"""Deciding what was found: showing it, accepting it with the corrections of facts that follow, rejecting it for a reason."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from clara.adapters.postgres.findings import Draft, KeptFinding, PostgresFindings, Settled
from clara.bootstrap import Services
from clara.ingestion.drift import Finding, proposal
from clara.jobs.drift_report import finding_lines
from clara.jobs.ingesting import INDEX_FAULTS
from clara.jobs.settling import PROFILE, settle
from clara.knowledge.figures import Figure, figure_from
from clara.knowledge.law.passages import LAW_CORPUS
from clara.knowledge.procedure import Fact
from clara.knowledge.revising import Revision, fact_digest

Say = Callable[[str], None]
# Lines of a terminal: more than any difference has.
_ALL = 100_000


@dataclass(frozen=True, slots=True)
class Decider:
    """Who decides: a role, never a person; why; and whether the process may load the model that embeds what changed."""

    role: str = "cli"
    reason: str | None = None
    embeds: bool = True


AT_THE_COMMAND_LINE = Decider()


class MissingReasonError(Exception):
    """A rejection needs a reason, because the same wording is not found again. Give it with --reason."""

    def __init__(self) -> None:
        super().__init__(self.__doc__)


def waiting(services: Services) -> list[dict[str, Any]]:
    """Give what waits for a person, oldest first. Raises StoreUnavailableError."""
    return [_entry(services, finding) for finding in PostgresFindings(services.engine.get()).open()]


def one(services: Services, number: int) -> dict[str, Any]:
    """Give one finding. Raises UnknownFindingError, StoreUnavailableError."""
    return _entry(services, PostgresFindings(services.engine.get()).find(number))


def table(entries: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """Write what waits as one line each."""
    for entry in entries:
        proposals = sum(fact["proposal"] is not None for fact in entry["facts"])
        touched = _counted(len(entry["facts"]), "fact") + (f", {proposals} with a proposal" if proposals else "")
        yield f"#{entry['id']}  {entry['found_at'][:10]}  {entry['source']}  {entry['title'][:60]}  ({touched})"
    yield f"{len(entries)} findings wait. `clara review show N` shows one." if entries else "Nothing waits for review."


def page(entry: Mapping[str, Any]) -> Iterator[str]:
    """Write one finding in full."""
    yield f"{entry['source']}, found {entry['found_at'][:10]}, {entry['state']}"
    if entry["reason"]:
        yield f"  because: {entry['reason']}"
    yield from finding_lines(entry, _ALL)
    if entry["state"] == "open":
        yield f"`clara review accept {entry['id']}` or `clara review reject {entry['id']} --reason ...`"


def accept(services: Services, number: int, *, keep_facts: bool, say: Say, by: Decider = AT_THE_COMMAND_LINE) -> Settled:
    """Let a finding be right. Facts with a proposal get a draft for `clara publish`; the others are held to be true still.

    With `keep_facts` all of them are. Raises UnknownFindingError, DecidedFindingError, StoreUnavailableError.
    """
    store = PostgresFindings(services.engine.get())
    drafts = [] if keep_facts else list(_drafts(services, store.find(number), say))
    settled = store.accept(number, drafts, by.role, by.reason)
    say(_said(settled))
    if settled.snapshot == "served" and settled.finding.kind == "article":
        _index(services, settled.finding.source_id, say, by)
    if settled.drafts:
        names = ", ".join(draft.fact_id for draft in drafts)
        say(f"As drafts wait {_counted(len(settled.drafts), 'corrected fact')}: {names}. Run `clara publish`.")
    return settled


def _index(services: Services, norm: str, say: Say, by: Decider) -> None:
    """Bring the accepted wording into the corpus of the law, where that holds the norm. What is served is decided already."""
    store = services.passages(services.profile(PROFILE), services.filling(LAW_CORPUS))
    if not store.stored(LAW_CORPUS, norm).passages:
        return
    if not by.embeds:
        say(f"{norm} is searched by its new wording after `clara ingest --source {norm}`.")
        return
    try:
        done = settle(services, norm)
    except INDEX_FAULTS as error:
        say(f"{norm} is not searched by its new wording yet ({error}); run `clara ingest --source {norm}`")
    else:
        say(f"{norm} is searched by its new wording: {done.written} passages written, {done.dropped} dropped.")


def reject(services: Services, number: int, reason: str, say: Say, by: Decider = AT_THE_COMMAND_LINE) -> Settled:
    """Let a finding be wrong. Raises MissingReasonError, UnknownFindingError, DecidedFindingError, StoreUnavailableError."""
    if not reason.strip():
        raise MissingReasonError
    settled = PostgresFindings(services.engine.get()).reject(number, reason.strip(), by.role)
    say(_said(settled))
    return settled


def _said(settled: Settled) -> str:
    states = {
        "served": "its new state is served now",
        "rejected": "its new state is rejected and not found again",
        "waiting": "its new state waits for the other findings",
    }
    after = states.get(settled.snapshot or "", "")
    return f"#{settled.finding.id} {settled.finding.state}{': ' if after else ''}{after}."


def _drafts(services: Services, finding: KeptFinding, say: Say) -> Iterator[Draft]:
    """Give the corrections that follow. A fact that has a draft already is corrected from that one, so that neither is lost."""
    released = {
        fact.id: fact for procedure in services.released.get().catalogue.procedures.values() for fact in procedure.facts
    }
    pending = {revision.fact_id: revision for revision in services.revisions().drafts()}
    for touched in finding.touched:
        if touched.proposal is None:
            continue
        fact = released.get(touched.fact_id)
        fields: Mapping[str, Any] | None = touched.proposal
        if fact is not None and touched.fact_id in pending:
            fields = proposal(_drafted(fact, pending[touched.fact_id]), _finding(finding))
        if fact is None or fields is None:
            say(f"{touched.fact_id} has changed since it was proposed to correct it; look at it and correct it by hand")
        else:
            yield Draft(touched.fact_id, fields, fact_digest(fact))


def _drafted(fact: Fact, draft: Revision) -> Fact:
    values = draft.fields.get("values")
    known = fact.values if values is None else frozenset(figure_from(value) for value in values)
    return replace(fact, text=draft.fields.get("text", fact.text), values=known)


def _finding(kept: KeptFinding) -> Finding:
    def figures(name: str) -> frozenset[Figure]:
        return frozenset(figure_from(value) for value in kept.figures.get(name, ()))

    kind: Literal["page", "article"] = "page" if kept.kind == "page" else "article"
    return Finding(
        kept.source_id, kind, "substantive", kept.place, kept.title, kept.before, kept.after, figures("gone"), figures("new")
    )


def _entry(services: Services, finding: KeptFinding) -> dict[str, Any]:
    facts = {
        fact.id: (fact, procedure.id)
        for procedure in services.knowledge.get().catalogue.procedures.values()
        for fact in procedure.facts
    }
    turns = PostgresFindings(services.engine.get()).cited([touched.fact_id for touched in finding.touched])
    return {
        "id": finding.id,
        "source": finding.source_id,
        "kind": finding.kind,
        "weight": finding.weight,
        "place": finding.place,
        "title": finding.title,
        "state": finding.state,
        "found_at": finding.found_at.isoformat(),
        "decided_at": finding.decided_at.isoformat() if finding.decided_at else None,
        "reason": finding.reason,
        "before": finding.before,
        "after": finding.after,
        "figures": finding.figures,
        "procedures": sorted({facts[touched.fact_id][1] for touched in finding.touched if touched.fact_id in facts}),
        "facts": [
            {
                "fact": touched.fact_id,
                "relation": touched.relation,
                "text": facts[touched.fact_id][0].text if touched.fact_id in facts else None,
                "proposal": touched.proposal,
                "recent_answers": turns.get(touched.fact_id, 0),
            }
            for touched in finding.touched
        ],
    }


def _counted(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
