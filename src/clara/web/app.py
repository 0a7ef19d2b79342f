"""The Flask application and what it is given to work with."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from flask import Flask

from clara.delivery.ports import DeliveryReports, Inbox, Replies
from clara.web.admin import AdminDesk, admin_routes
from clara.web.auth import Doorman
from clara.web.chat import Chat
from clara.web.health import Probe, health_routes
from clara.web.metrics import metrics_routes
from clara.web.webhook import Signed, Webhook

# A WhatsApp form is a few kilobytes: 4,096 characters of text, percent-encoded up to nine bytes each, and some fields.
MAX_BODY_BYTES = 256 * 1024
# The chat page has no login, so a page elsewhere must not reach it under a name of its own (DNS rebinding).
LOCAL_HOSTS = ("localhost", "127.0.0.1", "[::1]")


@dataclass(frozen=True, slots=True)
class Edge:
    """Everything the web layer calls. `signed` and `public_url` are None in the local channel, which has no webhook."""

    inbox: Inbox
    replies: Replies
    reports: DeliveryReports
    probes: Mapping[str, Probe]
    direction: Callable[[str], str]
    admin: AdminDesk
    signed: Signed | None = None
    public_url: str | None = None
    admin_token_sha256: str | None = None
    reader_token_sha256: str | None = None


def create_app(edge: Edge) -> Flask:
    """Build the application: the webhook for WhatsApp, or the chat page for this machine; health for both."""
    app = Flask("clara", static_folder=None)
    app.config["MAX_CONTENT_LENGTH"] = MAX_BODY_BYTES
    app.config["MAX_FORM_MEMORY_SIZE"] = MAX_BODY_BYTES
    app.register_blueprint(health_routes(edge.probes))
    doorman = Doorman(edge.admin_token_sha256, edge.reader_token_sha256)
    app.register_blueprint(metrics_routes(edge.admin.counters, doorman))
    if doorman.has_tokens:
        app.register_blueprint(admin_routes(doorman, edge.admin))
    if edge.signed is not None and edge.public_url is not None:
        app.register_blueprint(Webhook(edge.inbox, edge.reports, edge.signed, edge.public_url).blueprint())
    else:
        app.config["TRUSTED_HOSTS"] = list(LOCAL_HOSTS)
        app.register_blueprint(Chat(edge.inbox, edge.replies, edge.direction).blueprint())
    return app
