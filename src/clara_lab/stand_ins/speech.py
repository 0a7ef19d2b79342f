"""What the model stand-in says, in the wire formats of Gemini and of OpenAI, and how these providers fail.

The faults by name stand in speech.toml; those of a batch of embeddings depend on its size.
"""

import json
import re
import tomllib
from base64 import b64decode
from binascii import Error as Base64Error
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from hashlib import blake2b
from pathlib import Path
from typing import Any, Final

from clara.language.sentences import sentence_ends
from clara.language.tokens import words
from clara_lab.stand_ins.server import Delivery, ScriptedReply, json_reply

Document = Mapping[str, Any]
# Gives a text for an instruction and a page.
Write = Callable[[str, str], str]

# What gemini-embedding-001 gives when no dimensions are asked for.
DIMENSIONS: Final = 3_072
# A vector of fewer dimensions than that is not normalised by Gemini; this one never is.
LENGTH: Final = 0.7
BEST_SCORE: Final = 10


def quote(_instruction: str, page: str) -> str:
    """Write the first line of the page that has words, with the first mark: the least a writer can do."""
    lines = (line.strip() for line in page.splitlines())
    return f"{next((line for line in lines if any(map(str.isalnum, line))), 'Nothing')} [C1]"


def generation(text: str, finish_reason: str = "STOP") -> Document:
    """Wrap a text as Gemini's answer to generateContent."""
    return {
        "candidates": [
            {"content": {"parts": [{"text": text}], "role": "model"}, "finishReason": finish_reason, "index": 0},
        ],
        "usageMetadata": {"candidatesTokenCount": _tokens(text)},
        "modelVersion": "stand-in",
    }


def generate(document: Document, write: Write) -> Document:
    """Answer generateContent."""
    parts: Sequence[Document] = document["contents"][-1]["parts"]
    recording = next((part["inlineData"]["data"] for part in parts if "inlineData" in part), None)
    if recording is not None:
        words = _spoken(recording)
        return generation(json.dumps({"speech": bool(words), "words": words}, ensure_ascii=False))
    page = "".join(part.get("text", "") for part in parts)
    wanted = document.get("generationConfig", {}).get("responseSchema", {})
    if "spanish" in wanted.get("properties", {}):
        return generation(json.dumps(dict.fromkeys(wanted["properties"], page), ensure_ascii=False))
    if wanted.get("type") == "ARRAY":
        return generation(_ratings(json.loads(page)))
    instruction = "".join(part.get("text", "") for part in document.get("systemInstruction", {}).get("parts", ()))
    return generation(write(instruction, page))


def embed(document: Document, _write: Write) -> Document:
    """Answer batchEmbedContents."""
    return {"embeddings": [{"values": _vector(request)} for request in document["requests"]]}


def embed_one(document: Document, _write: Write) -> Document:
    """Answer embedContent."""
    return {"embedding": {"values": _vector(document)}}


def count_tokens(document: Document, _write: Write) -> Document:
    """Answer countTokens."""
    contents = document.get("contents") or document.get("generateContentRequest", {}).get("contents", ())
    return {"totalTokens": sum(_tokens(part.get("text", "")) for content in contents for part in content["parts"])}


def _ratings(prompt: Document) -> str:
    passages: Sequence[Document] = prompt["passages"]
    ratings = [{"index": held["index"], "score": BEST_SCORE * overlap(prompt["question"], held["text"])} for held in passages]
    return json.dumps(ratings)


def _spoken(recording: str) -> str:
    """Hear what the bytes of a recording say as text; other bytes are noise."""
    try:
        return b64decode(recording + "=" * (-len(recording) % 4), altchars=b"-_").decode("utf-8").strip("\x00\n\r\t ")
    except (Base64Error, UnicodeDecodeError):
        return ""


def _vector(request: Document) -> list[float]:
    """Spread the words over the dimensions: texts with the same words are near each other."""
    text = "".join(part.get("text", "") for part in request["content"]["parts"])
    dimensions = int(request.get("outputDimensionality") or DIMENSIONS)
    return [LENGTH * value for value in spread(text, dimensions, str(request.get("taskType", "")))]


