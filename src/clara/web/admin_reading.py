"""What operators read: how fresh things are, the review queue, the gazette, what ran, who did what."""

from collections.abc import Sequence
from typing import Any

from flask import Blueprint, Response, jsonify

from clara.knowledge.freshness import Freshness
from clara.web.admin_desk import AdminDesk, UnknownFindingError
from clara.web.asking import BadRequestError, Page, asked, listed, one_of, page_of, shown, word, yes

LEVELS = {"procedure": "procedures", "source": "sources", "fact": "facts"}
STATES = ("open", "undecided", "accepted", "rejected", "superseded", "all")
# Days of the gazette that are shown beside its items.
GAZETTE_DAYS = 30


def reading_routes(routes: Blueprint, desk: AdminDesk) -> None:
    """Add the addresses that are only read."""

    @routes.get("/staleness")
    def staleness() -> Response:
        values = asked("by", "procedure", "limit", "before")
        by, page = one_of(values, "by", tuple(LEVELS), "procedure"), page_of(values)
        freshness = desk.freshness()
        items = _of(freshness, by, word(values, "procedure"))
        return listed(_after(items, by, page), page, by, by=by, day=freshness.day.isoformat(), totals=_totals(freshness))

    @routes.get("/review")
    def review() -> Response:
        values = asked("state", "limit", "before")
        state, page = one_of(values, "state", STATES, "open"), page_of(values)
        items = desk.findings(page.limit + 1, page.number, None if state == "all" else state)
        return listed(items, page, "id")

    @routes.get("/review/<int:number>")
    def finding(number: int) -> Response | tuple[Response, int]:
        asked()
        found = desk.finding(number) if number < 2**63 else None
        return (jsonify(error=UnknownFindingError.__doc__), 404) if found is None else jsonify(shown(found))

    @routes.get("/boe")
    def gazette() -> Response:
        values = asked("unseen", "limit", "before")
        page = page_of(values)
        items = desk.gazette_items(page.limit + 1, page.before, yes(values, "unseen"))
        return listed(items, page, "id", days=[shown(day) for day in desk.gazette_days(GAZETTE_DAYS)])

    @routes.get("/jobs")
    def jobs() -> Response:
        values = asked("job", "limit", "before")
        page = page_of(values)
        items = desk.runs(page.limit + 1, page.number, word(values, "job"))
        return listed(items, page, "id", schedule=[shown(row) for row in desk.schedule()])

    @routes.get("/audit")
    def audit() -> Response:
        page = page_of(asked("limit", "before"))
        return listed(desk.acts(page.limit + 1, page.number), page, "id")


def _of(freshness: Freshness, by: str, procedure: str | None) -> Sequence[Any]:
    """Choose facts, sources or procedures, all or those of one procedure."""
    items: Sequence[Any] = getattr(freshness, LEVELS[by])
    if procedure is None:
        return items
    if by == "source":
        return [item for item in items if procedure in item.procedures]
    return [item for item in items if item.procedure == procedure]


def _after(items: Sequence[Any], by: str, page: Page) -> Sequence[Any]:
    """Cut off what the pages before have shown. Raises BadRequestError."""
    if page.before is None:
        return items[: page.limit + 1]
    for place, item in enumerate(items, 1):
        if getattr(item, by) == page.before:
            return items[place : place + page.limit + 1]
    raise BadRequestError("before: is not in this list; take what the page before gave as 'next'")


def _totals(freshness: Freshness) -> dict[str, int]:
    return {
        "facts": len(freshness.facts),
        "flagged": sum(len(procedure.flagged) for procedure in freshness.procedures),
        "expiring": sum(len(procedure.expiring) for procedure in freshness.procedures),
        "sources": len(freshness.sources),
        "stale_sources": sum(source.stale for source in freshness.sources),
    }
