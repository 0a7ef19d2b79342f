"""The review queue as an operator reads it: each finding with all that it touches."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from sqlalchemy import Engine

from clara.adapters.postgres.delivery.turn_store import outages
from clara.adapters.postgres.sql import statement
from clara.knowledge.passages import CORPUS

# Answers of these days may still be acted upon; whoever got an older one has asked again, or has done without.
ANSWERS_DAYS: Final = 30
# Turns that are named, the newest first, for `clara explain --turn`.
NAMED_TURNS: Final = 10


@dataclass(frozen=True, slots=True)
class QueuedFinding:
    """What was found to differ from what is served. `answers` counts those of the last days that cited a fact it touches.

    `facts` have the relation to the finding and, where it is certain, the fact with its new figures. `turns` are the newest of
    those answers, by number.
    """

    id: int
    source: str
    kind: str
    weight: str
    place: str
    title: str
    before: str | None
    after: str | None
    figures: Mapping[str, Any]
    found_at: datetime
    state: str
    decided_at: datetime | None
    decided_by: str | None
    reason: str | None
    facts: Sequence[Mapping[str, Any]]
    procedures: Sequence[str]
    answers: int
    turns: Sequence[int]


class PostgresReview:
    """Reads findings. Raises CorpusUnavailableError."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def findings(self, limit: int, before: int | None = None, state: str | None = None) -> Sequence[QueuedFinding]:
        """Give findings in a state, or in any, the newest first; those older than the one with this number."""
        return self._read(limit=limit, before=before, state=state, number=None)

    def finding(self, number: int) -> QueuedFinding | None:
        """Give one finding."""
        return next(iter(self._read(limit=1, before=None, state=None, number=number)), None)

    def _read(self, **told: object) -> Sequence[QueuedFinding]:
        with outages(), self._engine.connect() as connection:
            constant = {"corpus": CORPUS, "days": ANSWERS_DAYS, "turns": NAMED_TURNS}
            return [QueuedFinding(**row) for row in connection.execute(statement("findings"), told | constant).mappings()]
