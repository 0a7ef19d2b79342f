"""Asking one question on the command line, through the journey of a message."""

from dataclasses import asdict
from typing import Any

from clara.bootstrap import Services
from clara.conversation.journey import converse
from clara.conversation.message import Message


def ask(services: Services, question: str) -> dict[str, Any]:
    """Give the reply as JSON: status, tier, language, text, citations, timings_ms by stage."""
    reply = converse(Message(question), services.tools.get())
    return {
        "status": reply.status.value,
        "tier": reply.tier,
        "language": reply.language,
        "text": reply.text,
        "citations": [asdict(citation) for citation in reply.citations],
        "timings_ms": {stage: round(spent, 3) for stage, spent in reply.timings_ms.items()},
    }
