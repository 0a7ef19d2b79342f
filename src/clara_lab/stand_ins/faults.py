"""How providers of models fail: what the model stand-in gives instead of an answer, in the words of Gemini and of OpenAI.

The faults by name stand in faults.toml; those of a batch of embeddings depend on its size.
"""

import json
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from clara_lab.stand_ins.server import Delivery, ScriptedReply, json_reply
from clara_lab.stand_ins.speech import completion, generation

# Refusals repeat what was asked, as some do.
CANARY: Final = "canary-of-the-prompt"
RETRY_INFO: Final = "type.googleapis.com/google.rpc.RetryInfo"
DIMENSIONS: Final = 768


def faults_of(provider: str, *groups: str) -> dict[str, ScriptedReply]:
    """Give the faults of a provider, "gemini" or "openai", by their names without blanks: of these groups, or of all."""
    held = _FAULTS[provider]
    return {name: _fault(provider, entry) for group in groups or held for name, entry in held[group].items()}


def _fault(provider: str, entry: Mapping[str, Any]) -> ScriptedReply:
    given, reply = dict(entry), ScriptedReply()
    for kind, speak in _SPEAKING[provider].items():
        if kind in given:
            reply = speak(**given.pop(kind))
    if "hex" in given:
        given["body"] = bytes.fromhex(given.pop("hex"))
    elif "body" in given:
        given["body"] = given["body"].encode() * given.pop("times", 1)
    return replace(reply, **{**given, "delivery": Delivery(given.get("delivery", "answer"))})


def embedding_faults(count: int) -> Mapping[str, ScriptedReply]:
    """Give Gemini's wrong answers to a batch of so many texts to embed; what is no number is written as Python writes it."""
    unit = [1.0] + [0.0] * (DIMENSIONS - 1)
    rows: Mapping[str, list[Any]] = {
        "wrong-dimensions": [unit[:256]] * count,
        "nan": [[float("nan"), *unit[1:]]] * count,
        "infinite": [[float("inf"), *unit[1:]]] * count,
        "zero": [[0.0] * DIMENSIONS] * count,
        "too-few": [unit] * (count - 1),
        "too-many": [unit] * (count + 1),
        "texts": [["1.0"] * DIMENSIONS] * count,
    }
    documents = {name: {"embeddings": [{"values": vector} for vector in vectors]} for name, vectors in rows.items()}
    documents["no-values"] = {"embeddings": [{}]}
    return {name: ScriptedReply(body=json.dumps(document).encode()) for name, document in documents.items()}


def gemini_refusal(status: int, name: str, retry_delay: str = "", reason: str = "") -> ScriptedReply:
    """Give a refusal in the format of Google's APIs."""
    details: list[dict[str, str]] = []
    if reason:
        details.append({"@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": reason, "domain": "googleapis.com"})
    if retry_delay:
        details.append({"@type": RETRY_INFO, "retryDelay": retry_delay})
    error = {"code": status, "message": f"scripted: {CANARY}", "status": name, "details": details}
    return json_reply({"error": error}, status)


def gemini_text(text: str, finish_reason: str = "STOP", times: int = 1) -> ScriptedReply:
    """Give a generation with this text, so many times."""
    return ScriptedReply(body=json.dumps(generation(text * times, finish_reason)).encode())


def openai_refusal(status: int, message: str) -> ScriptedReply:
    """Give a refusal as vLLM and NIM write it."""
    document = {"object": "error", "message": f"{message}: {CANARY}", "type": "BadRequestError", "code": status}
    return json_reply(document, status)


def openai_text(text: str | None = None, finish_reason: str = "stop") -> ScriptedReply:
    """Give a completion with this text, or without any."""
    return ScriptedReply(body=json.dumps(completion(text, finish_reason)).encode())


def replayed(body: bytes) -> ScriptedReply:
    """Give a recorded answer of Gemini again, with the HTTP status that it names; one without a status was a success."""
    status = json.loads(body).get("error", {}).get("code", 200)
    return ScriptedReply(status=status, body=body, headers={"Content-Type": "application/json"})


_FAULTS: Final = tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf-8"))
_SPEAKING: Final[Mapping[str, Mapping[str, Callable[..., ScriptedReply]]]] = {
    "gemini": {"refused": gemini_refusal, "said": gemini_text},
    "openai": {"refused": openai_refusal, "said": openai_text},
}
