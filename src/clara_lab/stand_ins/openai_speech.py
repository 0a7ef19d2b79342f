"""What the model stand-in answers in OpenAI's wire format: embeddings, completions, and what its model is.

It knows what it is asked by the request alone: a page that ends with a question is answered with the sentence nearest to it,
an answer to judge is scored by the share of its words that the page has, and any other page is handed to its writer.
"""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from clara.language.sentences import sentence_ends
from clara_lab.stand_ins.overlapping import overlap, spread

Document = Mapping[str, Any]
Write = Callable[[str, str], str]

DIMENSIONS: Final = 256
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
        {"object": "embedding", "index": index, "embedding": spread(text, DIMENSIONS, task)} for index, text in enumerate(texts)
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


def _tokens(text: str) -> int:
    return -(-len(text) // CHARACTERS)
