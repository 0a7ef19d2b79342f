"""The review for people: the queue as lines, a finding as a page with its facts beside the law, and decisions to fill in."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from clara.editorial.drift_report import columns, law_lines, told

# Lines of a terminal: more than any difference has.
_ALL: Final = 100_000
_STATES: Final = {
    "undecided": "nobody has decided about it",
    "drafted": "its correction waits to be published",
    "holds": "holds",
    "corrected": "corrected",
    "-": "nothing to decide",
}


def table(entries: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """Write what waits as one line each."""
    for entry in entries:
        facts = entry["facts"]
        proposals = sum(fact["proposal"] is not None for fact in facts)
        touched = counted(len(facts), "fact") + (f", {proposals} with a proposal" if proposals else "")
        if entry["state"] == "accepted":
            undecided = sum(fact["state"] == "undecided" for fact in facts)
            touched = f"accepted; {undecided} of {counted(len(facts), 'fact')} undecided"
        yield f"#{entry['id']}  {entry['found_at'][:10]}  {entry['source']}  {entry['title'][:60]}  ({touched})"
    yield f"{len(entries)} findings wait. `clara review show N` shows one." if entries else "Nothing waits for review."


def page(entry: Mapping[str, Any]) -> Iterator[str]:
    """Write one finding in full: the law as it was and is, then each fact as it is told beside what is proposed."""
    yield f"{entry['source']}, found {entry['found_at'][:10]}, {entry['state']}"
    if entry["reason"]:
        yield f"  because: {entry['reason']}"
    yield from law_lines(entry, _ALL)
    for base in entry["bases"]:
        yield f"    {base['base']} ({base['title']}): {base['old']} -> {base['new'] or 'not certain; give it with --base'}"
    for fact in entry["facts"]:
        yield from _fact_lines(fact)
    if entry["state"] in {"open", "accepted"} and (entry["state"] == "open" or undecided(entry)):
        yield f"Decide each fact: `clara review show {entry['id']} --decisions > FILE`, correct FILE, then"
        yield f"`clara review accept {entry['id']} --decisions FILE`"
    if entry["state"] == "open":
        yield f"or `clara review reject {entry['id']} --reason ...`"


def _fact_lines(fact: Mapping[str, Any]) -> Iterator[str]:
    answers = f", {fact['recent_answers']} answers of the last 30 days" if fact["recent_answers"] else ""
    yield f"  {fact['fact']}, touched by its {fact['relation']}{answers}: {_STATES[fact['state']]}"
    if fact["reason"]:
        yield f"    because: {fact['reason']}"
    drafted, proposed = fact["draft"], fact["proposal"]
    left = [fact["text"] or "data/ has no such fact any more", f"figures: {told(fact['figures']) or 'none'}"]
    right = ["nothing is proposed"]
    if drafted:
        right = [drafted["text"], f"figures: {told(drafted['figures']) or 'none'}"]
    elif proposed:
        right = [proposed["text"], f"figures: {told(proposed['values']) or 'none'}"]
    heads = ["told now"], ["waits to be published" if drafted else "proposed"]
    yield from (f"    {line}" for line in (*columns(*heads), *columns(left, right)))


def undecided(entry: Mapping[str, Any]) -> list[str]:
    """Name the facts that nobody has decided about."""
    return [fact["fact"] for fact in entry["facts"] if fact["state"] == "undecided"]


def decisions_to_fill(entry: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Give the facts that nobody has decided about as a file of decisions: what is proposed, else undecided with its text."""
    return [
        {"fact": fact["fact"], "corrected": {"text": fact["proposal"]["text"]}}
        if fact["proposal"]
        else {"fact": fact["fact"], "undecided": fact["text"] or ""}
        for fact in entry["facts"]
        if fact["state"] == "undecided"
    ]


def counted(number: int, noun: str) -> str:
    """Write a number with its noun."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
