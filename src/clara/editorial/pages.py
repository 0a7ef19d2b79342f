"""What the editorial journey tells: looks, findings and alerts of the gazette, as JSON and as pages for a terminal."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from difflib import SequenceMatcher
from functools import cache
from typing import Any

from clara.editorial.drift import DriftFinding, Touched
from clara.editorial.gazette.issues import GazetteAlert
from clara.editorial.records import Looked
from clara.language.figures.figure import figures_as_json
from clara.page_templates import read_macros
from clara.plain_text import COLUMN, columns, counted, wrapped


def looked_as_json(looked: Looked, turns: Mapping[str, int]) -> dict[str, Any]:
    """Write the look at one source as JSON; `turns` are recent answers by the facts that they quote."""
    return {
        "source": looked.source.id,
        "outcome": looked.outcome,
        "detail": looked.detail,
        "findings": [_finding(finding, radius, looked.open, turns) for finding, radius in looked.found],
        "absent": list(looked.absent),
    }


def _finding(
    finding: DriftFinding, radius: Sequence[Touched], numbers: Mapping[str, int], turns: Mapping[str, int]
) -> dict[str, Any]:
    return {
        "id": numbers.get(finding.digest),
        **{name: getattr(finding, name) for name in ("weight", "place", "title", "before", "after")},
        "figures": {"gone": figures_as_json(finding.figures_gone), "new": figures_as_json(finding.figures_new)},
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


def alert_as_json(alert: GazetteAlert) -> dict[str, Any]:
    """Write an alert with its blast radius: the facts it touches, and how many of which procedure."""
    days = {name: getattr(alert, name) for name in ("day", "found_at", "notified_at", "seen_at")}
    return {
        **{name: list(value) if isinstance(value, tuple) else value for name, value in asdict(alert).items()},
        **{name: moment.isoformat() if moment else None for name, moment in days.items()},
        "facts_by_procedure": dict(Counter(fact.rsplit("-", 2)[0] for fact in alert.facts).most_common()),
    }


def alert_message(alerts: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Write what a webhook gets: `text` for whatever shows one, and the alerts themselves."""
    return {"source": "clara boe", "text": page("message", alerts), "alerts": list(alerts)}


def page(name: str, told: object) -> str:
    """Write a page of pages.txt: drift, gazette (a report), queue (findings), finding, alerts."""
    return str(getattr(_pages(), name)(told)).removesuffix("\n")


@cache
def _pages() -> Any:  # noqa: ANN401  a module of macros
    known = {"wrapped": wrapped, "counted": counted, "columns": columns, "figures": _figures}
    return read_macros(__package__, "pages.txt", beside=_beside, undecided=undecided, **known)


def _figures(figures: Iterable[Mapping[str, Any]]) -> str:
    """Write figures, as they stand in data/, on one line."""
    return ", ".join(" ".join(str(one[name]) for name in ("kind", "value", "unit") if name in one) for one in figures)


def _beside(before: str | None, after: str | None) -> list[str]:
    """Write the paragraphs that differ in two columns, the old one left."""
    heads = [
        absent if text is None else there if text else "repealed"
        for text, there, absent in ((before, "before", "it was not there"), (after, "now", "it is gone"))
    ]
    old, new = ([] if text is None else text.split("\n") for text in (before, after))
    lines = [f"{heads[0]:<{COLUMN}} | {heads[1]}"]
    for tag, *span in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if tag != "equal":
            lines += columns(old[span[0] : span[1]], new[span[2] : span[3]])
    return lines
