"""Conversations with Clara as a page to read: what people wrote, and exactly what she replied."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from clara.answering.journey import Tools, converse
from clara.answering.message import Message, Past, after
from clara.settings import resources

FILE: Final = "eval/answers/examples.json"
HEAD: Final = """# Ten replies

These are real replies: what people might write, and every word that Clara wrote back, with no AI service at all.
`{command}` writes this page anew from [{file}](../{file}); a change of the facts, the texts or the journey shows here.
"""


@dataclass(frozen=True, slots=True)
class Example:
    """A conversation worth reading: its title, what it shows, and what the person writes."""

    title: str
    shows: str
    messages: tuple[str, ...]


def read_examples() -> list[Example]:
    """Read the conversations."""
    document: Sequence[Mapping[str, Any]] = json.loads((resources() / FILE).read_text("utf-8"))
    return [Example(entry["title"], entry["shows"], tuple(entry["messages"])) for entry in document]


def examples(tools: Tools, command: str) -> str:
    """Hold every conversation, and give the page."""
    parts = [HEAD.format(command=command, file=FILE)]
    for number, example in enumerate(read_examples(), 1):
        parts.append(f"## {number}. {example.title}\n\n{example.shows}\n\n{_held(example, tools)}\n")
    return "\n".join(parts)


def _held(example: Example, tools: Tools) -> str:
    past: tuple[Past, ...] = ()
    said: list[str] = []
    for message in example.messages:
        language = past[0].language if past else None
        reply = converse(Message(message), tools, previous_language=language, past=past)
        past = after(past, message, reply)
        said += [f"**Person:** {message}", f"**Clara** ({reply.status.value}):", _quoted(reply.text)]
    return "\n\n".join(said)


def _quoted(text: str) -> str:
    """Give a text as a quotation that keeps its lines."""
    return "\n".join(f"> {line}  ".rstrip() if not line else f"> {line}  " for line in text.split("\n"))
