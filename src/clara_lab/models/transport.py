"""Asking a served model: so many requests at a time, each under a deadline, tried again while that may help, and counted."""

from array import array
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from threading import BoundedSemaphore, Lock
from time import perf_counter, sleep
from typing import Any, Final, TypeVar

import httpx
import numpy as np

from clara.adapters.http.client import bounded_client, reason_of
from clara.adapters.models.guards import PatientGuard, ProviderUnavailableError
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
        self._guard = PatientGuard(tries=limits.retries + 1, wait=wait)
        self._on_request = on_request
        self._lock = Lock()
        self._totals: dict[str, Counter[str]] = defaultdict(Counter)
        # Eight bytes an exchange that was answered: a million of them take 8 MB.
        self._seconds: dict[str, array[float]] = defaultdict(lambda: array("d"))

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
            self._count(replace(event(), failure=str(error)))
            raise
        read_tokens, written = answered.prompt_tokens, answered.completion_tokens
        self._count(replace(event(), prompt_tokens=read_tokens, completion_tokens=written))
        return answered

    def usage(self) -> dict[str, Usage]:
        """Give what all requests have cost until now, by their kind; later ones do not change it."""
        with self._lock:
            return {kind: Usage(**self._totals[kind], **_spread(self._seconds[kind])) for kind in self._totals}

    def _count(self, event: RequestEvent) -> None:
        told = {name: getattr(event, name) for name in ("retries", "prompt_tokens", "completion_tokens")}
        with self._lock:
            self._totals[event.kind].update(requests=1, failures=bool(event.failure), **told)
        self._on_request(event)

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
            with self._lock:
                self._seconds[request.kind].append(perf_counter() - began)
        return response.content


def _spread(seconds: "array[float]") -> dict[str, Any]:
    """Give the values that half, 95 % and all of the values do not exceed (nearest rank)."""
    names = ("p50_seconds", "p95_seconds", "max_seconds")
    found = np.quantile(seconds, (0.5, 0.95, 1.0), method="inverted_cdf").tolist() if seconds else (0.0,) * len(names)
    return dict(zip(names, found, strict=True))
