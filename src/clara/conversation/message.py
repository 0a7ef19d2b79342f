"""The values of the conversation."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from clara.retrieval.passage import Found


@dataclass(frozen=True, slots=True)
class Message:
    """What the journey needs of a message: no address and no id."""

    text: str | None
    media_types: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Citation:
    """The evidence behind one mark in a reply. `verified_on` is a day or a month, ISO 8601."""

    mark: str
    passage_id: str
    document_id: str
    section: str
    source_url: str
    verified_on: str


class ReplyStatus(StrEnum):
    """What kind of reply this is."""

    ANSWERED = "answered"
    NOT_FOUND = "not_found"
    OUTAGE = "outage"
    COMMAND = "command"
    UNREADABLE = "unreadable"
    LIMITED = "limited"


@dataclass(frozen=True, slots=True)
class Turn:
    """A message on its way through the journey; each step adds what it finds out."""

    message: Message
    previous_language: str | None = None
    first_contact: bool = False
    question: str = ""
    shortened: bool = False
    language: str = "es"
    found: Found | None = None


@dataclass(frozen=True, slots=True)
class Reply:
    """What the person gets, with the evidence behind it. `trace` is JSON: how it was found, without a word of the message."""

    text: str
    status: ReplyStatus
    language: str
    tier: str | None = None
    citations: tuple[Citation, ...] = ()
    timings_ms: Mapping[str, float] = field(default_factory=dict)
    trace: Mapping[str, Any] = field(default_factory=dict)
