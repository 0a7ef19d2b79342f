"""The figures of a running Clara as JSON, for its operator."""

from collections.abc import Callable

import structlog
from flask import Blueprint, Response, jsonify

from clara.conversation.people.feedback import SPANS, Satisfaction, satisfaction_json
from clara.delivery.ports import StoreUnavailableError
from clara.retrieval.counters import Counters, MetricsUnavailableError, summary
from clara.retrieval.memory import EmbeddingMemoryUnavailableError, MemoryStatistics
from clara.web.bearer import has_token, refusal, uncached

UNREADABLE = "The database does not answer, so the figures cannot be read. Try again."
log = structlog.get_logger()


def admin_routes(
    token_sha256: str,
    counters: Callable[[], Counters],
    memory: Callable[[], MemoryStatistics],
    satisfaction: Callable[[int], Satisfaction],
) -> Blueprint:
    """Serve GET /admin/rag-metrics and /admin/satisfaction to whoever has the token: 401 without it, 503 during an outage.

    `token_sha256` is the SHA-256 of the token in hex (see clara.web.bearer); without one configured these routes are not
    built, so their addresses are unknown (404). `counters` may raise MetricsUnavailableError, `memory`
    EmbeddingMemoryUnavailableError. `satisfaction` gives the ratings of so many days, and may raise StoreUnavailableError.
    """
    routes = Blueprint("admin", __name__, url_prefix="/admin")
    routes.after_request(uncached)

    @routes.before_request
    def refuse_strangers() -> Response | None:
        if has_token(token_sha256):
            return None
        log.warning("admin request refused", reason="token")
        return refusal()

    @routes.get("/rag-metrics")
    def rag_metrics() -> Response | tuple[Response, int]:
        try:
            return jsonify(retrieval=summary(counters()), embedding_memory=memory().as_json())
        except (MetricsUnavailableError, EmbeddingMemoryUnavailableError) as error:
            log.warning("figures could not be read", error=str(error))
            return jsonify(error=UNREADABLE), 503

    @routes.get("/satisfaction")
    def rated() -> Response | tuple[Response, int]:
        try:
            return jsonify(satisfaction_json([satisfaction(days) for days in SPANS]))
        except StoreUnavailableError as error:
            log.warning("figures could not be read", error=str(error))
            return jsonify(error=UNREADABLE), 503

    return routes
