"""What operators read of a running Clara, and do, as JSON: figures, freshness, the review queue, the gazette, jobs, acts."""

from contextlib import suppress

import structlog
from flask import Blueprint, Response, g, jsonify, request

from clara.conversation.people.feedback import SPANS, satisfaction_json
from clara.delivery.ports import StoreUnavailableError
from clara.retrieval.counters import MetricsUnavailableError, summary
from clara.retrieval.memory import EmbeddingMemoryUnavailableError
from clara.web.admin_acting import acting_routes, record
from clara.web.admin_desk import AdminDesk
from clara.web.admin_reading import reading_routes
from clara.web.asking import BadRequestError, asked
from clara.web.bearer import NOT_YOURS, Doorman, Role, uncached

UNREADABLE = "The database does not answer, so this cannot be read or done. Try again."
READING = ("GET", "HEAD", "OPTIONS")
log = structlog.get_logger()


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

    @routes.errorhandler(BadRequestError)
    def refuse(error: BadRequestError) -> tuple[Response, int]:
        return jsonify(error=str(error)), 400

    @routes.errorhandler(StoreUnavailableError)
    @routes.errorhandler(MetricsUnavailableError)
    @routes.errorhandler(EmbeddingMemoryUnavailableError)
    def away(error: Exception) -> tuple[Response, int]:
        log.warning("figures could not be read", error=type(error).__name__)
        return jsonify(error=UNREADABLE), 503

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
