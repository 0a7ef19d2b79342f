"""What the model stand-in answers as Gemini: generations, embeddings and counts of tokens, in Gemini's wire format.

It knows what it is asked by the request alone: a recording is written down, a list of passages is rated, a question is
translated into itself, and any other page is handed to the writer that it was given.
"""

import json
from base64 import b64decode
from binascii import Error as Base64Error
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from clara_lab.stand_ins.overlapping import overlap, spread

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
