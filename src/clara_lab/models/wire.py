"""What served models write: answers and refusals, read with nothing taken for granted."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Final, Generic, TypeVar

import httpx
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from clara.adapters.http.client import asked_patience
from clara.adapters.models.guards import CallOutcome, ProviderUnavailableError

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


class _Choice(_WireModel):
    message: _ChatMessage
    finish_reason: str | None = None


class _Chat(_WireModel):
    choices: Annotated[list[_Choice], Field(min_length=1)]
    usage: Any = None


class _Models(_WireModel):
    data: list[dict[str, Any]]


class Spoken(BaseModel):
    """What a chat model wrote. `cut`: it stopped because no more tokens were allowed."""

    model_config = ConfigDict(frozen=True)

    text: str
    cut: bool = False


def read_embeddings(content: bytes, count: int) -> Answered[list[list[float] | None]]:
    """Give the rows in the order of the texts, whatever order they come in. Raises ProviderUnavailableError."""
    try:
        read = _Embeddings.model_validate_json(content)
    except ValidationError as error:
        raise ProviderUnavailableError("answered with something else than embeddings") from error
    if sorted(made.index for made in read.data) != list(range(count)):
        raise ProviderUnavailableError(f"gave {len(read.data)} embeddings for {count} texts, not each text one")
    rows: list[list[float] | None] = [None] * count
    for made in read.data:
        rows[made.index] = made.embedding
    return Answered(rows, *_tokens(read.usage))


def read_chat(content: bytes) -> Answered[Spoken]:
    """Give the first choice without what a reasoning model thought before it. Raises ProviderUnavailableError."""
    try:
        read = _Chat.model_validate_json(content)
    except ValidationError as error:
        raise ProviderUnavailableError("answered with something else than a completion") from error
    choice = read.choices[0]
    if choice.finish_reason == "content_filter":
        raise ModelRefusedError("withheld its answer (content_filter)")
    return Answered(
        Spoken(text=_thoughtless(choice.message.content or ""), cut=choice.finish_reason == "length"), *_tokens(read.usage)
    )


def read_context_length(content: bytes, model: str) -> Answered[int | None]:
    """Give how many tokens the model reads, None when the list does not say. Raises ProviderUnavailableError."""
    try:
        models = _Models.model_validate_json(content).data
    except ValidationError as error:
        raise ProviderUnavailableError("answered with something else than a list of models") from error
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
