"""Completing prompts with a Gemini model."""

from time import perf_counter

from clara.adapters.models.gemini.transport import GeminiTransport, generation_config, sendable
from clara.adapters.models.gemini.wire import FINISHED, FINISHED_OR_CUT, GeminiUnavailableError, text_of, tokens_of
from clara_lab.chat import ChatPrompt, ChatUnavailableError, Completion


class GeminiChat:
    """Implements retrieval's ChatModel; safe to share between threads. `name` is the model's.

    How many requests are under way, and how often each is tried, is up to the guard of its transport.
    """

    def __init__(self, transport: GeminiTransport, model: str) -> None:
        self._transport = transport
        self.name = model

    def complete(self, prompt: ChatPrompt) -> Completion:
        """Give what the model wrote, never empty. A text that the prompt's own bound cut is given, a cut document is not.

        Raises ChatUnavailableError.
        """
        kind = "application/json" if prompt.json else None
        config = generation_config(self.name, prompt.system, prompt.max_tokens or None, response_mime_type=kind)
        finished = FINISHED_OR_CUT if prompt.max_tokens and not prompt.json else FINISHED

        def read(body: str) -> tuple[str, int, int]:
            text = text_of(body, finished).strip()
            if not text:
                raise GeminiUnavailableError("wrote nothing")
            return text, *tokens_of(body)

        started = perf_counter()
        try:
            completed = self._transport.generated(self.name, sendable(prompt.user), config, read)
        except GeminiUnavailableError as error:
            raise ChatUnavailableError(f"{self.name} {error}") from error
        return Completion(*completed, perf_counter() - started)
