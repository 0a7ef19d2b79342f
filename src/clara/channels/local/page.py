"""The chat page of the local channel: the same inbox, job and journey as WhatsApp, without leaving the machine."""

import secrets
from importlib.resources import files
from typing import Final
from uuid import uuid4

from flask import Blueprint, Response, jsonify, render_template_string, request
from flask.blueprints import BlueprintSetupState

from clara.delivery.message import Incoming
from clara.delivery.ports import RefusedError, StoreUnavailableError
from clara.web.calls import ChannelIntake

# The chat page has no login, so a page elsewhere must not reach it under a name of its own (DNS rebinding).
LOCAL_HOSTS: Final = ("localhost", "127.0.0.1", "[::1]")

MAX_CHARACTERS = 10_000
MAX_CONVERSATION = 100
OUTAGE = "La base de datos no responde. Mira la ventana donde arrancaste Clara e inténtalo otra vez."


class ChatPage:
    """Serves the page at / and its two calls."""

    def __init__(self, intake: ChannelIntake) -> None:
        self._intake = intake
        self._page = (files("clara.channels.local") / "chat.html").read_text("utf-8")

    def blueprint(self) -> Blueprint:
        """Give the routes. The application that they join answers to names of this machine only."""
        routes = Blueprint("chat", __name__)
        routes.record_once(_trust_this_machine)
        routes.add_url_rule("/", view_func=self.show)
        routes.add_url_rule("/chat/messages", view_func=self.send, methods=["POST"])
        routes.add_url_rule("/chat/messages/<sid>/reply", view_func=self.reply)
        return routes

    def show(self) -> Response:
        """Give the page; only its own style and script may run."""
        nonce = secrets.token_urlsafe(16)
        response = Response(render_template_string(self._page, nonce=nonce), mimetype="text/html")
        response.headers["Content-Security-Policy"] = (
            f"default-src 'none'; style-src 'nonce-{nonce}'; script-src 'nonce-{nonce}'; connect-src 'self'; "
            "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
        )
        return response

    def send(self) -> tuple[Response, int]:
        """Take a message in, as the webhook does."""
        asked = request.get_json(silent=True)
        text, conversation = (asked.get("text"), asked.get("conversation")) if isinstance(asked, dict) else (None, None)
        if not isinstance(text, str) or not isinstance(conversation, str) or not 0 < len(conversation) <= MAX_CONVERSATION:
            return jsonify(error="El mensaje debe ser JSON con los textos 'conversation' y 'text'."), 400
        if len(text) > MAX_CHARACTERS:
            return jsonify(error=f"El mensaje es demasiado largo: el máximo son {MAX_CHARACTERS} caracteres."), 413
        sid = f"local-{uuid4().hex}"
        try:
            self._intake.inbox.accept(Incoming(sid, "local", f"local:{conversation}", "local:clara", text))
        except StoreUnavailableError:
            return jsonify(error=OUTAGE), 503
        except RefusedError:
            return jsonify(error="El mensaje no se puede guardar tal como está."), 400
        return jsonify(message=sid), 202

    def reply(self, sid: str) -> Response | tuple[Response, int]:
        """Give the reply when it is there."""
        try:
            found = self._intake.replies.reply_to(sid)
        except KeyError:
            return jsonify(error="No conozco ese mensaje."), 404
        except StoreUnavailableError:
            return jsonify(error=OUTAGE), 503
        if found is None:
            return Response(status=204)
        return jsonify(text=found.text, language=found.language, direction=self._intake.direction(found.language))


def _trust_this_machine(state: BlueprintSetupState) -> None:
    state.app.config["TRUSTED_HOSTS"] = list(LOCAL_HOSTS)
