"""Asking one question on the command line, through the journey of a message."""

from dataclasses import asdict
from datetime import date
from typing import Any

from clara.bootstrap import Services
from clara.conversation.journey import converse
from clara.conversation.message import Message
from clara.jobs.remembering import end_of, speaking_as_of


def ask_as_of(services: Services, question: str, day: date) -> dict[str, Any]:
    """Give the reply as it would have been at the end of a day. Raises NothingRecordedError, StoreUnavailableError."""
    with speaking_as_of(services, end_of(day)) as then:
        return ask(then, question)


def ask(services: Services, question: str, today: date | None = None) -> dict[str, Any]:
    """Give the reply as JSON, as if it were `today`: status, tier, language, text, citations, timings_ms by stage."""
    living = services.on(today) if today else services
    reply = converse(Message(question), living.tools.get())
    return {
        "status": reply.status.value,
        "tier": reply.tier,
        "language": reply.language,
        "text": reply.text,
        "citations": [asdict(citation) for citation in reply.citations],
        "timings_ms": {stage: round(spent, 3) for stage, spent in reply.timings_ms.items()},
    }
