"""What suites share: their cases, and the journey of one message through the services as people meet them."""

from collections.abc import Sequence
from typing import Any

from clara.answering.journey import converse
from clara.answering.message import Message, Reply
from clara.container import Container
from clara.quality.answers import read_cases
from clara.settings import resources


def cases_of(suite: str, split: str, fields: Sequence[str]) -> list[dict[str, Any]]:
    """Read eval/answers/<suite>.jsonl. Raises DataError."""
    return read_cases(resources() / "eval" / "answers" / f"{suite}.jsonl", split, fields)


def reply_to(services: Container, text: str) -> Reply:
    """Answer a message of somebody who has written before, and of whom nothing is remembered."""
    return converse(Message(text), services.tools.get())
