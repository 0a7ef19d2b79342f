"""Whether each part works."""

from collections.abc import Callable, Mapping

import structlog
from flask import Blueprint, Response, jsonify

log = structlog.get_logger()


def health_routes(probes: Mapping[str, Callable[[], str]]) -> Blueprint:
    """Serve GET /health: 200 when every part answers, 503 with the parts that do not.

    GET /health/live says only that this process serves: a platform that restarts what is not alive must not end a web
    process because the worker is missing. Who asks every few seconds fills no log: a part is logged when its state changes.
    """
    routes = Blueprint("health", __name__)
    up: dict[str, bool] = {}

    @routes.get("/health/live")
    def live() -> Response:
        return jsonify(status="ok")

    @routes.get("/health")
    def health() -> tuple[Response, int]:
        parts = {name: _ask(name, probe, up) for name, probe in probes.items()}
        broken = any(state["ok"] is False for state in parts.values())
        return jsonify(status="degraded" if broken else "ok", parts=parts), 503 if broken else 200

    return routes


def _ask(name: str, probe: Callable[[], str], up: dict[str, bool]) -> dict[str, object]:
    before = up.get(name)
    try:
        detail = probe()
    except Exception as error:
        up[name] = False
        if before is None:
            log.info("part is not up yet", part=name, error=type(error).__name__)
        elif before:
            log.exception("part is down", part=name)
        return {"ok": False, "detail": type(error).__name__}
    up[name] = True
    if before is False:
        log.info("part is up", part=name)
    return {"ok": True, "detail": detail}
