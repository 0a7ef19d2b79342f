"""How a service that speaks OpenAI's wire format fails, by name: what the model stand-in gives instead of an answer."""

import json
from collections.abc import Mapping
from typing import Final

from clara_lab.stand_ins.server import Delivery, ScriptedReply, json_reply
from clara_lab.stand_ins.speech import completion

# Refusals repeat what was asked, as some do.
CANARY: Final = "canary-of-the-prompt"
SLOW: Final = b" " * 20_000


def passing_faults() -> Mapping[str, ScriptedReply]:
    """Give the faults after which the same request may do better."""
    return {
        "rate": refused(429, "Too many requests"),
        "rate-second": ScriptedReply(status=429, headers={"Retry-After": "1"}),
        "error-500": refused(500, "Internal error"),
        "error-502-html": ScriptedReply(status=502, body=b"<html>Bad gateway</html>"),
        "error-503": refused(503, "Model is loading"),
        "reset": ScriptedReply(Delivery.RESET),
        "truncated": ScriptedReply(Delivery.TRUNCATED, body=b"[" * 100),
        "garbage": ScriptedReply(body=b"\xff\xfe garbage"),
        "html": ScriptedReply(body=b"<html>It works!</html>"),
        "empty": ScriptedReply(body=b""),
        "null": ScriptedReply(body=b"null"),
        "nested": ScriptedReply(body=b"[" * 100_000),
        "no-content": ScriptedReply(body=b'{"choices": [], "data": [{}]}'),
    }


def slow_faults() -> Mapping[str, ScriptedReply]:
    """Give the faults that only a deadline ends."""
    return {
        "hang": ScriptedReply(Delivery.HANG),
        "drip-headers": ScriptedReply(Delivery.DRIP_HEADERS, body=SLOW),
        "drip-body": ScriptedReply(Delivery.DRIP_BODY, body=SLOW),
    }


def lasting_faults() -> Mapping[str, ScriptedReply]:
    """Give the refusals that the same request will meet again."""
    return {
        "invalid": refused(400, "Invalid request"),
        "too-long": refused(400, "This model's maximum context length is 8192 tokens"),
        "unauthorized": refused(401, "Invalid authentication credentials"),
        "forbidden": refused(403, "Not for this account"),
        "not-found": refused(404, "The model does not exist"),
        "too-large": refused(413, "Request entity too large"),
        "redirect": ScriptedReply(status=302, headers={"Location": "/elsewhere"}),
    }


def declining_faults() -> Mapping[str, ScriptedReply]:
    """Give completions of a model that works and has nothing that can be used."""
    return {
        "filtered": said(None, "content_filter"),
        "no-text": said(""),
        "no-words": said(None),
        "half-a-thought": said("<think>First I should", "length"),
    }


def every_fault() -> Mapping[str, ScriptedReply]:
    """Give all faults by their names."""
    return {**passing_faults(), **slow_faults(), **lasting_faults(), **declining_faults()}


def refused(status: int, message: str) -> ScriptedReply:
    """Give a refusal as vLLM and NIM write it."""
    document = {"object": "error", "message": f"{message}: {CANARY}", "type": "BadRequestError", "code": status}
    return json_reply(document, status)


def said(text: str | None, finish_reason: str = "stop") -> ScriptedReply:
    """Give a completion with this text, or without any."""
    return ScriptedReply(body=json.dumps(completion(text, finish_reason)).encode())
