"""What the model stand-in says, in the wire formats of Gemini and of OpenAI."""

import json
import re
from base64 import b64decode
from binascii import Error as Base64Error
from collections.abc import Callable, Mapping, Sequence
from hashlib import blake2b
from typing import Any, Final

from clara.language.sentences import sentence_ends
from clara.language.tokens import words

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