def _tokens(text: str) -> int:
    """Count as Google says in general: a token is about four characters."""
    return -(-len(text) // 4)


SERVED_DIMENSIONS: Final = 256
CONTEXT_LENGTH: Final = 8_192
_ASKED: Final = re.compile(r"(?P<page>.*\n|)Question: (?P<question>[^\n]*)(?:\nAnswer to judge: (?P<judged>.*))?", re.DOTALL)
_HEADER: Final = re.compile(r"^\[Doc \d+\][^\n]*", re.MULTILINE)
# What a completion leaves out of a page: its own bound, in tokens of four characters.
CHARACTERS: Final = 4


def embeddings(document: Document, _write: Write) -> Document:
    """Answer /embeddings, last text first: whoever trusts the order of an answer is found out."""
    texts: Sequence[str] = [document["input"]] if isinstance(document["input"], str) else document["input"]
    task = str(document.get("input_type", ""))
    made = [
        {"object": "embedding", "index": index, "embedding": spread(text, SERVED_DIMENSIONS, task)}
        for index, text in enumerate(texts)
    ]
    tokens = sum(map(_tokens, texts))
    return {
        "object": "list",
        "model": document["model"],
        "data": made[::-1],
        "usage": {"prompt_tokens": tokens, "total_tokens": tokens},
    }


def complete(document: Document, write: Write) -> Document:
    """Answer /chat/completions; what is longer than `max_tokens` is cut."""
    said = {message["role"]: message["content"] for message in document["messages"]}
    instruction, page = said.get("system", ""), said.get("user", "")
    text = _answered(page) or write(instruction, page)
    most = CHARACTERS * int(document.get("max_tokens") or CONTEXT_LENGTH)
    return completion(text[:most], "length" if len(text) > most else "stop", _tokens(instruction + page))


def completion(text: str | None, finish_reason: str = "stop", prompt_tokens: int = 0) -> Document:
    """Wrap a text as the answer to /chat/completions."""
    message = {"role": "assistant", "content": text}
    return {
        "object": "chat.completion",
        "choices": [{"index": 0, "message": message, "finish_reason": finish_reason}],
        "usage": {"prompt_tokens": prompt_tokens, "completion_tokens": _tokens(text or "")},
    }


def models(_document: Document, _write: Write) -> Document:
    """Answer /models: any name is a model of this server, so one is listed for every kind."""
    names = ("chat", "embedder", "ranker")
    return {"object": "list", "data": [{"id": name, "object": "model", "max_model_len": CONTEXT_LENGTH} for name in names]}


def _answered(page: str) -> str:
    """Answer the question of a page, or judge the answer to it; empty when the page asks nothing."""
    asked = _ASKED.fullmatch(page)
    if asked is None:
        return ""
    if asked["judged"] is not None:
        return json.dumps(
            {"reason": "the share of its words that the documents have", "score": overlap(asked["judged"], asked["page"])}
        )
    told = _HEADER.sub("", asked["page"])
    ends = sentence_ends(told)
    sentences = [told[start:end].strip() for start, end in zip([0, *ends], ends, strict=False)]
    return max(sentences, key=lambda sentence: overlap(asked["question"], sentence), default="unknown")


# What a text is embedded for turns its vector by less than one word does.
TASK_WEIGHT: Final = 0.5


def overlap(question: str, text: str) -> float:
    """Give the share (0..1) of the question's words that the text has; 0 for a question without words."""
    asked, held = (set(words(one)) for one in (question, text))
    return len(asked & held) / len(asked) if asked else 0.0


def spread(text: str, dimensions: int, task: str) -> list[float]:
    """Spread the words over the dimensions, as a vector of length 1: texts with the same words are near each other.

    The `task` is what the text is embedded for; empty, it turns nothing.
    """
    vector = [0.0] * dimensions
    weights = [(word, 1.0) for word in words(text) or [text]]
    weights += [(f"task {task}", TASK_WEIGHT)] if task else []
    for word, weight in weights:
        digest = int.from_bytes(blake2b(word.encode("utf-8", "replace"), digest_size=8).digest(), "big")
        vector[digest % dimensions] += weight
    length = sum(value * value for value in vector) ** 0.5
    return [value / length for value in vector]


# Refusals repeat what was asked, as some do.
CANARY: Final = "canary-of-the-prompt"
RETRY_INFO: Final = "type.googleapis.com/google.rpc.RetryInfo"
EMBEDDED_DIMENSIONS: Final = 768


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
    unit = [1.0] + [0.0] * (EMBEDDED_DIMENSIONS - 1)
    rows: Mapping[str, list[Any]] = {
        "wrong-dimensions": [unit[:256]] * count,
        "nan": [[float("nan"), *unit[1:]]] * count,
        "infinite": [[float("inf"), *unit[1:]]] * count,
        "zero": [[0.0] * EMBEDDED_DIMENSIONS] * count,
        "too-few": [unit] * (count - 1),
        "too-many": [unit] * (count + 1),
        "texts": [["1.0"] * EMBEDDED_DIMENSIONS] * count,
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
