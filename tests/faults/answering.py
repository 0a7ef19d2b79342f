"""The stand-in for the writer: a reply that names its question, so that every message that goes out can be paired."""

from typing import Final

from tests.faults.plan import LONG

# Longer than one message may be, so that such a reply has two parts.
PARAGRAPHS: Final = 40


def reply_text(question: str) -> str:
    """Write the reply to a question. Every line names it: no part of the reply can be mistaken for another's."""
    if not question.endswith(LONG):
        return f"reply to {question}"
    return "\n\n".join(f"reply to {question}, paragraph {number}" for number in range(PARAGRAPHS))


def notice_text(limit: str, question: str) -> str:
    """Write the notice that a message over a limit gets."""
    return f"notice of {limit} to {question}"
