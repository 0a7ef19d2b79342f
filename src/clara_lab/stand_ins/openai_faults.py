"""How a service that speaks OpenAI's wire format fails, by name: what the model stand-in gives instead of an answer."""

import json
from collections.abc import Mapping
from typing import Final

from clara_lab.stand_ins.model_server import Delivery, ModelFault
from clara_lab.stand_ins.speech import completion

# Refusals repeat what was asked, as some do.
CANARY: Final = "canary-of-the-prompt"
SLOW: Final = b" " * 20_000


def passing_faults() -> Mapping[str, ModelFault]:
    """Give the faults after which the same request may do better."""
    return {
        "rate": refused(429, "Too many requests"),
        "rate-second": ModelFault(status=429, headers={"Retry-After": "1"}),
        "error-500": refused(500, "Internal error"),
        "error-502-html": ModelFault(status=502, body=b"<html>Bad gateway</html>"),
        "error-503": refused(503, "Model is loading"),
        "reset": ModelFault(Delivery.RESET),
        "truncated": ModelFault(Delivery.TRUNCATED, body=b"[" * 100),
        "garbage": ModelFault(body=b"\xff\xfe garbage"),
        "html": ModelFault(body=b"<html>It works!</html>"),
        "empty": ModelFault(body=b""),
        "null": ModelFault(body=b"null"),
        "nested": ModelFault(body=b"[" * 100_000),
        "no-content": ModelFault(body=b'{"choices": [], "data": [{}]}'),
    }


def slow_faults() -> Mapping[str, ModelFault]:
    """Give the faults that only a deadline ends."""
    return {
        "hang": ModelFault(Delivery.HANG),
        "drip-headers": ModelFault(Delivery.DRIP_HEADERS, body=SLOW),
        "drip-body": ModelFault(Delivery.DRIP_BODY, body=SLOW),
    }


def lasting_faults() -> Mapping[str, ModelFault]:
    """Give the refusals that the same request will meet again."""
    return {
        "invalid": refused(400, "Invalid request"),
        "too-long": refused(400, "This model's maximum context length is 8192 tokens"),
        "unauthorized": refused(401, "Invalid authentication credentials"),
        "forbidden": refused(403, "Not for this account"),
        "not-found": refused(404, "The model does not exist"),
        "too-large": refused(413, "Request entity too large"),
        "redirect": ModelFault(status=302, headers={"Location": "/elsewhere"}),
    }


def declining_faults() -> Mapping[str, ModelFault]:
    """Give completions of a model that works and has nothing that can be used."""
    return {
        "filtered": said(None, "content_filter"),
        "no-text": said(""),
        "no-words": said(None),
        "half-a-thought": said("<think>First I should", "length"),
    }


def every_fault() -> Mapping[str, ModelFault]:
    """Give all faults by their names."""
    return {**passing_faults(), **slow_faults(), **lasting_faults(), **declining_faults()}


def refused(status: int, message: str) -> ModelFault:
    """Give a refusal as vLLM and NIM write it."""
    document = {"object": "error", "message": f"{message}: {CANARY}", "type": "BadRequestError", "code": status}
    return ModelFault(status=status, body=json.dumps(document).encode(), headers={"Content-Type": "application/json"})


def said(text: str | None, finish_reason: str = "stop") -> ModelFault:
    """Give a completion with this text, or without any."""
    return ModelFault(body=json.dumps(completion(text, finish_reason)).encode())
