"""Asking a served model: so many requests at a time, each under a deadline, tried again while that may help, and counted.

What it writes, answers and refusals, is read with nothing taken for granted.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from threading import BoundedSemaphore, Lock
from time import perf_counter, sleep
from typing import Any, Final, Generic, TypeVar

import httpx
import numpy as np
from pydantic import AliasPath, BaseModel, ConfigDict, Field, ValidationError

from clara.adapters.http.client import asked_patience, bounded_client, reason_of
from clara.adapters.models.guards import CallOutcome, PatientGuard, ProviderUnavailableError

# A batch of 256 vectors of 4,096 dimensions takes about 23 MB as JSON.
MAX_ANSWER_BYTES: Final = 32_000_000

Value = TypeVar("Value")
# Refusals that may not stand a moment later: overload, and failures of servers behind the one that answers.
PASSING: Final = frozenset({408, 425, 429})
FIRST_SERVER_ERROR: Final = 500
# What a refusal may be about, and how services spell it. Only these words are looked for: a refusal may repeat a prompt.
SPELLINGS: Final[Mapping[str, tuple[str, ...]]] = {
    "input_type": ("input_type",),
    "response_format": ("response_format", "json_object", "guided_json"),
    "length": ("context length", "context_length", "maximum context", "max_model_len", "too long", "token limit", "exceeds"),
}
# vLLM and NIM write the first, gateways the others.
CONTEXT_LENGTHS: Final = ("max_model_len", "context_length", "max_context_length")
BEFORE_AN_ANSWER: Final = "</think>"


Value_co = TypeVar("Value_co", covariant=True)
Read = TypeVar("Read", bound=BaseModel)


@dataclass(frozen=True, slots=True)
class Answered(Generic[Value_co]):
    """What was read of an answer, and how many tokens the service says it read and wrote; 0 where it does not say."""

    value: Value_co
    prompt_tokens: int = 0
    completion_tokens: int = 0


class ModelRefusedError(ProviderUnavailableError):
    """The service works and does not take this request as it is. `about` has what its refusal speaks of, of SPELLINGS."""

    def __init__(self, reason: str, about: frozenset[str] = frozenset()) -> None:
        super().__init__(reason, None, CallOutcome.DECLINED)
        self.about = about


class _WireModel(BaseModel):
    model_config = ConfigDict(strict=True, hide_input_in_errors=True)


class _Made(_WireModel):
    index: int
    embedding: list[float]


class _Embeddings(_WireModel):
    data: list[_Made]
    usage: Any = None


class _ChatMessage(_WireModel):
    content: str | None = None


class _Chat(_WireModel):
    message: _ChatMessage = Field(validation_alias=AliasPath("choices", 0, "message"))
    finish_reason: str | None = Field(None, validation_alias=AliasPath("choices", 0, "finish_reason"))
    usage: Any = None


class _Models(_WireModel):
    data: list[dict[str, Any]]


@dataclass(frozen=True, slots=True)
class Spoken:
    """What a chat model wrote. `cut`: it stopped because no more tokens were allowed."""

    text: str
    cut: bool = False


def _read(kind: type[Read], content: bytes, what: str) -> Read:
    try:
        return kind.model_validate_json(content)
    except ValidationError as error:
        raise ProviderUnavailableError(f"answered with something else than {what}") from error


def read_embeddings(content: bytes, count: int) -> Answered[list[list[float] | None]]:
    """Give the rows in the order of the texts, whatever order they come in. Raises ProviderUnavailableError."""
    read = _read(_Embeddings, content, "embeddings")
    if sorted(made.index for made in read.data) != list(range(count)):
        raise ProviderUnavailableError(f"gave {len(read.data)} embeddings for {count} texts, not each text one")
    rows: list[list[float] | None] = [None] * count
    for made in read.data:
        rows[made.index] = made.embedding
    return Answered(rows, *_tokens(read.usage))


def read_chat(content: bytes) -> Answered[Spoken]:
    """Give the first choice without what a reasoning model thought before it. Raises ProviderUnavailableError."""
    read = _read(_Chat, content, "a completion")
    if read.finish_reason == "content_filter":
        raise ModelRefusedError("withheld its answer (content_filter)")
    spoken = Spoken(_thoughtless(read.message.content or ""), read.finish_reason == "length")
    return Answered(spoken, *_tokens(read.usage))


def read_context_length(content: bytes, model: str) -> Answered[int | None]:
    """Give how many tokens the model reads, None when the list does not say. Raises ProviderUnavailableError."""
    models = _read(_Models, content, "a list of models").data
    held = next((held for held in models if held.get("id") == model), {})
    return Answered(next((length for name in CONTEXT_LENGTHS if (length := _count(held.get(name)))), None))


def refusal_of(response: httpx.Response, sent: Mapping[str, Any], settings: str) -> ProviderUnavailableError:
    """Read an answer that is no success; `settings` begins the names of what to change, such as EMBEDDING."""
    status = response.status_code
    if status in PASSING or status >= FIRST_SERVER_ERROR:
        return ProviderUnavailableError(f"answered {status}", asked_patience(response.headers.get("retry-after")))
    said = response.content[:10_000].decode("utf-8", "replace").casefold()
    about = frozenset(name for name, words in SPELLINGS.items() if any(word in said for word in words))
    return ModelRefusedError(f"answered {status}: {_remedy(status, about, sent, settings)}", about)


def _remedy(status: int, about: frozenset[str], sent: Mapping[str, Any], settings: str) -> str:
    remedies = {
        401: "set NIM_API_KEY to a key that the service takes",
        403: f"set NIM_API_KEY to a key that may use {settings}_MODEL_NAME",
        404: f"correct {settings}_BASE_URL, which ends in /v1, or {settings}_MODEL_NAME",
        413: "the request is too large; lower EMBEDDING_BATCH_SIZE or GENERATION_MAX_CONTEXT_CHARS",
    }
    if status in remedies:
        return remedies[status]
    if 300 <= status < 400:  # noqa: PLR2004  the class of redirects
        return f"it redirects; set {settings}_BASE_URL to the address that it leads to"
    if "input_type" in about:
        return f"set EMBEDDING_MODEL_TYPE={'symmetric' if 'input_type' in sent else 'asymmetric'}"
    if "length" in about:
        return "the text is longer than the model reads; lower EMBEDDING_BATCH_SIZE or GENERATION_MAX_CONTEXT_CHARS"
    return f"it does not take the request; its own log says why, and {settings}_MODEL_NAME may be of another kind"


def _tokens(usage: Any) -> tuple[int, int]:  # noqa: ANN401  whatever a service says: it must not cost the answer
    said = usage if isinstance(usage, dict) else {}
    return _count(said.get("prompt_tokens")), _count(said.get("completion_tokens"))


def _count(said: Any) -> int:  # noqa: ANN401
    return max(0, said) if isinstance(said, int) and not isinstance(said, bool) else 0


def _thoughtless(text: str) -> str:
    """Drop "<think>...</think>", whose beginning may have been part of the prompt; half a thought is nothing."""
    said = text.rpartition(BEFORE_AN_ANSWER)[2]
    return "" if said.lstrip().startswith("<think>") else said.strip()


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
        self._seconds: dict[str, list[float]] = defaultdict(list)

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
            return {kind: Usage(**counts, **_spread(self._seconds[kind])) for kind, counts in self._totals.items()}

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


def _spread(seconds: Sequence[float]) -> dict[str, Any]:
    """Give the values that half, 95 % and all of the values do not exceed (nearest rank)."""
    found = np.quantile(seconds or [0.0], (0.5, 0.95, 1.0), method="inverted_cdf").tolist()
    return dict(zip(("p50_seconds", "p95_seconds", "max_seconds"), found, strict=True))
