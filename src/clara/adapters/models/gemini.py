"""Google's Gemini API through its official SDK: one deadline, at most one more try, every failure under one name.

What it answers and refuses is read with nothing taken for granted.
"""

import re
from collections.abc import Callable
from time import sleep
from typing import Any, Final, TypeVar

import httpx
from google.genai import Client, types
from google.genai.errors import APIError
from pydantic import BaseModel, ConfigDict, Field, ValidationError
from pydantic.alias_generators import to_camel

from clara.adapters.http.client import bounded_client, reason_of
from clara.adapters.models.guards import CallGuard, CallOutcome, ProviderUnavailableError, Retries, Retrying, sendable
from clara.adapters.models.registry import LONGEST_SECONDS, ModelParts

BAD_REQUEST: Final = 400
TOO_MANY_REQUESTS: Final = 429
RETRY_INFO: Final = "type.googleapis.com/google.rpc.RetryInfo"
# A wrong key is a bad request to Gemini, and no request's own fault; of other bad requests the request is to blame.
WRONG_KEY: Final = "API_KEY_INVALID"
INVALID: Final = "INVALID_ARGUMENT"
# Reasons to stop that lie in what was asked or written, not in a provider that is broken. A blocked prompt is always one.
OWN_REASONS: Final = frozenset(
    {"SAFETY", "RECITATION", "BLOCKLIST", "PROHIBITED_CONTENT", "SPII", "LANGUAGE", "MAX_TOKENS", "MODEL_ARMOR"}
)


class GeminiUnavailableError(ProviderUnavailableError):
    """Gemini gave no usable answer. The message is a short reason without a word of what was asked."""


class _Wire(BaseModel):
    model_config = ConfigDict(alias_generator=to_camel, hide_input_in_errors=True)


class _Part(_Wire):
    text: str = ""
    thought: bool = False


class _Content(_Wire):
    parts: tuple[_Part, ...] = ()


class _Candidate(_Wire):
    content: _Content = _Content()
    finish_reason: str = ""


class _Feedback(_Wire):
    block_reason: str = ""


class _Generated(_Wire):
    candidates: tuple[_Candidate, ...] = ()
    prompt_feedback: _Feedback = _Feedback()


class _Detail(_Wire):
    kind: str = Field("", alias="@type")
    retry_delay: str = ""
    reason: str = ""


class _Fault(_Wire):
    details: tuple[_Detail, ...] = ()


class _Refusal(_Wire):
    error: _Fault


FINISHED: Final = frozenset({"STOP"})


def text_of(body: str, finished: frozenset[str] = FINISHED) -> str:
    """Give the text of the one candidate, without thoughts; it may be empty. Raises GeminiUnavailableError.

    `finished` are the reasons to stop that leave something to use.
    """
    try:
        generated = _Generated.model_validate_json(body)
    except ValidationError as error:
        raise GeminiUnavailableError("answered with something else than a generation") from error
    if generated.prompt_feedback.block_reason:
        reason = _named("blocked the prompt", generated.prompt_feedback.block_reason)
        raise GeminiUnavailableError(reason, None, CallOutcome.DECLINED)
    if not generated.candidates:
        raise GeminiUnavailableError("answered without a candidate")
    first = generated.candidates[0]
    if first.finish_reason not in finished:
        outcome = CallOutcome.DECLINED if first.finish_reason in OWN_REASONS else CallOutcome.FAILED
        raise GeminiUnavailableError(_named("did not finish its answer", first.finish_reason), None, outcome)
    return "".join(part.text for part in first.content.parts if not part.thought)


def refusal_of(code: int, status: str | None, details: object, retry_after: str = "") -> GeminiUnavailableError:
    """Read an answer that is an error: its HTTP status, the API's name for it, its document, and the header Retry-After."""
    try:
        held = _Refusal.model_validate(details).error.details
    except ValidationError:
        held = ()
    about_key = any(detail.reason == WRONG_KEY for detail in held)
    declined = code == BAD_REQUEST and status == INVALID and not about_key
    retry_seconds = _retry_seconds(held, retry_after) if code == TOO_MANY_REQUESTS else None
    outcome = CallOutcome.DECLINED if declined else CallOutcome.FAILED
    return GeminiUnavailableError(_named(f"answered {code}", status), retry_seconds, outcome)


