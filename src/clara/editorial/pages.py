"""What the editorial journey tells: looks, findings and alerts of the gazette, as JSON and as pages for a terminal."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from difflib import SequenceMatcher
from typing import Any, Final

from clara.editorial.drift import DriftFinding, Touched, figures_as_json
from clara.editorial.gazette.issues import GazetteAlert
from clara.editorial.records import Looked
from clara.plain_text import COLUMN, columns, counted, wrapped

# Lines of a terminal. Of a longer difference the beginning is shown; `clara review show` and --json have all of it.
_SHOWN: Final = 40
# More than any difference has.
_ALL: Final = 100_000
_STATES: Final = {
    "undecided": "nobody has decided about it",
    "drafted": "its correction waits to be published",
    "holds": "holds",
    "corrected": "corrected",
    "-": "nothing to decide",
}
# Facts that are named in an alert; the JSON has them all.
_SHOWN_FACTS: Final = 12
_DAYS: Final = {"read": "read", "none": "no issue", "failed": "FAILED, it is tried again next time"}


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
        "weight": finding.weight,
        "place": finding.place,
        "title": finding.title,
        "before": finding.before,
        "after": finding.after,
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


def drift_lines(report: Mapping[str, Any]) -> Iterator[str]:
    """Write a report for people: what differs and could not be reached in full, the rest as a count."""
    for entry in report["sources"]:
        if entry["outcome"] != "unchanged" or entry["absent"]:
            yield f"{entry['source']}: {entry['outcome']}{' - ' if entry['detail'] else ''}{entry['detail']}"
        for finding in entry["findings"]:
            yield from _finding_lines(finding)
        for missing in entry["absent"]:
            yield f"  {missing['fact']} cites {missing['provision']}, which it does not have"
    counts = ", ".join(f"{number} {outcome}" for outcome, number in report["counts"].items()) or "nothing to look at"
    stale = f"; {len(report['stale'])} not reached for too long" if report["stale"] else ""
    yield f"{counts}; {len(report['facts'])} facts touched{stale}"


def _finding_lines(finding: Mapping[str, Any]) -> Iterator[str]:
    """Write one finding: its number, old beside new, and the facts that it touches."""
    yield from _law_lines(finding, _SHOWN)
    if finding["weight"] == "cosmetic":
        return
    for fact in finding["facts"]:
        answers = f", {fact['recent_answers']} answers of the last 30 days" if fact.get("recent_answers") else ""
        yield f"    touches {fact['fact']} by its {fact['relation']}{answers}"
        if fact["proposal"]:
            yield wrapped(f"proposed: {fact['proposal']['text']}", " " * 6, " " * 8)


def _law_lines(finding: Mapping[str, Any], most: int) -> Iterator[str]:
    """Write what differs: the number and title of a finding, its figures, and the first lines of old beside new."""
    number = f"#{finding['id']} " if finding["id"] else ""
    yield f"  {number}{finding['title']} ({finding['weight']})"
    if finding["weight"] == "cosmetic":
        return
    for name, figures in finding["figures"].items():
        if figures:
            yield f"    figures {name}: {figures_told(figures)}"
    shown = list(_side_by_side(finding["before"], finding["after"]))
    yield from (f"    {line}" for line in shown[:most])
    if len(shown) > most:
        yield f"    ... {len(shown) - most} more lines"


def figures_told(figures: Iterable[Mapping[str, Any]]) -> str:
    """Write figures, as they stand in data/, on one line."""
    return ", ".join(" ".join(str(one[name]) for name in ("kind", "value", "unit") if name in one) for one in figures)


def _side_by_side(before: str | None, after: str | None) -> Iterator[str]:
    """Write the paragraphs that differ in two columns, the old one left."""
    old, new = ([] if text is None else text.split("\n") for text in (before, after))
    yield f"{_head(before, 'before', 'it was not there'):<{COLUMN}} | {_head(after, 'now', 'it is gone')}"
    for tag, *span in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if tag != "equal":
            yield from columns(old[span[0] : span[1]], new[span[2] : span[3]])


def _head(text: str | None, there: str, absent: str) -> str:
    return absent if text is None else there if text else "repealed"


def queue_lines(entries: Sequence[Mapping[str, Any]]) -> Iterator[str]:
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


def finding_page(entry: Mapping[str, Any]) -> Iterator[str]:
    """Write one finding in full: the law as it was and is, then each fact as it is told beside what is proposed."""
    yield f"{entry['source']}, found {entry['found_at'][:10]}, {entry['state']}"
    if entry["reason"]:
        yield f"  because: {entry['reason']}"
    yield from _law_lines(entry, _ALL)
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
    left = [fact["text"] or "data/ has no such fact any more", f"figures: {figures_told(fact['figures']) or 'none'}"]
    right = ["nothing is proposed"]
    if drafted:
        right = [drafted["text"], f"figures: {figures_told(drafted['figures']) or 'none'}"]
    elif proposed:
        right = [proposed["text"], f"figures: {figures_told(proposed['values']) or 'none'}"]
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


def alert_as_json(alert: GazetteAlert) -> dict[str, Any]:
    """Write an alert with its blast radius: the facts it touches, and how many of which procedure."""
    return {
        "id": alert.id,
        "day": str(alert.day),
        "section": alert.section,
        "department": alert.department,
        "title": alert.title,
        "url": alert.url,
        "score": alert.score,
        "reasons": list(alert.reasons),
        "norms": list(alert.norms),
        "facts": list(alert.facts),
        "facts_by_procedure": dict(Counter(fact.rsplit("-", 2)[0] for fact in alert.facts).most_common()),
        "procedures": list(alert.procedures),
        "found_at": alert.found_at.isoformat(),
        "notified_at": alert.notified_at.isoformat() if alert.notified_at else None,
        "seen_at": alert.seen_at.isoformat() if alert.seen_at else None,
    }


def alert_message(alerts: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Write what a webhook gets: `text` for whatever shows one, and the alerts themselves."""
    lines = [f"{len(alerts)} new in the BOE that touch what Clara says:"]
    lines += [f"{alert['id']} ({_radius(alert)}): {alert['title'][:300]} {alert['url']}" for alert in alerts]
    return {"source": "clara boe", "text": "\n".join(lines), "alerts": list(alerts)}


