"""What asking served models has cost: counted between threads, read as a value that holds no lock."""

from array import array
from collections.abc import Callable
from dataclasses import dataclass, field
from threading import Lock
from typing import Generic, TypeVar

Value = TypeVar("Value")
Value_co = TypeVar("Value_co", covariant=True)


@dataclass(frozen=True, slots=True)
class Answered(Generic[Value_co]):
    """What was read of an answer, and how many tokens the service says it read and wrote; 0 where it does not say."""

    value: Value_co
    prompt_tokens: int = 0
    completion_tokens: int = 0


@dataclass(frozen=True, slots=True)
class RequestEvent:
    """One request with all of its tries. `seconds` is what its caller waited, for a free place and between tries too.

    `kind` is "embedding", "chat" or "models"; `items` the texts of a batch; `failure` is empty, or a short reason.
    """

    kind: str
    model: str
    items: int
    seconds: float
    retries: int
    prompt_tokens: int = 0
    completion_tokens: int = 0
    failure: str = ""


@dataclass(frozen=True, slots=True)
class Usage:
    """What the requests of one kind came to. The seconds are of single exchanges that were answered, 0 without any."""

    requests: int = 0
    failures: int = 0
    retries: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    p50_seconds: float = 0.0
    p95_seconds: float = 0.0
    max_seconds: float = 0.0


@dataclass(slots=True)
class _Tally:
    requests: int = 0
    failures: int = 0
    retries: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    # Eight bytes an exchange: a million of them take 8 MB.
    seconds: "array[float]" = field(default_factory=lambda: array("d"))


class UsageRecorder:
    """Adds up requests by kind, between threads; `on_request` is told each of them, outside the lock."""

    def __init__(self, on_request: Callable[[RequestEvent], None] = lambda _event: None) -> None:
        self._on_request = on_request
        self._lock = Lock()
        self._tallies: dict[str, _Tally] = {}

    def exchanged(self, kind: str, seconds: float) -> None:
        """Count the seconds of one exchange that was answered."""
        with self._lock:
            self._tallies.setdefault(kind, _Tally()).seconds.append(seconds)

    def requested(self, event: RequestEvent) -> None:
        """Count a request that is over, however it ended."""
        with self._lock:
            tally = self._tallies.setdefault(event.kind, _Tally())
            tally.requests += 1
            tally.failures += bool(event.failure)
            tally.retries += event.retries
            tally.prompt_tokens += event.prompt_tokens
            tally.completion_tokens += event.completion_tokens
        self._on_request(event)

    def snapshot(self) -> dict[str, Usage]:
        """Give what has been counted until now, by kind; later requests do not change it."""
        with self._lock:
            return {kind: _usage(tally) for kind, tally in self._tallies.items()}


def _usage(tally: _Tally) -> Usage:
    seconds = sorted(tally.seconds)
    return Usage(
        tally.requests,
        tally.failures,
        tally.retries,
        tally.prompt_tokens,
        tally.completion_tokens,
        *(_at(seconds, share) for share in (0.5, 0.95, 1.0)),
    )


def _at(ordered: list[float], share: float) -> float:
    """Give the value that so large a share of the values does not exceed (nearest rank)."""
    return ordered[max(0, -int(-share * len(ordered) // 1) - 1)] if ordered else 0.0
