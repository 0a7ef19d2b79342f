"""What a person decides about the facts that a finding touches: each one is corrected, or holds for a reason.

A decision is never taken for granted: what nobody decides stays in doubt.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from clara.data_files import DataError, Fault
from clara.knowledge.revisions import FIELDS
from clara.language.figures.reader import is_spanish_number

LONGEST_REASON: Final = 1_000
LIKE: Final = (
    '{"fact": ID, "corrected": {"text": ...}}, {"fact": ID, "corrected": "proposed"}, {"fact": ID, "holds": REASON} '
    'or {"fact": ID, "undecided": ...}'
)
# The correction that was proposed, as it stands.
PROPOSED: Final = "proposed"
_KINDS: Final = frozenset({"corrected", "holds", "undecided"})
_COUNTED: Final = re.compile(r"(\d[\d.,]*\d|\d)\s*(?:€|%|euros?\b|por ciento)")


@dataclass(frozen=True, slots=True)
class Corrected:
    """A fact that says something else from now on: `fields` as they stand in data/; None, what is proposed for it."""

    fact_id: str
    fields: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class Holds:
    """A fact that is true as it stands, whatever has changed, and why."""

    fact_id: str
    reason: str


Decision = Corrected | Holds


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
    for number in unread_numbers(fields["text"]):
        yield Fault(name, fact, f"'{number}' is no number that can be read; write it as Spanish does: 1.234,50")


def unread_numbers(text: str) -> list[str]:
    """Give the numbers of amounts and shares in a text that nobody can read for certain, such as "12.60.0"."""
    return [match[1] for match in _COUNTED.finditer(text) if not is_spanish_number(match[1])]


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