def gazette_page(report: Mapping[str, Any]) -> str:
    """Write a run of the watch for a person."""
    return "\n".join(_gazette_lines(report))


def alert_page(alerts: Sequence[Mapping[str, Any]]) -> str:
    """Write alerts for a person."""
    return "\n".join(line for alert in alerts for line in _alert(alert))


def _radius(alert: Mapping[str, Any]) -> str:
    """Say in a few words what an alert touches."""
    touched: Mapping[str, int] = alert["facts_by_procedure"]
    if not touched:
        about = ", ".join(alert["procedures"])
        return f"no fact, perhaps about {about}" if about else "no fact"
    return f"{len(alert['facts'])} facts: " + ", ".join(f"{name} {count}" for name, count in touched.items())


def _gazette_lines(report: Mapping[str, Any]) -> Iterator[str]:
    for day in report["days"]:
        counted = f", {day['issues']} issues, {day['items']} items, {day['documents']} documents" if day["items"] else ""
        yield f"{day['day']}: {_DAYS[day['state']]}{counted}"
        if day["error"]:
            yield wrapped(day["error"], "    ", "      ")
    if report["left"]:
        yield f"Left to the next run, because the gazette is out: {', '.join(report['left'])}"
    if report["behind"]:
        first, last = report["behind"][0], report["behind"][-1]
        yield f"{len(report['behind'])} days are too long ago to be caught up ({first} to {last}): clara boe --check --days N"
    yield f"{len(report['alerts'])} new alerts, {report['requests']} requests"
    for alert in report["alerts"]:
        yield from _alert(alert)
    if report["told"]:
        yield f"Posted to the webhook: {', '.join(report['told'])}"
    if report["untold"]:
        yield f"NOT posted, the next run tries again: {report['untold']}"


def _alert(alert: Mapping[str, Any]) -> Iterator[str]:
    yield ""
    yield wrapped(
        f"{alert['id']} of {alert['day']}, section {alert['section']}, score {alert['score']}: {alert['title']}", rest="  "
    )
    for reason in alert["reasons"]:
        yield wrapped(f"why: {_reason(reason)}", "    ", "      ")
    yield wrapped(f"touches {_radius(alert)}", "    ", "      ")
    if alert["facts"]:
        more = len(alert["facts"]) - _SHOWN_FACTS
        yield wrapped(", ".join(alert["facts"][:_SHOWN_FACTS]) + (f" and {more} more" if more > 0 else ""), "    ", "      ")
    yield f"    {alert['url']}"


def _reason(reason: Mapping[str, Any]) -> str:
    match reason["kind"]:
        case "reference":
            return f"{reason['relation']} {reason['norm']}: {reason['text']}"
        case "words":
            return f"says '{reason['text']}'"
        case kind:
            return f"its {kind} names {reason['norm']}{' and says ' + reason['relation'] if reason['relation'] else ''}"
