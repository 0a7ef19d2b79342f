"""What suites share: their cases, and the journey of one message through the services as people meet them."""

from collections.abc import Sequence
from typing import Any

from clara.bootstrap import Services
from clara.conversation.journey import converse
from clara.conversation.message import Message, Reply
from clara.evaluation.answers import read_cases
from clara.settings import resources


def cases_of(suite: str, split: str, fields: Sequence[str]) -> list[dict[str, Any]]:
    """Read eval/answers/<suite>.jsonl. Raises DataError."""
    return read_cases(resources() / "eval" / "answers" / f"{suite}.jsonl", split, fields)


def reply_to(services: Services, text: str) -> Reply:
    """Answer a message of somebody who has written before, and of whom nothing is remembered."""
    return converse(Message(text), services.tools.get())
