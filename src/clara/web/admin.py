"""What operators read of a running Clara, and do, as JSON: every act is recorded, with what came of it."""

import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import Any, Final

import structlog
from flask import Blueprint, Response, g, jsonify, request

from clara.answering.privacy.rights import SPANS, Satisfaction, satisfaction_json
from clara.delivery.ports import StoreUnavailableError
from clara.errors import MENDABLE, ClaraError, Unavailable
from clara.knowledge.freshness import Freshness
from clara.retrieval.embedding_memory import MemoryStatistics
from clara.retrieval.metrics import Counters, summary
from clara.web.auth import NOT_YOURS, Doorman, Role, uncached
from clara.web.list_query import BadRequestError, Page, asked, asked_page, listed, one_of, shown, word, yes


@dataclass(frozen=True, slots=True)
class Decision:
    """What is decided about a finding: accepted or not, why, by whom, and what about its facts, as JSON."""

    accepted: bool
    reason: str
    by: str
    facts: Sequence[object] = ()


@dataclass(frozen=True, slots=True)
class AdminDesk:
    """What operators read and do. Everything may raise an error of outage, Unavailable; `record`, StoreUnavailableError.

    Lists are read as (limit, before, what of them), the newest first; `record` adds an act to the audit log: by whom, what, on
    what, with what outcome. `reviewing` decides a finding and gives what was done, as JSON, without a word of a person; it
    raises NotFound, Refused where that was decided already, Invalid, or Unavailable. It is None where nobody can decide: then
    these addresses answer 501.
    """

    counters: Callable[[], Counters]
    memory: Callable[[], MemoryStatistics]
    satisfaction: Callable[[int], Satisfaction]
    freshness: Callable[[], Freshness]
    findings: Callable[[int, int | None, str | None], Sequence[Any]]
    finding: Callable[[int], Any]
    gazette_days: Callable[[int], Sequence[Any]]
    gazette_items: Callable[[int, str | None, bool], Sequence[Any]]
    gazette_seen: Callable[[str], datetime | None]
    runs: Callable[[int, int | None, str | None], Sequence[Any]]
    schedule: Callable[[], Sequence[Mapping[str, Any]]]
    acts: Callable[[int, int | None], Sequence[Any]]
    record: Callable[[str, str, str, str], object]
    description: Callable[[], str]
    reviewing: Callable[[int, Decision], Mapping[str, Any]] | None = None


LARGEST: Final = 2**63 - 1  # number that a row can have
UNKNOWN_FINDING = "There is no finding with this number. GET /admin/review lists them."
LEVELS = {"procedure": "procedures", "source": "sources", "fact": "facts"}
STATES = ("open", "undecided", "accepted", "rejected", "superseded", "all")
# Days of the gazette that are shown beside its items.
GAZETTE_DAYS = 30


def reading_routes(routes: Blueprint, desk: AdminDesk) -> None:
    """Add the addresses that are only read."""

    @routes.get("/staleness")
    def staleness() -> Response:
        values, page = asked_page("by", "procedure")
        by = one_of(values, "by", tuple(LEVELS), "procedure")
        freshness = desk.freshness()
        items = _of(freshness, by, word(values, "procedure"))
        return listed(_after(items, by, page), page, by, by=by, day=freshness.day.isoformat(), totals=_totals(freshness))

    @routes.get("/review")
    def review() -> Response:
        values, page = asked_page("state")
        state = one_of(values, "state", STATES, "open")
        items = desk.findings(page.limit + 1, page.number, None if state == "all" else state)
        return listed(items, page, "id")

    @routes.get("/review/<int:number>")
    def finding(number: int) -> Response | tuple[Response, int]:
        asked()
        found = desk.finding(number) if number <= LARGEST else None
        return (jsonify(error=UNKNOWN_FINDING), 404) if found is None else jsonify(shown(found))

    @routes.get("/boe")
    def gazette() -> Response:
        values, page = asked_page("unseen")
        items = desk.gazette_items(page.limit + 1, page.before, yes(values, "unseen"))
        return listed(items, page, "id", days=[shown(day) for day in desk.gazette_days(GAZETTE_DAYS)])

    @routes.get("/jobs")
    def jobs() -> Response:
        values, page = asked_page("job")
        items = desk.runs(page.limit + 1, page.number, word(values, "job"))
        return listed(items, page, "id", schedule=[shown(row) for row in desk.schedule()])

    @routes.get("/audit")
    def audit() -> Response:
        _, page = asked_page()
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


LONGEST_REASON: Final = 1_000
# Of an item of the gazette: BOE-A-2026-1. Whatever else is asked for is unknown, and in no log.
ITEM: Final = re.compile(r"BOE-[A-Z]-[0-9]{4}-[0-9]{1,6}")
NOBODY_DECIDES = "Findings cannot be decided here. Use `clara review accept` or `clara review reject`."
UNKNOWN_ITEM = "There is no such item. GET /admin/boe lists them."
log = structlog.get_logger()


