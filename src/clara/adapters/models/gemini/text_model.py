"""Writing with a Gemini model."""

from typing import Final

from clara.adapters.models.gemini.transport import GeminiTransport, generation_config, open_transport, sendable
from clara.adapters.models.gemini.wire import GeminiUnavailableError
from clara.adapters.models.registry import ModelParts
from clara.answering.ports import ModelUnavailableError, Prompt

# A reply has 1,600 characters at most; in the scripts that cost most, a token is hardly more than one of them. Gemini 3 counts
# its thoughts in. What is longer is cut, and what is cut is not used.
MAX_TOKENS: Final = 2_500


class GeminiTextModel:
    """Implements the conversation's TextModel. `name` is the model's."""

    def __init__(self, transport: GeminiTransport, model: str) -> None:
        self._transport = transport
        self.name = model

    def write(self, prompt: Prompt, seconds: float) -> str:
        """Give what the model wrote, within so many seconds and never empty. Raises ModelUnavailableError."""
        kind = "application/json" if prompt.json else None
        config = generation_config(self.name, prompt.instruction, MAX_TOKENS, response_mime_type=kind)
        try:
            return self._transport.generate(self.name, sendable(prompt.page), config, _written, seconds)
        except GeminiUnavailableError as error:
            raise ModelUnavailableError(str(error)) from error


def _written(text: str) -> str:
    if not text.strip():
        raise GeminiUnavailableError("wrote nothing")
    return text.strip()


def build(parts: ModelParts) -> GeminiTextModel:
    """Build what writes answers."""
    return GeminiTextModel(open_transport(parts, "writer"), parts.settings.gemini_writer_model)