def _retry_seconds(details: tuple[_Detail, ...], retry_after: str) -> float | None:
    """Give the seconds to wait: Gemini's own, else those of the header, which may be a date that is not read."""
    delays = [detail.retry_delay for detail in details if detail.kind == RETRY_INFO] or [f"{retry_after}s"]
    return float(delays[0][:-1]) if re.fullmatch(r"\d{1,6}(\.\d{1,9})?s", delays[0]) else None


def _named(reason: str, name: str | None) -> str:
    # Only what looks like a name of the API goes into a reason: anything else may echo what was asked.
    known = isinstance(name, str) and re.fullmatch(r"[A-Z_]{1,40}", name)
    return f"{reason} ({name})" if known else reason


# People write about violence, trafficking and suicide, and need the answer most: the filters that can be set are off. What
# Gemini blocks all the same is an answer that is missing, and the extractive writer gives one. BLOCK_NONE is the threshold that
# every model takes; OFF is younger.
SAFETY: Final = tuple(
    types.SafetySetting(category=category, threshold=types.HarmBlockThreshold.BLOCK_NONE)
    for category in (
        types.HarmCategory.HARM_CATEGORY_HARASSMENT,
        types.HarmCategory.HARM_CATEGORY_HATE_SPEECH,
        types.HarmCategory.HARM_CATEGORY_SEXUALLY_EXPLICIT,
        types.HarmCategory.HARM_CATEGORY_DANGEROUS_CONTENT,
    )
)
# A thought is paid and waited for, and a reply from evidence at hand needs none. Gemini 2.5 thinks unless it is told not to;
# its Pro always does, for 128 tokens at least, and refuses 0. Gemini 3 has levels instead of tokens. Older models refuse both.
_LEAST_THINKING: Final[tuple[tuple[str, types.ThinkingConfig], ...]] = (
    ("gemini-2.5-pro", types.ThinkingConfig(thinking_budget=128)),
    ("gemini-2.5", types.ThinkingConfig(thinking_budget=0)),
    ("gemini-3", types.ThinkingConfig(thinking_level=types.ThinkingLevel.LOW)),
)
# Google advises against any temperature but its own from Gemini 3 on: others may make it repeat itself without end.
_OWN_TEMPERATURE: Final = "gemini-3"


def generation_config(model: str, instruction: str, max_tokens: int | None, **more: Any) -> types.GenerateContentConfig:  # noqa: ANN401
    """Give the configuration of a generation; None leaves its length to the model, and `more` are other fields of it."""
    thinking = next((config for family, config in _LEAST_THINKING if model.startswith(family)), None)
    return types.GenerateContentConfig(
        system_instruction=sendable(instruction),
        temperature=None if model.startswith(_OWN_TEMPERATURE) else 0.0,
        max_output_tokens=max_tokens,
        candidate_count=1,
        thinking_config=thinking,
        safety_settings=list(SAFETY),
        automatic_function_calling=types.AutomaticFunctionCallingConfig(disable=True),
        **more,
    )


PUBLIC_URL = "https://generativelanguage.googleapis.com/"
# The version that takes system instructions and response schemas; v1 has refused both (googleapis/js-genai issue 1746).
API_VERSION = "v1beta"
# A batch of 100 vectors of 3,072 dimensions, the largest answer that is asked for, takes about 4 MB as JSON.
MAX_ANSWER_BYTES = 8_000_000

Answer = TypeVar("Answer")


