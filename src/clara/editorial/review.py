"""Deciding what was found: showing it, accepting it with a decision about each fact that it touches, rejecting it for a reason.

Accepting says that the source is right, and nothing about any fact: each is corrected or held to be true by itself, and until
then answers warn of it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from functools import cached_property
from typing import Any, Literal

from clara.data_files import DataError, Fault, read_schema
from clara.editorial.decisions import Corrected, Decision, Holds, untouched
from clara.editorial.drift import DriftFinding, Moved, figures_as_json, moved_bases, proposes, proposing
from clara.editorial.ports import EditorialDesk, Say
from clara.editorial.records import Draft, KeptFinding, KeptTouch, Settled
from clara.errors import Invalid
from clara.ingestion.norms import INDEX_FAULTS
from clara.knowledge.catalogue import Catalogue
from clara.knowledge.derivations import current, read_derivations, shown
from clara.knowledge.passages import CORPUS
from clara.knowledge.procedure import Fact
from clara.knowledge.revisions import Revision, fact_digest, fact_document, revised
from clara.language.figures.figure import Figure, figure_from
from clara.language.figures.reader import spanish
from clara.language.identity_data import holds_numbers
from clara.plain_text import counted


class ReviewCase:
    """One finding, with the facts that it touches. `bases` are new base figures that a person gives, in euros by name.

    Reading raises CorpusUnavailableError, DataError.
    """

    def __init__(self, desk: EditorialDesk, finding: KeptFinding, bases: Mapping[str, Decimal] | None = None) -> None:
        self.finding = finding
        self._desk = desk
        self.served = facts_of(desk.served().catalogue)
        self._released = facts_of(desk.released().catalogue)
        self._drafts: Sequence[Revision] = desk.revisions.drafts()
        self._derivations = read_derivations(desk.data)
        self._given = bases or {}
        if unknown := sorted(self._given.keys() - self._derivations.bases.keys()):
            known = ", ".join(self._derivations.bases)
            raise DataError([Fault("--base", name, f"is no base figure; there are {known}") for name in unknown])

    @cached_property
    def moved(self) -> dict[str, Moved]:
        """Give the bases that move, by name: those that the finding moves, and those that a person says do."""
        resting = {
            one.fact_id: self.served[one.fact_id]
            for one in self.finding.touched
            if one.relation != "formula" and one.fact_id in self.served
        }
        found = moved_bases(found_of(self.finding), self._derivations, resting)
        given = {
            name: Moved(found[name].old if name in found else self._base(name), value) for name, value in self._given.items()
        }
        return {**found, **given}

    def _base(self, name: str) -> Decimal:
        base = self._derivations.bases[name]
        fact = self.served.get(base.fact)
        return (current(base, fact) if fact else None) or base.value

    def moves(self) -> list[dict[str, Any]]:
        """Give the bases that move as JSON."""
        titles = {name: base.title for name, base in self._derivations.bases.items()}
        return [
            {"base": name, "title": titles[name], "old": shown(one.old), "new": None if one.new is None else shown(one.new)}
            for name, one in self.moved.items()
        ]

    def proposal(self, touched: KeptTouch) -> dict[str, Any] | None:
        """Give the fields that are proposed for a fact, on top of its drafts; None where that leaves doubt."""
        fact = self.served.get(touched.fact_id)
        if fact is None or not (proposes(self.finding.kind, touched.relation) or self._given):
            return None
        propose = proposing(found_of(self.finding), self._derivations, self.served, self.moved)
        return propose(self.drafted(touched.fact_id) or fact)

    def drafted(self, fact_id: str) -> Fact | None:
        """Give a fact with the drafts that wait laid over it; None where none does."""
        fact, drafts = self.served.get(fact_id), [draft for draft in self._drafts if draft.fact_id == fact_id]
        if fact is None or not drafts:
            return None
        for draft in drafts:
            if "values" in draft.fields:
                fact = replace(fact, values=frozenset(figure_from(value) for value in draft.fields["values"] or ()))
            fact = replace(fact, text=draft.fields.get("text", fact.text))
        return fact

    def proposed(self) -> list[Decision]:
        """Decide every fact that nobody has decided about as it is proposed, where anything is."""
        undecided = set(self.finding.undecided)
        return [
            Corrected(one.fact_id)
            for one in self.finding.touched
            if one.fact_id in undecided and self.proposal(one) is not None
        ]

    def settled(self, decisions: Sequence[Decision], name: str) -> list[Draft | Holds]:
        """Give decisions as they are kept, held to every rule of data/.

        Raises DataError naming every fault; `name` tells where the decisions stand.
        """
        touched = {one.fact_id: one for one in self.finding.touched}
        made = [self._kept(one, touched[one.fact_id], name) for one in decisions if one.fact_id in touched]
        if faults := [*untouched(decisions, list(touched), name), *(one for one in made if isinstance(one, Fault))]:
            raise DataError(faults)
        kept = [one for one in made if not isinstance(one, Fault)]
        self._check([one for one in kept if isinstance(one, Draft)])
        return kept

    def _kept(self, one: Decision, touched: KeptTouch, name: str) -> Draft | Holds | Fault:
        if isinstance(one, Corrected):
            return self._draft(one, touched, name)
        if holds_numbers(one.reason):
            return Fault(
                name, one.fact_id, "its reason holds a number of somebody; the audit log keeps it for ever: leave it out"
            )
        return one

    def _draft(self, one: Corrected, touched: KeptTouch, name: str) -> Draft | Fault:
        released, told = self._released.get(one.fact_id), self.served.get(one.fact_id)
        if released is None or told is None:
            return Fault(name, one.fact_id, "data/ has no such fact any more; say that it holds, and why")
        fields = self.proposal(touched) if one.fields is None else one.fields
        if fields is None:
            return Fault(name, one.fact_id, "nothing is proposed for it; give its text")
        if "text" in fields:
            values = figures_as_json(spanish().values_in(fields["text"])) or None  # None: the fact has none
            fields = {"values": values, **fields}
        document = fact_document(told)
        if all(document.get(field) == value for field, value in fields.items()):
            return Fault(name, one.fact_id, "is corrected to what it says already; say that it holds, and why")
        return Draft(one.fact_id, fields, fact_digest(released))

    def _check(self, drafts: Sequence[Draft]) -> None:
        if not drafts:
            return
        corrections = self._desk.revisions
        served = self._desk.publications.served(CORPUS)
        laid = [*corrections.of(served.revisions, withdrawn=False), *self._drafts]
        last = max((one.id for one in laid), default=0)
        new = [Revision(last + place, one.fact_id, one.fields, one.base_digest) for place, one in enumerate(drafts, 1)]
        schema = read_schema(self._desk.data / "schema" / "procedure.schema.json")
        revised(self._desk.released().catalogue, [*laid, *new], schema)

    def entry(self, answers: Mapping[str, int]) -> dict[str, Any]:
        """Give the finding as JSON; `answers` are the recent ones by the fact that they quote."""
        finding = self.finding
        names = ("id", "kind", "weight", "place", "title", "state", "reason", "before", "after", "figures")
        procedures = {
            fact.id: procedure.id for procedure in self._desk.served().catalogue.procedures.values() for fact in procedure.facts
        }
        return {
            **{name: getattr(finding, name) for name in names},
            "source": finding.source_id,
            "found_at": finding.found_at.isoformat(),
            "decided_at": finding.decided_at.isoformat() if finding.decided_at else None,
            "procedures": sorted({procedures[one.fact_id] for one in finding.touched if one.fact_id in procedures}),
            "bases": self.moves(),
            "facts": [self._fact_entry(one, answers.get(one.fact_id, 0)) for one in finding.touched],
        }

    def _fact_entry(self, touched: KeptTouch, answers: int) -> dict[str, Any]:
        fact, drafted = self.served.get(touched.fact_id), self.drafted(touched.fact_id)
        return {
            "fact": touched.fact_id,
            "relation": touched.relation,
            "state": state_of(touched),
            "reason": touched.reason,
            "text": fact.text if fact else None,
            "figures": figures_as_json(fact.values) if fact else [],
            "draft": {"text": drafted.text, "figures": figures_as_json(drafted.values)} if drafted else None,
            "proposal": self.proposal(touched) if state_of(touched) == "undecided" else None,
            "recent_answers": answers,
        }


def state_of(touched: KeptTouch) -> Literal["undecided", "drafted", "holds", "corrected", "-"]:
    """Tell what became of a fact that a finding touches; "-": the finding itself puts nothing in doubt."""
    if touched.doubtful:
        return "drafted" if touched.drafted else "undecided"
    if touched.decision is None:
        return "-"
    return "holds" if touched.decision == "holds" else "corrected"


def facts_of(catalogue: Catalogue) -> dict[str, Fact]:
    """Give every fact by its id."""
    return {fact.id: fact for procedure in catalogue.procedures.values() for fact in procedure.facts}


def found_of(kept: KeptFinding) -> DriftFinding:
    """Give a finding as drift found it."""

    def figures(name: str) -> frozenset[Figure]:
        return frozenset(figure_from(value) for value in kept.figures.get(name, ()))

    kind: Literal["page", "article"] = "page" if kept.kind == "page" else "article"
    return DriftFinding(
        kept.source_id, kind, "substantive", kept.place, kept.title, kept.before, kept.after, figures("gone"), figures("new")
    )


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
