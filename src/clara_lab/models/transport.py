"""Asking a served model: so many requests at a time, each under a deadline, tried again while that may help, and counted."""

from array import array
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from threading import BoundedSemaphore, Lock
from time import perf_counter, sleep
from typing import Any, Final, TypeVar

import httpx

from clara.adapters.http.deadline import bounded_client, reason_of
from clara.adapters.models.batches import Patience
from clara.adapters.models.guards import ProviderUnavailableError
from clara_lab.models.wire import Answered, ModelRefusedError, refusal_of

# A batch of 256 vectors of 4,096 dimensions takes about 23 MB as JSON.
MAX_ANSWER_BYTES: Final = 32_000_000

Value = TypeVar("Value")


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


@dataclass(frozen=True, slots=True)
class ServedEndpoint:
    """A model and where it is served; `base_url` ends in /v1. No key, no Authorization header.

    `settings` begins the names of the settings that this endpoint comes from; refusals name them.
    """

    base_url: str
    model: str
    api_key: str = field(default="", repr=False)
    settings: str = "LLM"


@dataclass(frozen=True, slots=True)
class RequestLimits:
    """`timeout_seconds` is for one whole exchange, `concurrent` for all requests under way, `retries` beyond the first try."""

    timeout_seconds: float = 120.0
    concurrent: int = 32
    retries: int = 3


@dataclass(frozen=True, slots=True)
class ServedRequest:
    """A request below the endpoint's address: a document to post, or, without one, something to get."""

    kind: str
    path: str
    document: Mapping[str, Any] | None = None
    items: int = 1


class ServedTransport:
    """Connections, bound and metrics that all served models of a process share; safe between threads.

    Tried again, after the time the service asks for or 2, 4, 8 s, are 408, 425, 429, 5xx, exchanges that broke off or came
    late, and answers that cannot be read. `wait` sleeps.
    """

    def __init__(
        self,
        limits: RequestLimits,
        on_request: Callable[[RequestEvent], None] = lambda _event: None,
        wait: Callable[[float], None] = sleep,
    ) -> None:
        self.limits = limits
        self._http = bounded_client(MAX_ANSWER_BYTES, connections=limits.concurrent)
        self._places = BoundedSemaphore(limits.concurrent)
        self._guard = Patience(tries=limits.retries + 1, wait=wait)
        self._recorder = UsageRecorder(on_request)

    def ask(
        self, endpoint: ServedEndpoint, request: ServedRequest, read: Callable[[bytes], Answered[Value]]
    ) -> Answered[Value]:
        """Give what `read` makes of the answer; what it raises counts as a failed try. Raises ProviderUnavailableError."""
        started, tries = perf_counter(), 0

        def once(seconds: float) -> Answered[Value]:
            nonlocal tries
            tries += 1
            return read(self._exchange(endpoint, request, seconds))

        def event() -> RequestEvent:
            return RequestEvent(request.kind, endpoint.model, request.items, perf_counter() - started, tries - 1)

        try:
            answered = self._guard(once, self.limits.timeout_seconds)
        except ProviderUnavailableError as error:
            self._recorder.requested(replace(event(), failure=str(error)))
            raise
        read_tokens, written = answered.prompt_tokens, answered.completion_tokens
        self._recorder.requested(replace(event(), prompt_tokens=read_tokens, completion_tokens=written))
        return answered

    def usage(self) -> dict[str, Usage]:
        """Give what all requests have cost until now, by their kind."""
        return self._recorder.snapshot()

    def close(self) -> None:
        """Close the connections."""
        self._http.close()

    def _exchange(self, endpoint: ServedEndpoint, request: ServedRequest, seconds: float) -> bytes:
        headers = {"Authorization": f"Bearer {endpoint.api_key}"} if endpoint.api_key else {}
        url, method = endpoint.base_url.rstrip("/") + request.path, "GET" if request.document is None else "POST"
        with self._places:
            began = perf_counter()
            try:
                response = self._http.request(method, url, json=request.document, headers=headers, timeout=seconds)
            except (httpx.UnsupportedProtocol, httpx.InvalidURL) as error:
                raise ModelRefusedError(
                    f"has no address; correct {endpoint.settings}_BASE_URL, such as http://host:8000/v1"
                ) from error
            except httpx.HTTPError as error:
                raise ProviderUnavailableError(f"{reason_of(error)}; check {endpoint.settings}_BASE_URL") from error
            if response.status_code != httpx.codes.OK:
                raise refusal_of(response, request.document or {}, endpoint.settings)
            self._recorder.exchanged(request.kind, perf_counter() - began)
        return response.content
