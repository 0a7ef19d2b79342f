"""What the addresses for operators call: everything is handed in, nothing is known here of where it is kept."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Protocol

from clara.conversation.people.feedback import Satisfaction
from clara.knowledge.freshness import Freshness
from clara.retrieval.counters import Counters
from clara.retrieval.memory import MemoryStatistics


class UnknownFindingError(Exception):
    """There is no finding with this number. GET /admin/review lists them."""


class DecidedFindingError(Exception):
    """The finding was decided already, or is superseded by a later one. GET /admin/review shows how."""


class BadDecisionsError(Exception):
    """What was decided about facts cannot be kept, and nothing was. The message says why, and what to do."""


class Reviewing(Protocol):
    """Decides findings. `accept` and `reject` give what was done, as JSON, without a word of a person.

    Each raises UnknownFindingError, DecidedFindingError or StoreUnavailableError.
    """

    def accept(self, number: int, reason: str, decided_by: str, decisions: Sequence[object] = ()) -> Mapping[str, Any]:
        """Take the change over, and decide about its facts as `decisions` say in JSON. Raises BadDecisionsError too."""
        ...

    def reject(self, number: int, reason: str, decided_by: str) -> Mapping[str, Any]:
        """Leave everything as it is."""
        ...


@dataclass(frozen=True, slots=True)
class AdminDesk:
    """What operators read and do. Everything may raise StoreUnavailableError, the first two their own errors of outage.

    Lists are read as (limit, before, what of them), the newest first; `record` adds an act to the audit log: by whom, what, on
    what, with what outcome. `reviewing` is None where nobody can decide findings: then these addresses answer 501.
    """

    counters: Callable[[], Counters]
    memory: Callable[[], MemoryStatistics]
    satisfaction: Callable[[int], Satisfaction]
    freshness: Callable[[], Freshness]
    findings: Callable[[int, int | None, str | None], Sequence[Any]]
    finding: Callable[[int], Any]
    gazette_days: Callable[[int], Sequence[Any]]
    gazette_items: Callable[[int, str | None, bool], Sequence[Any]]
    gazette_seen: Callable[[str], datetime | None]
    runs: Callable[[int, int | None, str | None], Sequence[Any]]
    schedule: Callable[[], Sequence[Mapping[str, Any]]]
    acts: Callable[[int, int | None], Sequence[Any]]
    record: Callable[[str, str, str, str], object]
    description: Callable[[], str]
    reviewing: Reviewing | None = None
