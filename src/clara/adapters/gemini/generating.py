"""What every generation is asked with: no filters that silence people, and as little thinking as the model allows."""

from typing import Any, Final

from google.genai import types

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


def sendable(text: str) -> str:
    """Turn lone surrogates, which cannot be sent, into "?"."""
    return text.encode("utf-8", "replace").decode("utf-8")
