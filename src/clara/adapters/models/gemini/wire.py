"""What Gemini writes: its answers and its refusals, read with nothing taken for granted."""

import re
from typing import Final

from pydantic import BaseModel, ConfigDict, Field, ValidationError
from pydantic.alias_generators import to_camel

from clara.adapters.models.guards import CallOutcome, ProviderUnavailableError

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


class _Metadata(_Wire):
    prompt_token_count: int = 0
    candidates_token_count: int = 0
    thoughts_token_count: int = 0


class _Generated(_Wire):
    candidates: tuple[_Candidate, ...] = ()
    prompt_feedback: _Feedback = _Feedback()


class _CountedTokens(_Wire):
    usage_metadata: _Metadata = _Metadata()


class _Detail(_Wire):
    kind: str = Field("", alias="@type")
    retry_delay: str = ""
    reason: str = ""


class _Fault(_Wire):
    details: tuple[_Detail, ...] = ()


class _Refusal(_Wire):
    error: _Fault


FINISHED: Final = frozenset({"STOP"})
# For who has bounded what is written, and can use its beginning.
FINISHED_OR_CUT: Final = FINISHED | {"MAX_TOKENS"}


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


def tokens_of(body: str) -> tuple[int, int]:
    """Give the tokens that were read and written, thoughts among them, as Gemini counts them; 0 where it does not say."""
    try:
        counted = _CountedTokens.model_validate_json(body).usage_metadata
    except ValidationError:
        return 0, 0
    return counted.prompt_token_count, counted.candidates_token_count + counted.thoughts_token_count


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
