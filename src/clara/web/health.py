"""Whether each part works."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import structlog
from flask import Blueprint, Response, jsonify

log = structlog.get_logger()


@dataclass(frozen=True, slots=True)
class Part:
    """How a part stands, where there is more to say than that it answers. `rows` are shown as they are."""

    ok: bool
    detail: str
    rows: Mapping[str, Mapping[str, object]] = field(default_factory=dict)

    def as_json(self) -> dict[str, Any]:
        """Give it as the page shows it."""
        return {"ok": self.ok, "detail": self.detail, **({"rows": dict(self.rows)} if self.rows else {})}


# Says how a part stands; whatever it raises means that it does not work.
Probe = Callable[[], str | Part]


def health_routes(probes: Mapping[str, Probe]) -> Blueprint:
    """Serve GET /health: 200 when every part answers and does its duty, 503 with the parts that do not.

    GET /health/live says only that this process serves: a platform that restarts what is not alive must not end a web
    process because the worker is missing, or the gazette late. Who asks every few seconds fills no log: a part is logged when
    its state changes.
    """
    routes = Blueprint("health", __name__)
    up: dict[str, bool] = {}

    @routes.get("/health/live")
    def live() -> Response:
        return jsonify(status="ok")

    @routes.get("/health")
    def health() -> tuple[Response, int]:
        parts = {name: _ask(name, probe, up) for name, probe in probes.items()}
        broken = not all(part.ok for part in parts.values())
        shown = {name: part.as_json() for name, part in parts.items()}
        return jsonify(status="degraded" if broken else "ok", parts=shown), 503 if broken else 200

    return routes


def _ask(name: str, probe: Probe, up: dict[str, bool]) -> Part:
    before = up.get(name)
    try:
        told = probe()
    except Exception as error:
        up[name] = False
        if before is None:
            log.info("part is not up yet", part=name, error=type(error).__name__)
        elif before:
            log.exception("part is down", part=name)
        return Part(ok=False, detail=type(error).__name__)
    part = Part(ok=True, detail=told) if isinstance(told, str) else told
    up[name] = part.ok
    if before is False and part.ok:
        log.info("part is up", part=name)
    elif before is not False and not part.ok:
        log.error("part is down", part=name, reason=part.detail)
    return part
