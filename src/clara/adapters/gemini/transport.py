"""Talking to Gemini: one deadline, at most one more try, and every failure under one name."""

import re
from collections.abc import Callable
from time import perf_counter, sleep
from typing import TypeVar

import httpx
from google.genai import Client, types
from google.genai.errors import APIError
from pydantic import BaseModel, ConfigDict, Field, ValidationError
from pydantic.alias_generators import to_camel

from clara.adapters.deadline import bounded_client, reason_of

PUBLIC_URL = "https://generativelanguage.googleapis.com/"
# The version that takes system instructions and response schemas; v1 has refused both (googleapis/js-genai issue 1746).
API_VERSION = "v1beta"
# A batch of 100 vectors of 3,072 dimensions, the largest answer that is asked for, takes about 4 MB as JSON.
MAX_ANSWER_BYTES = 8_000_000
TOO_MANY_REQUESTS = 429
# A person waits for the answer: a quota that opens later than this is as good as closed.
LONGEST_RETRY_SECONDS = 2.0
RETRY_INFO = "type.googleapis.com/google.rpc.RetryInfo"

Answer = TypeVar("Answer")


class GeminiUnavailableError(Exception):
    """Gemini gave no usable answer. The message is a short reason without a word of what was asked.

    `retry_seconds` is how long Gemini asks to wait before another try, None when it does not say.
    """

    def __init__(self, reason: str, retry_seconds: float | None = None) -> None:
        super().__init__(reason)
        self.retry_seconds = retry_seconds


class GeminiTransport:
    """The SDK's client under a deadline, in seconds, for each thing asked; safe to share between threads.

    `base_url` replaces Google's address, for a stand-in or a gateway. `wait` sleeps for the seconds given.
    """

    def __init__(
        self,
        api_key: str,
        *,
        deadline_seconds: float,
        base_url: str = PUBLIC_URL,
        wait: Callable[[float], None] = sleep,
    ) -> None:
        self._http = bounded_client(MAX_ANSWER_BYTES)
        # Without retry options the SDK tries once. Address, version and `vertexai` are given so that no environment decides.
        options = types.HttpOptions(base_url=base_url, api_version=API_VERSION, httpx_client=self._http)
        self._client = Client(api_key=api_key, vertexai=False, http_options=options)
        self._deadline_seconds = deadline_seconds
        self._wait = wait

    def generate(self, model: str, prompt: str, config: types.GenerateContentConfig) -> str:
        """Give the text of the one finished candidate, without thoughts. Raises GeminiUnavailableError."""

        def call(client: Client, options: types.HttpOptions) -> str | None:
            # The SDK's own reading of an answer warns, through a filter of the whole process, about every enum it is too
            # old for; the answer is read below instead.
            asked = config.model_copy(update={"http_options": options, "should_return_http_response": True})
            response = client.models.generate_content(model=model, contents=prompt, config=asked)
            return response.sdk_http_response.body if response.sdk_http_response else None

        return _text_of(self.ask(call) or "")

    def ask(self, call: Callable[[Client, types.HttpOptions], Answer]) -> Answer:
        """Call the SDK with options that hold the time left; once more after a short wait that Gemini itself asked for.

        Raises GeminiUnavailableError.
        """
        until = perf_counter() + self._deadline_seconds
        try:
            return self._once(call, until)
        except GeminiUnavailableError as error:
            pause = error.retry_seconds
            if pause is None or pause > min(LONGEST_RETRY_SECONDS, until - perf_counter()):
                raise
        self._wait(pause)
        return self._once(call, until)

    def close(self) -> None:
        """Close the connections."""
        self._http.close()

    def _once(self, call: Callable[[Client, types.HttpOptions], Answer], until: float) -> Answer:
        # To the SDK, 0 milliseconds mean no timeout at all.
        milliseconds = max(1, int((until - perf_counter()) * 1000))
        try:
            return call(self._client, types.HttpOptions(timeout=milliseconds))
        except APIError as error:
            raise GeminiUnavailableError(_named(f"answered {error.code}", error.status), _retry_seconds(error)) from error
        except httpx.HTTPError as error:
            raise GeminiUnavailableError(reason_of(error)) from error
        except (ValueError, RecursionError) as error:  # a body of an error that is no text, no JSON, or nested too deeply
            raise GeminiUnavailableError("answered with something else than JSON") from error


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


class _Fault(_Wire):
    details: tuple[_Detail, ...] = ()


class _Refusal(_Wire):
    error: _Fault


def _text_of(body: str) -> str:
    try:
        generated = _Generated.model_validate_json(body)
    except ValidationError as error:
        raise GeminiUnavailableError("answered with something else than a generation") from error
    if generated.prompt_feedback.block_reason:
        raise GeminiUnavailableError(_named("blocked the prompt", generated.prompt_feedback.block_reason))
    if not generated.candidates:
        raise GeminiUnavailableError("answered without a candidate")
    first = generated.candidates[0]
    if first.finish_reason != "STOP":
        raise GeminiUnavailableError(_named("did not finish its answer", first.finish_reason))
    return "".join(part.text for part in first.content.parts if not part.thought)


def _retry_seconds(error: APIError) -> float | None:
    if error.code != TOO_MANY_REQUESTS:
        return None
    try:
        refusal = _Refusal.model_validate(error.details)
    except ValidationError:
        return None
    delays = [detail.retry_delay for detail in refusal.error.details if detail.kind == RETRY_INFO]
    return float(delays[0][:-1]) if delays and re.fullmatch(r"\d{1,6}(\.\d{1,9})?s", delays[0]) else None


def _named(reason: str, name: str | None) -> str:
    # Only what looks like a name of the API goes into a reason: anything else may echo what was asked.
    known = isinstance(name, str) and re.fullmatch(r"[A-Z_]{1,40}", name)
    return f"{reason} ({name})" if known else reason
