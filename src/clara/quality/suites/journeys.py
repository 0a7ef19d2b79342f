"""What suites share: their cases, and the journey of one message as people meet it."""

from collections.abc import Sequence
from typing import Any

from clara.answering.journey import converse
from clara.answering.message import Message, Reply
from clara.answering.snapshot import KnowledgeSnapshot
from clara.quality.answers import read_cases
from clara.settings import resources


def cases_of(suite: str, split: str, fields: Sequence[str]) -> list[dict[str, Any]]:
    """Read eval/answers/<suite>.jsonl. Raises DataError."""
    return read_cases(resources() / "eval" / "answers" / f"{suite}.jsonl", split, fields)


def reply_to(snapshot: KnowledgeSnapshot, text: str) -> Reply:
    """Answer a message of somebody who has written before, and of whom nothing is remembered."""
    return converse(Message(text), snapshot.tools)
