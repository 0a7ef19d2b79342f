"""Talking to a running Clara as WhatsApp does."""

import base64
import hashlib
import hmac
import json
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlencode

from flask.testing import FlaskClient
from sqlalchemy import text
from tests.failing_twilio import FailingTwilio

from clara.container import Container
from clara_lab.stand_ins.twilio_server import TakenMessage

ACCOUNT, TOKEN, PUBLIC_URL = "AC" + "1" * 32, "70ce" * 8, "https://clara.example.org"
PSEUDONYM_KEY, ADDRESS_KEY = "2b7e91c05f8da346" * 4, "c4e81f0a7d3952b6" * 4
FORMS = {
    form["name"]: form["form"]
    for form in json.loads((Path(__file__).parents[1] / "data" / "twilio_webhook_forms.json").read_text("utf-8"))
}
PATIENCE_SECONDS = 200.0


def signature(url: str, form: str, token: str = TOKEN) -> str:
    """Sign a form as Twilio documents it, without Twilio's code."""
    fields = sorted(set(parse_qsl(form, keep_blank_values=True)))
    signed = url + "".join(name + value for name, value in fields)
    return base64.b64encode(hmac.new(token.encode(), signed.encode(), hashlib.sha1).digest()).decode()


@dataclass
class Clara:
    """What a journey test talks to."""

    services: Container
    web: FlaskClient
    twilio: FailingTwilio

    def post(self, form: str, path: str = "/webhook", signed: str | None = None) -> int:
        """Post a form; signed unless another signature is given."""
        headers = {"X-Twilio-Signature": signature(PUBLIC_URL + path, form) if signed is None else signed}
        kind = "application/x-www-form-urlencoded"
        return self.web.post(path, data=form.encode(), content_type=kind, headers=headers).status_code

    def say(self, body: str | None, sid: str, sender: str = "whatsapp:+34600000001", **more: str) -> TakenMessage:
        """Send a message and give the reply to it."""
        before = len(self.twilio.taken)
        fields = {"From": sender, "To": "whatsapp:+15555550100", "MessageSid": sid, "NumMedia": "0", **more}
        if body is not None:
            fields["Body"] = body
        assert self.post(urlencode(fields, errors="replace")) == 200
        return self.reply(before)

    def reply(self, before: int) -> TakenMessage:
        """Wait for the next message that Twilio takes."""
        until(lambda: len(self.twilio.taken) > before)
        return self.twilio.taken[before]

    def rows(self, sql: str) -> list[tuple[Any, ...]]:
        """Read the database."""
        with self.services.engine.connect() as connection:
            return [tuple(row) for row in connection.execute(text(sql))]


def until(done: Callable[[], bool]) -> None:
    """Wait for something to become true."""
    deadline = time.monotonic() + PATIENCE_SECONDS
    while not done():
        assert time.monotonic() < deadline, "it did not happen in time"
        time.sleep(0.02)