def acting_routes(routes: Blueprint, desk: AdminDesk) -> None:
    """Add the addresses that change something; the caller lets only operators through."""
    for act in ("accept", "reject"):
        routes.add_url_rule(f"/review/<int:number>/{act}", act, partial(_decide, desk, act=act), methods=["POST"])

    @routes.post("/boe/<item>/seen")
    def seen(item: str) -> tuple[Response, int]:
        asked()
        if not ITEM.fullmatch(item):
            return jsonify(error=UNKNOWN_ITEM), 404
        record(desk, "asked")
        when = desk.gazette_seen(item)
        record(desk, "failed" if when is None else "done")
        return (jsonify(id=item, seen_at=when.isoformat()), 200) if when else (jsonify(error=UNKNOWN_ITEM), 404)


def _decide(desk: AdminDesk, number: int, *, act: str) -> tuple[Response, int]:
    """Accept or reject a finding. What cannot be recorded is not done; what came of it is recorded after it."""
    asked()
    decision = decision_of(request.get_json(silent=True), act)
    if desk.reviewing is None:
        return jsonify(error=NOBODY_DECIDES), 501
    if number > LARGEST:
        return jsonify(error=UNKNOWN_FINDING), 404
    record(desk, "asked")
    outcome = "failed"
    try:
        done = desk.reviewing(number, decision)
        outcome = "done"
    finally:
        with suppress(StoreUnavailableError):  # that it was asked for stands there
            record(desk, outcome)
    return jsonify(id=number, act=act, done=shown(done)), 200


def decision_of(body: object, act: str) -> Decision:
    """Read a body. Every decision needs a reason; only an acceptance can decide about facts. Raises BadRequestError."""
    like = f'the body must be JSON like {{"reason": "why"}}, with 1 to {LONGEST_REASON} characters'
    names = {"reason", "decisions"} if act == "accept" else {"reason"}
    if not isinstance(body, dict) or not body.keys() <= names:
        raise BadRequestError(f"{like}; it may hold: {', '.join(sorted(names))}")
    reason, facts = body.get("reason"), body.get("decisions", [])
    if not isinstance(reason, str) or not reason.strip() or len(reason) > LONGEST_REASON:
        raise BadRequestError(like)
    if any(not (character.isprintable() or character in "\n\t") for character in reason):
        raise BadRequestError("reason: holds characters that cannot be shown; write it as plain text")
    if not isinstance(facts, list):
        raise BadRequestError("decisions: must be a list; /admin/openapi.json describes it")
    return Decision(act == "accept", reason.strip(), str(g.role), facts)


def record(desk: AdminDesk, outcome: str, role: Role | None = None) -> None:
    """Add what is asked for to the audit log, by its route and the numbers in its address: no word of the request."""
    named: Mapping[str, object] = request.view_args or {}
    act = (request.endpoint or "").rpartition(".")[2]
    subject = " ".join(str(value) for value in named.values() if isinstance(value, int) or ITEM.fullmatch(str(value)))
    desk.record(str(role or g.role), f"{request.method} {act}", subject, outcome)


UNREADABLE = "The database does not answer, so this cannot be read or done. Try again."
READING = ("GET", "HEAD", "OPTIONS")


def admin_routes(doorman: Doorman, desk: AdminDesk) -> Blueprint:
    """Serve /admin to whoever has a token: 401 without, 403 for acts of a reader, 429 for guesses, 503 during an outage.

    Every act, and every refused one, is added to the audit log. Without a token configured these routes are not built, so
    their addresses are unknown (404).
    """
    routes = Blueprint("admin", __name__, url_prefix="/admin")
    routes.after_request(uncached)

    @routes.before_request
    def refuse_strangers() -> Response | tuple[Response, int] | None:
        who = doorman.who()
        if isinstance(who, Response):
            reason = "guessing" if who.status_code == 429 else "token"  # noqa: PLR2004
            log.warning("admin request refused", reason=reason)
            if who.status_code != 429 and "Authorization" in request.headers:  # noqa: PLR2004
                _record_refused(desk, Role.STRANGER)
            return who
        g.role = who
        if who is Role.READER and request.method not in READING:
            log.warning("admin request refused", reason="role")
            _record_refused(desk, who)
            return jsonify(error=NOT_YOURS), 403
        return None

    @routes.errorhandler(ClaraError)
    def refuse(error: ClaraError) -> tuple[Response, int]:
        if isinstance(error, Unavailable):
            log.warning("figures could not be read", error=type(error).__name__)
            return jsonify(error=UNREADABLE), error.http_status
        if isinstance(error, BadRequestError) or (isinstance(error, MENDABLE) and request.method not in READING):
            return jsonify(error=str(error)), error.http_status
        raise error  # what is wrong here, whoever asks: logged, and no word of it given away

    _figures(routes, desk)
    reading_routes(routes, desk)
    acting_routes(routes, desk)
    return routes


def _record_refused(desk: AdminDesk, who: Role) -> None:
    """Record what was refused. An outage must not hide the refusal itself."""
    with suppress(StoreUnavailableError):
        record(desk, "refused", who)


def _figures(routes: Blueprint, desk: AdminDesk) -> None:
    @routes.get("/rag-metrics")
    def rag_metrics() -> Response:
        asked()
        return jsonify(retrieval=summary(desk.counters()), embedding_memory=desk.memory().as_json())

    @routes.get("/satisfaction")
    def rated() -> Response:
        asked()
        return jsonify(satisfaction_json([desk.satisfaction(days) for days in SPANS]))

    @routes.get("/openapi.json")
    def description() -> Response:
        asked()
        return Response(desk.description(), mimetype="application/json")
