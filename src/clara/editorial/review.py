"""Deciding what was found: showing it, accepting it with a decision about each fact that it touches, rejecting it for a reason.

Accepting says that the source is right, and nothing about any fact: each is corrected or held to be true by itself, and until
then answers warn of it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

from clara.editorial.decisions import Decision
from clara.editorial.findings import Draft, KeptFinding, Settled
from clara.editorial.ports import EditorialDesk, Say
from clara.editorial.review_case import ReviewCase
from clara.errors import Invalid
from clara.ingestion.norms import INDEX_FAULTS
from clara.plain_text import counted


@dataclass(frozen=True, slots=True)
class Decider:
    """Who decides: a role, never a person; why; and whether the process may load the model that embeds what changed."""

    role: str = "cli"
    reason: str | None = None
    embeds: bool = True


@dataclass(frozen=True, slots=True)
class Verdicts:
    """What is decided about the facts of a finding.

    `every_proposal`: the facts without a decision are corrected as it is proposed for them. `bases`: new base figures in euros
    by name, for proposals that the finding alone leaves open. `place` names in errors where the decisions stand.
    """

    decisions: Sequence[Decision] = ()
    every_proposal: bool = False
    bases: Mapping[str, Decimal] = field(default_factory=dict)
    place: str = "decisions"


class MissingReasonError(Invalid):
    """A rejection needs a reason, because the same wording is not found again. Give it with --reason."""


def waiting(desk: EditorialDesk) -> list[dict[str, Any]]:
    """Give what waits for a person, oldest first: open findings, and accepted ones with facts that nobody decided about.

    Raises CorpusUnavailableError.
    """
    found = sorted([*desk.findings.open(), *desk.findings.undecided()], key=lambda finding: finding.id)
    return [_entry(desk, finding) for finding in found]


def one(desk: EditorialDesk, number: int, bases: Mapping[str, Decimal] | None = None) -> dict[str, Any]:
    """Give one finding; `bases` as in Verdicts. Raises UnknownFindingError, DataError, CorpusUnavailableError."""
    return _entry(desk, desk.findings.find(number), bases)


def _entry(desk: EditorialDesk, finding: KeptFinding, bases: Mapping[str, Decimal] | None = None) -> dict[str, Any]:
    answers = desk.findings.cited([touched.fact_id for touched in finding.touched])
    return ReviewCase(desk, finding, bases).entry(answers)


def accept(desk: EditorialDesk, number: int, verdicts: Verdicts, by: Decider, say: Say) -> Settled:
    """Let a finding be right, and keep what is decided about its facts; of one that was accepted, only the latter.

    Corrections are drafts for `clara publish`. What nobody decides stays in doubt, and is named. Bad decisions are one error,
    and nothing is written. Raises DataError, UnknownFindingError, UntouchedFactError, DecidedFindingError,
    CorpusUnavailableError.
    """
    before = desk.findings.find(number)
    case = ReviewCase(desk, before, verdicts.bases)
    decisions = list(verdicts.decisions)
    if verdicts.every_proposal:
        named = {one.fact_id for one in decisions}
        decisions += [one for one in case.proposed() if one.fact_id not in named]
    decided = case.settled(decisions, verdicts.place)
    settled = desk.findings.accept(number, decided, by.role, by.reason)
    say(_said(settled))
    for line in _facts_said(settled, [one.fact_id for one in decided if isinstance(one, Draft)]):
        say(line)
    if before.state == "open" and settled.snapshot == "served" and settled.finding.kind == "article":
        _index(desk, settled.finding.source_id, say, by)
    return settled


def _facts_said(settled: Settled, corrected: Sequence[str]) -> list[str]:
    number, lines = settled.finding.id, []
    if corrected:
        lines.append(
            f"As drafts wait {counted(len(corrected), 'corrected fact')}: {', '.join(corrected)}. Run `clara publish`."
        )
    if undecided := settled.finding.undecided:
        lines.append(
            f"Undecided, and told with the warning: {counted(len(undecided), 'fact')}: {', '.join(undecided)}. "
            f"Decide them with `clara review accept {number} --decisions FILE`; `clara review show {number}` shows them."
        )
    return lines


def _index(desk: EditorialDesk, norm: str, say: Say, by: Decider) -> None:
    """Bring the accepted wording into the corpus of the law, where that holds the norm. What is served is decided already."""
    if not desk.norms.holds(norm):
        return
    if not by.embeds:
        say(f"{norm} is searched by its new wording after `clara ingest --source {norm}`.")
        return
    try:
        done = desk.norms.settle(norm)
    except INDEX_FAULTS as error:
        say(f"{norm} is not searched by its new wording yet ({error}); run `clara ingest --source {norm}`")
    else:
        say(f"{norm} is searched by its new wording: {done.written} passages written, {done.dropped} dropped.")


def reject(desk: EditorialDesk, number: int, reason: str, by: Decider, say: Say) -> Settled:
    """Let a finding be wrong. Raises MissingReasonError, UnknownFindingError, DecidedFindingError, CorpusUnavailableError."""
    if not reason.strip():
        raise MissingReasonError
    settled = desk.findings.reject(number, reason.strip(), by.role)
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
