"""One finding under review: its facts as they are told, what is proposed for each, and what a person decides about each.

Each fact is corrected, or held to be true for a reason. A decision is never taken for granted: what nobody decides stays in
doubt, and answers warn of it.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from functools import cached_property
from typing import Any, Final, Literal

from clara.data_files import DataError, Fault, read_schema
from clara.editorial.drift import DriftFinding, Moved, moved_bases, proposes, proposing, stated_bases
from clara.editorial.ports import EditorialDesk
from clara.editorial.records import Corrected, Decision, Holds, KeptFinding, KeptTouch
from clara.knowledge.catalogue import Catalogue
from clara.knowledge.derivations import read_derivations, shown
from clara.knowledge.passages import CORPUS
from clara.knowledge.procedure import Fact
from clara.knowledge.revisions import FIELDS, Revision, fact_digest, fact_document, revised
from clara.language.figures.figure import figure_from, figures_as_json
from clara.language.figures.reader import is_spanish_number, spanish
from clara.language.identity_data import holds_numbers

LONGEST_REASON: Final = 1_000
LIKE: Final = (
    '{"fact": ID, "corrected": {"text": ...}}, {"fact": ID, "corrected": "proposed"}, {"fact": ID, "holds": REASON} '
    'or {"fact": ID, "undecided": ...}'
)
# The correction that was proposed, as it stands.
PROPOSED: Final = "proposed"
_KINDS: Final = frozenset({"corrected", "holds", "undecided"})
_COUNTED: Final = re.compile(r"(\d[\d.,]*\d|\d)\s*(?:€|%|euros?\b|por ciento)")


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
        stated = stated_bases(self._derivations, self.served)
        given = {name: Moved(found[name].old if name in found else stated[name], value) for name, value in self._given.items()}
        return {**found, **given}

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

    def settled(self, decisions: Sequence[Decision], name: str) -> list[Revision | Holds]:
        """Give decisions as they are kept, held to every rule of data/.

        Raises DataError naming every fault; `name` tells where the decisions stand.
        """
        touched = {one.fact_id: one for one in self.finding.touched}
        made = [self._kept(one, touched[one.fact_id], name) for one in decisions if one.fact_id in touched]
        if faults := [*untouched(decisions, list(touched), name), *(one for one in made if isinstance(one, Fault))]:
            raise DataError(faults)
        kept = [one for one in made if not isinstance(one, Fault)]
        if drafts := [one for one in kept if isinstance(one, Revision)]:
            self._check(drafts)
        return kept

    def _kept(self, one: Decision, touched: KeptTouch, name: str) -> Revision | Holds | Fault:
        if isinstance(one, Corrected):
            return self._draft(one, touched, name)
        if holds_numbers(one.reason):
            return Fault(
                name, one.fact_id, "its reason holds a number of somebody; the audit log keeps it for ever: leave it out"
            )
        return one

    def _draft(self, one: Corrected, touched: KeptTouch, name: str) -> Revision | Fault:
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
        return Revision(0, one.fact_id, fields, fact_digest(released))

    def _check(self, drafts: Sequence[Revision]) -> None:
        served = self._desk.publications.served(CORPUS)
        laid = [*self._desk.revisions.of(served.revisions, withdrawn=False), *self._drafts]
        last = max((one.id for one in laid), default=0)
        new = [replace(one, id=last + place) for place, one in enumerate(drafts, 1)]
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


def state_of(touched: KeptTouch) -> str:
    """Tell what became of a fact that a finding touches: undecided, drafted, holds, corrected; "-": nothing is in doubt."""
    if touched.doubtful:
        return "drafted" if touched.drafted else "undecided"
    return touched.decision or "-"


def facts_of(catalogue: Catalogue) -> dict[str, Fact]:
    """Give every fact by its id."""
    return {fact.id: fact for procedure in catalogue.procedures.values() for fact in procedure.facts}


def found_of(kept: KeptFinding) -> DriftFinding:
    """Give a finding as drift found it."""
    gone, new = (frozenset(map(figure_from, kept.figures.get(name, ()))) for name in ("gone", "new"))
    kind: Literal["page", "article"] = "page" if kept.kind == "page" else "article"
    return DriftFinding(kept.source_id, kind, "substantive", kept.place, kept.title, kept.before, kept.after, gone, new)


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


def read_decisions(document: object, name: str) -> list[Decision]:
    """Read decisions as JSON gives them, those that leave a fact undecided dropped. Raises DataError naming every fault."""
    entries = document.get("decisions") if isinstance(document, dict) and document.keys() == {"decisions"} else document
    if not isinstance(entries, list):
        raise DataError([Fault(name, "$", f"is no list of decisions; each is {LIKE}")])
    faults = [fault for place, entry in enumerate(entries) for fault in _faults(name, f"$[{place}]", entry)]
    if faults:
        raise DataError(faults)
    named = [entry["fact"] for entry in entries]
    if twice := sorted({fact for fact in named if named.count(fact) > 1}):
        raise DataError([Fault(name, fact, "is decided twice; keep one of the two") for fact in twice])
    return [_decision(entry) for entry in entries if "undecided" not in entry]


def _faults(name: str, place: str, entry: object) -> Iterator[Fault]:
    if not isinstance(entry, dict) or not isinstance(entry.get("fact"), str):
        yield Fault(name, place, f"is no decision about a fact; write {LIKE}")
        return
    kinds = entry.keys() - {"fact"}
    if len(kinds) != 1 or not kinds <= _KINDS:
        yield Fault(name, entry["fact"], f"must have one of {', '.join(sorted(_KINDS))} and nothing else; write {LIKE}")
    elif "holds" in kinds:
        yield from reason_faults(name, entry["fact"], entry["holds"])
    elif "corrected" in kinds and entry["corrected"] != PROPOSED:
        yield from _field_faults(name, entry["fact"], entry["corrected"])


def reason_faults(name: str, fact: str, reason: object) -> Iterator[Fault]:
    """Find what is wrong with a reason."""
    if not isinstance(reason, str) or not reason.strip() or len(reason) > LONGEST_REASON:
        yield Fault(name, fact, f"holds for no reason; say in 1 to {LONGEST_REASON} characters why it is true as it stands")
    elif any(not (character.isprintable() or character in "\n\t") for character in reason):
        yield Fault(name, fact, "its reason holds characters that cannot be shown; write it as plain text")


def _field_faults(name: str, fact: str, fields: object) -> Iterator[Fault]:
    if not isinstance(fields, dict) or not isinstance(fields.get("text"), str) or not fields["text"].strip():
        yield Fault(name, fact, 'is corrected by no text; write {"text": "..."} or "proposed"')
        return
    if strange := sorted(fields.keys() - FIELDS):
        yield Fault(name, fact, f"{', '.join(strange)} cannot be corrected; there are {', '.join(sorted(FIELDS))}")
    for number in (match[1] for match in _COUNTED.finditer(fields["text"]) if not is_spanish_number(match[1])):
        yield Fault(name, fact, f"'{number}' is no number that can be read; write it as Spanish does: 1.234,50")


def _decision(entry: Mapping[str, Any]) -> Decision:
    if "holds" in entry:
        return Holds(entry["fact"], entry["holds"].strip())
    fields = entry["corrected"]
    return Corrected(entry["fact"], None if fields == PROPOSED else fields)


def untouched(decisions: Sequence[Decision], touched: Sequence[str], name: str) -> list[Fault]:
    """Find decisions about facts that a finding does not touch."""
    known = ", ".join(touched) or "none"
    return [
        Fault(name, one.fact_id, f"is not touched by the finding; these are: {known}")
        for one in decisions
        if one.fact_id not in touched
    ]
