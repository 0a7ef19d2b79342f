"""What channels call: a message arrived, or a reply made progress. What they say is read and verified by their own reader."""

from urllib.parse import unquote, urlsplit

import structlog
from flask import Blueprint, Response, abort, request

from clara.delivery.message import Incoming, Report
from clara.delivery.ports import RefusedError, StoreUnavailableError
from clara.web.calls import CallReader, ChannelIntake, ForgedCallError, UnreadableCallError, WebhookCall

log = structlog.get_logger()


class Webhook:
    """Serves the paths of a reader. `public_url` is the address that the channel was given, without them.

    When it has a path, the proxy in front may take that away or leave it there. A channel that `repeats` calls again until it
    is thanked.
    """

    def __init__(self, reader: CallReader, intake: ChannelIntake, public_url: str, *, repeats: bool = False) -> None:
        self._reader = reader
        self._intake = intake
        self._public_url = public_url.rstrip("/")
        self._repeats = repeats
        self._path_of_rule: dict[str, str] = {}

    def blueprint(self) -> Blueprint:
        """Give the routes."""
        routes = Blueprint(f"webhook-{self._reader.name}", __name__)
        for prefix in dict.fromkeys(("", unquote(urlsplit(self._public_url).path))):
            for path in self._reader.paths:
                self._path_of_rule[prefix + path] = path
                routes.add_url_rule(prefix + path, path.strip("/").replace("/", "-"), self.receive, methods=["POST"])
        return routes

    def receive(self) -> Response:
        """Keep what came, then acknowledge it."""
        call = self._call()
        try:
            came = self._reader.read(call)
        except ForgedCallError as error:
            log.warning("webhook refused", reason=error.proof, path=call.path)
            abort(403, str(error))
        except UnreadableCallError as error:
            return self._refused(str(error), str(error), call.path)
        if isinstance(came, Incoming):
            return self._taken(came, call.path)
        self._noted(came)
        return Response(status=204)

    def _call(self) -> WebhookCall:
        path = self._path_of_rule[request.url_rule.rule if request.url_rule else ""]
        query = request.query_string.decode("latin-1")
        url = f"{self._public_url}{path}{f'?{query}' if query else ''}"
        fields = list(request.form.items(multi=True))
        return WebhookCall(path, url, request.args, dict(request.headers), fields, request.get_data())

    def _taken(self, incoming: Incoming, path: str) -> Response:
        """Store the message and its job, then say thanks."""
        try:
            new = self._intake.inbox.accept(incoming)
        except StoreUnavailableError as error:
            log.exception("message not stored", error=str(error), path=path)
            abort(503, "The message could not be stored. Send it again.")
        except RefusedError as error:
            return self._refused("The message cannot be stored as it is.", str(error), path)
        log.info("message accepted", new=new, path=path)
        return self._thanks()

    def _refused(self, said: str, reason: str, path: str) -> Response:
        """Answer what will never be taken. Who repeats it would bring it for ever, and nothing else meanwhile."""
        log.error("message refused", reason=reason, path=path)
        if not self._repeats:
            abort(400, said)
        return self._thanks()

    def _thanks(self) -> Response:
        body, kind = self._reader.thanks
        return Response(body, mimetype=kind)

    def _noted(self, report: Report | None) -> None:
        """Record what became of a reply."""
        try:
            known = report is not None and self._intake.reports.delivery(report)
        except StoreUnavailableError as error:
            log.warning("delivery report not stored", error=str(error))
            abort(503, "The report could not be stored. Send it again.")
        if not known:
            log.info("webhook ignored", reason="unknown message or status, or nothing to answer")
