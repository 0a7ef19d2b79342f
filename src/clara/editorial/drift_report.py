"""What a look at sources gave, as JSON and as a page for a terminal: old and new beside each other, and whom it touches."""

import json
import textwrap
from collections.abc import Iterable, Iterator, Mapping, Sequence
from difflib import SequenceMatcher
from itertools import zip_longest
from typing import TYPE_CHECKING, Any, Final

from clara.editorial.drift import Finding
from clara.editorial.radius import Touched
from clara.language.figures.figure import Figure, as_json

if TYPE_CHECKING:
    from clara.editorial.drift_check import Looked

# Two columns and what is between them fill a terminal of 120.
COLUMN: Final = 57
# Lines of a terminal. Of a longer difference the beginning is shown; `clara review show` and --json have all of it.
_SHOWN: Final = 40


def entry_of(looked: "Looked", turns: Mapping[str, int]) -> dict[str, Any]:
    """Write the look at one source as JSON; `turns` are recent answers by the facts that they quote."""
    return {
        "source": looked.source.id,
        "outcome": looked.outcome,
        "detail": looked.detail,
        "findings": [_finding(finding, radius, looked.open, turns) for finding, radius in looked.found],
        "absent": list(looked.absent),
    }


def _finding(
    finding: Finding, radius: Sequence[Touched], numbers: Mapping[str, int], turns: Mapping[str, int]
) -> dict[str, Any]:
    return {
        "id": numbers.get(finding.digest),
        "weight": finding.weight,
        "place": finding.place,
        "title": finding.title,
        "before": finding.before,
        "after": finding.after,
        "figures": {"gone": _figures(finding.figures_gone), "new": _figures(finding.figures_new)},
        "procedures": sorted({touched.procedure for touched in radius}),
        "facts": [
            {
                "fact": touched.fact.id,
                "relation": touched.relation,
                "text": touched.fact.text,
                "proposal": touched.proposal,
                "recent_answers": turns.get(touched.fact.id, 0),
            }
            for touched in radius
        ],
    }


def brief(report: Mapping[str, Any]) -> dict[str, Any]:
    """Leave the wordings out of a report: what a row of job_runs needs."""
    told = ("id", "weight", "place", "title", "figures", "procedures")
    sources = [
        {
            **{name: entry[name] for name in ("source", "outcome", "detail", "absent")},
            "findings": [
                {**{name: finding[name] for name in told}, "facts": [fact["fact"] for fact in finding["facts"]]}
                for finding in entry["findings"]
            ],
        }
        for entry in report["sources"]
        if entry["outcome"] != "unchanged" or entry["absent"]
    ]
    return {**report, "sources": sources}


def _figures(figures: Iterable[Figure]) -> list[Any]:
    return [json.loads(as_json(figure)) for figure in sorted(figures, key=str)]


def lines_of(report: Mapping[str, Any]) -> Iterator[str]:
    """Write a report for people: what differs and could not be reached in full, the rest as a count."""
    for entry in report["sources"]:
        if entry["outcome"] != "unchanged" or entry["absent"]:
            yield f"{entry['source']}: {entry['outcome']}{' - ' if entry['detail'] else ''}{entry['detail']}"
        for finding in entry["findings"]:
            yield from finding_lines(finding)
        for missing in entry["absent"]:
            yield f"  {missing['fact']} cites {missing['provision']}, which it does not have"
    counts = ", ".join(f"{number} {outcome}" for outcome, number in report["counts"].items()) or "nothing to look at"
    stale = f"; {len(report['stale'])} not reached for too long" if report["stale"] else ""
    yield f"{counts}; {len(report['facts'])} facts touched{stale}"


def finding_lines(finding: Mapping[str, Any]) -> Iterator[str]:
    """Write one finding: its number, old beside new, and the facts that it touches."""
    yield from law_lines(finding, _SHOWN)
    if finding["weight"] == "cosmetic":
        return
    for fact in finding["facts"]:
        answers = f", {fact['recent_answers']} answers of the last 30 days" if fact.get("recent_answers") else ""
        yield f"    touches {fact['fact']} by its {fact['relation']}{answers}"
        if fact["proposal"]:
            yield textwrap.fill(f"proposed: {fact['proposal']['text']}", 110, initial_indent=" " * 6, subsequent_indent=" " * 8)


def law_lines(finding: Mapping[str, Any], most: int) -> Iterator[str]:
    """Write what differs: the number and title of a finding, its figures, and the first lines of old beside new."""
    number = f"#{finding['id']} " if finding["id"] else ""
    yield f"  {number}{finding['title']} ({finding['weight']})"
    if finding["weight"] == "cosmetic":
        return
    for name, figures in finding["figures"].items():
        if figures:
            yield f"    figures {name}: {told(figures)}"
    shown = list(side_by_side(finding["before"], finding["after"]))
    yield from (f"    {line}" for line in shown[:most])
    if len(shown) > most:
        yield f"    ... {len(shown) - most} more lines"


def told(figures: Iterable[Mapping[str, Any]]) -> str:
    """Write figures, as they stand in data/, on one line."""
    return ", ".join(" ".join(str(one[name]) for name in ("kind", "value", "unit") if name in one) for one in figures)


def side_by_side(before: str | None, after: str | None) -> Iterator[str]:
    """Write the paragraphs that differ in two columns, the old one left."""
    old, new = ([] if text is None else text.split("\n") for text in (before, after))
    yield f"{_head(before, 'before', 'it was not there'):<{COLUMN}} | {_head(after, 'now', 'it is gone')}"
    for tag, *span in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if tag != "equal":
            yield from columns(old[span[0] : span[1]], new[span[2] : span[3]])


def columns(left: Sequence[str], right: Sequence[str]) -> Iterator[str]:
    """Write paragraphs beside each other, wrapped."""
    for one, other in zip_longest(_wrapped(left), _wrapped(right), fillvalue=""):
        yield f"{one:<{COLUMN}} | {other}".rstrip()


def _head(text: str | None, there: str, absent: str) -> str:
    return absent if text is None else there if text else "repealed"


def _wrapped(paragraphs: Sequence[str]) -> list[str]:
    return [line for paragraph in paragraphs for line in textwrap.wrap(paragraph, COLUMN) or [""]]
