"""How Gemini fails, by name: what the model stand-in gives instead of an answer.

Bodies are as Gemini writes them; the delays are the shortest and the longest that were seen.
"""

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

from clara_lab.stand_ins.server import Delivery, ScriptedReply, json_reply
from clara_lab.stand_ins.speech import generation

RETRY_INFO: Final = "type.googleapis.com/google.rpc.RetryInfo"
QUOTA: Final = "RESOURCE_EXHAUSTED"
# Dripped, it takes minutes: longer than anybody waits.
SLOW: Final = b" " * 20_000
HUGE: Final = 10_000_000
LATIN: Final = "Gallia est omnis divisa in partes tres [C1]."
DIMENSIONS: Final = 768


def gemini_faults() -> Mapping[str, ScriptedReply]:
    """Give every fault after which a generation has no usable answer, by a name without blanks."""
    return {
        "quota-second": refused(429, QUOTA, "1s"),
        "quota-day": refused(429, QUOTA, "68940s"),
        "quota-silent": refused(429, QUOTA),
        "quota-header": replace(refused(429, QUOTA), headers={"Retry-After": "10"}),
        "error-500": refused(500, "INTERNAL"),
        "error-503": refused(503, "UNAVAILABLE"),
        "error-html": ScriptedReply(status=502, body=b"<html>Bad gateway</html>"),
        "wrong-key": refused(400, "INVALID_ARGUMENT", reason="API_KEY_INVALID"),
        "hang": ScriptedReply(Delivery.HANG),
        "drip-headers": ScriptedReply(Delivery.DRIP_HEADERS, body=SLOW),
        "drip-body": ScriptedReply(Delivery.DRIP_BODY, body=SLOW),
        "reset": ScriptedReply(Delivery.RESET),
        "truncated": ScriptedReply(Delivery.TRUNCATED, body=said("half of it")),
        "garbage": ScriptedReply(body=b"\xff\xfe garbage"),
        "html": ScriptedReply(body=b"<html>It works!</html>"),
        "empty": ScriptedReply(body=b""),
        "null": ScriptedReply(body=b"null"),
        "nested": ScriptedReply(body=b"[" * 100_000),
        "no-candidates": ScriptedReply(body=b"{}"),
        "no-text": ScriptedReply(body=said("")),
        "unknown-enum": ScriptedReply(body=said("Once", "BORED_2")),
        "unfinished": ScriptedReply(body=said("", "OTHER")),
        "huge": ScriptedReply(body=said("x" * HUGE)),
    }


def declining_faults() -> Mapping[str, ScriptedReply]:
    """Give the answers of a Gemini that works and will not serve this one request."""
    return {
        "safety": ScriptedReply(body=said("", "SAFETY")),
        "blocked": ScriptedReply(body=json.dumps({"promptFeedback": {"blockReason": "SAFETY"}}).encode()),
        "too-long": ScriptedReply(body=said("Once", "MAX_TOKENS")),
        "recitation": ScriptedReply(body=said("", "RECITATION")),
        "invalid": refused(400, "INVALID_ARGUMENT"),
    }


def unfit_answers() -> Mapping[str, ScriptedReply]:
    """Give answers that only their reader can find wrong."""
    return {"wrong-language": ScriptedReply(body=said(LATIN))}


def embedding_faults(count: int) -> Mapping[str, ScriptedReply]:
    """Give wrong answers to a batch of so many texts to embed."""
    unit = [1.0] + [0.0] * (DIMENSIONS - 1)
    return {
        "wrong-dimensions": embedded([unit[:256]] * count),
        "nan": embedded([[float("nan"), *unit[1:]]] * count),
        "infinite": embedded([[float("inf"), *unit[1:]]] * count),
        "zero": embedded([[0.0] * DIMENSIONS] * count),
        "too-few": embedded([unit] * (count - 1)),
        "too-many": embedded([unit] * (count + 1)),
        "no-values": ScriptedReply(body=b'{"embeddings": [{}]}'),
        "texts": embedded([["1.0"] * DIMENSIONS] * count),
    }


def every_fault() -> Mapping[str, ScriptedReply]:
    """Give all faults of a generation, and of a batch with one text."""
    return {**gemini_faults(), **declining_faults(), **unfit_answers(), **embedding_faults(1)}


def refused(status: int, name: str, retry_delay: str | None = None, reason: str | None = None) -> ScriptedReply:
    """Give a refusal in the format of Google's APIs. Its message repeats a part of the request, as some do."""
    details: list[dict[str, str]] = []
    if reason:
        details.append({"@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": reason, "domain": "googleapis.com"})
    if retry_delay:
        details.append({"@type": RETRY_INFO, "retryDelay": retry_delay})
    error = {"code": status, "message": "scripted: canary-of-the-prompt", "status": name, "details": details}
    return json_reply({"error": error}, status)


def said(text: str, finish_reason: str = "STOP") -> bytes:
    """Give the body of a generation."""
    return json.dumps(generation(text, finish_reason)).encode()


def embedded(vectors: list[Any]) -> ScriptedReply:
    """Give the answer to a batch of texts; what is no number in JSON is written as Python writes it."""
    return ScriptedReply(body=json.dumps({"embeddings": [{"values": vector} for vector in vectors]}).encode())


def replayed(body: bytes) -> ScriptedReply:
    """Give a recorded answer again, with the HTTP status that it names; one without a status was a success."""
    document = json.loads(body)
    error = document.get("error", {})
    return ScriptedReply(status=error.get("code", 200), body=body, headers={"Content-Type": "application/json"})
