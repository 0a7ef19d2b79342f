"""What watching the gazette found, as JSON, as a page for a person, and as the message of a webhook."""

import textwrap
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from clara.adapters.postgres.editorial.gazette import Alert

WIDTH: Final = 110
# Facts that are named on the page; the JSON has them all.
SHOWN_FACTS: Final = 12
STATES: Final = {"read": "read", "none": "no issue", "failed": "FAILED, it is tried again next time"}


def alert_as_json(alert: Alert) -> dict[str, Any]:
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


def message_of(alerts: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Write what a webhook gets: `text` for whatever shows one, and the alerts themselves."""
    lines = [f"{len(alerts)} new in the BOE that touch what Clara says:"]
    lines += [f"{alert['id']} ({radius_of(alert)}): {alert['title'][:300]} {alert['url']}" for alert in alerts]
    return {"source": "clara boe", "text": "\n".join(lines), "alerts": list(alerts)}


def page(report: Mapping[str, Any]) -> str:
    """Write a run for a person."""
    return "\n".join(_lines(report))


def listed(alerts: Sequence[Mapping[str, Any]]) -> str:
    """Write alerts for a person."""
    return "\n".join(line for alert in alerts for line in _alert(alert))


def radius_of(alert: Mapping[str, Any]) -> str:
    """Say in a few words what an alert touches."""
    touched: Mapping[str, int] = alert["facts_by_procedure"]
    if not touched:
        about = ", ".join(alert["procedures"])
        return f"no fact, perhaps about {about}" if about else "no fact"
    return f"{len(alert['facts'])} facts: " + ", ".join(f"{name} {count}" for name, count in touched.items())


def _lines(report: Mapping[str, Any]) -> Iterator[str]:
    for day in report["days"]:
        counted = f", {day['issues']} issues, {day['items']} items, {day['documents']} documents" if day["items"] else ""
        yield f"{day['day']}: {STATES[day['state']]}{counted}"
        if day["error"]:
            yield _wrapped(day["error"], "    ")
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
    yield _wrapped(f"{alert['id']} of {alert['day']}, section {alert['section']}, score {alert['score']}: {alert['title']}")
    for reason in alert["reasons"]:
        yield _wrapped(f"why: {_reason(reason)}", "    ")
    yield _wrapped(f"touches {radius_of(alert)}", "    ")
    if alert["facts"]:
        more = len(alert["facts"]) - SHOWN_FACTS
        yield _wrapped(", ".join(alert["facts"][:SHOWN_FACTS]) + (f" and {more} more" if more > 0 else ""), "    ")
    yield f"    {alert['url']}"


def _reason(reason: Mapping[str, Any]) -> str:
    match reason["kind"]:
        case "reference":
            return f"{reason['relation']} {reason['norm']}: {reason['text']}"
        case "words":
            return f"says '{reason['text']}'"
        case kind:
            return f"its {kind} names {reason['norm']}{' and says ' + reason['relation'] if reason['relation'] else ''}"


def _wrapped(text: str, indent: str = "") -> str:
    return textwrap.fill(
        text, WIDTH, initial_indent=indent, subsequent_indent=indent + "  ", break_long_words=False, break_on_hyphens=False
    )
