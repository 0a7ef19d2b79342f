"""The Flask application and what it is given to work with."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from flask import Blueprint, Flask

from clara.web.admin import AdminDesk, admin_routes
from clara.web.auth import Doorman
from clara.web.health import Probe, health_routes
from clara.web.metrics import metrics_routes

# A WhatsApp form is a few kilobytes: 4,096 characters of text, percent-encoded up to nine bytes each, and some fields.
MAX_BODY_BYTES = 256 * 1024


@dataclass(frozen=True, slots=True)
class Edge:
    """Everything the web layer calls. `channels` are the routes of each."""

    channels: Sequence[Blueprint]
    probes: Mapping[str, Probe]
    admin: AdminDesk
    admin_token_sha256: str | None = None
    reader_token_sha256: str | None = None


def create_app(edge: Edge) -> Flask:
    """Build the application: the way in of each channel, health, and what operators ask."""
    app = Flask("clara", static_folder=None)
    app.config["MAX_CONTENT_LENGTH"] = MAX_BODY_BYTES
    app.config["MAX_FORM_MEMORY_SIZE"] = MAX_BODY_BYTES
    app.register_blueprint(health_routes(edge.probes))
    doorman = Doorman(edge.admin_token_sha256, edge.reader_token_sha256)
    app.register_blueprint(metrics_routes(edge.admin.counters, doorman))
    if doorman.has_tokens:
        app.register_blueprint(admin_routes(doorman, edge.admin))
    for routes in edge.channels:
        app.register_blueprint(routes)
    return app