class GeminiTransport:
    """The SDK's client under a deadline, in seconds, for each thing asked; safe to share between threads.

    `base_url` replaces Google's address, for a stand-in or a gateway. `guard` is put around every call; without one, a call is
    tried once more after a short wait, for which `wait` sleeps.
    """

    def __init__(
        self,
        api_key: str,
        *,
        deadline_seconds: float,
        base_url: str = PUBLIC_URL,
        wait: Callable[[float], None] = sleep,
        guard: CallGuard | None = None,
    ) -> None:
        self._http = bounded_client(MAX_ANSWER_BYTES)
        # Without retry options the SDK tries once. Address, version and `vertexai` are given so that no environment decides.
        options = types.HttpOptions(base_url=base_url, api_version=API_VERSION, httpx_client=self._http)
        self._client = Client(api_key=api_key, vertexai=False, http_options=options)
        self._deadline_seconds = deadline_seconds
        self._guard = guard or Retrying(Retries(), wait)

    def generate(
        self,
        model: str,
        contents: str | types.Content,
        config: types.GenerateContentConfig,
        read: Callable[[str], Answer],
        seconds: float | None = None,
    ) -> Answer:
        """Give what `read` makes of the answer. Raises GeminiUnavailableError.

        `read` raises it too, inside the guard: an answer that nobody can use counts as a failure. `seconds` shortens the
        transport's deadline.
        """

        def call(client: Client, options: types.HttpOptions) -> Answer:
            # The SDK's own reading of an answer warns, through a filter of the whole process, about every enum it is too
            # old for; the answer is read here instead.
            asked = config.model_copy(update={"http_options": options, "should_return_http_response": True})
            response = client.models.generate_content(model=model, contents=contents, config=asked)
            body = response.sdk_http_response.body if response.sdk_http_response else None
            return read(body or "")

        return self.ask(call, seconds)

    def ask(self, call: Callable[[Client, types.HttpOptions], Answer], seconds: float | None = None) -> Answer:
        """Call the SDK, inside the guard, with options that hold the time left; `seconds` shortens the deadline.

        What `call` makes of the answer is best checked inside it: a GeminiUnavailableError raised there counts as a failure
        of the provider. Raises GeminiUnavailableError.
        """
        given = self._deadline_seconds if seconds is None else min(seconds, self._deadline_seconds)
        try:
            return self._guard(lambda left: self._once(call, left), given)
        except GeminiUnavailableError:
            raise
        except ProviderUnavailableError as error:
            raise GeminiUnavailableError(str(error), error.retry_seconds, error.outcome) from error

    def close(self) -> None:
        """Close the connections."""
        self._http.close()

    def _once(self, call: Callable[[Client, types.HttpOptions], Answer], seconds: float) -> Answer:
        if seconds <= 0:
            raise GeminiUnavailableError("was not asked: no time was left", None, CallOutcome.DECLINED)
        # To the SDK, 0 milliseconds mean no timeout at all.
        milliseconds = max(1, int(seconds * 1000))
        try:
            return call(self._client, types.HttpOptions(timeout=milliseconds))
        except APIError as error:
            # Not "from error": its text is the whole answer, which may repeat what was asked, and a log would show it.
            raise refusal_of(error.code, error.status, error.details, _retry_after(error)) from None
        except httpx.HTTPError as error:
            raise GeminiUnavailableError(reason_of(error)) from error
        except (ValueError, RecursionError) as error:  # a body of an error that is no text, no JSON, or nested too deeply
            raise GeminiUnavailableError("answered with something else than JSON") from error


def _retry_after(error: APIError) -> str:
    """Give the header Retry-After of a refusal, empty without one: gateways say it there."""
    return error.response.headers.get("Retry-After", "") if isinstance(error.response, httpx.Response) else ""


def open_transport(parts: ModelParts, part: str, seconds: float = LONGEST_SECONDS) -> GeminiTransport:
    """Open a connection to Gemini for one part of the program, with so many seconds at most for each thing asked."""
    settings = parts.settings
    transport = GeminiTransport(
        settings.secret("gemini_api_key"),
        deadline_seconds=seconds,
        base_url=settings.gemini_base_url or PUBLIC_URL,
        guard=parts.guard(part, seconds),
    )
    parts.closing.callback(transport.close)
    return transport
