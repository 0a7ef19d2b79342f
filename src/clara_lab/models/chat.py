"""Completing prompts: with a model served in OpenAI's wire format, or with Gemini."""

from time import perf_counter
from typing import Any

from clara.adapters.models.gemini import (
    FINISHED,
    FINISHED_OR_CUT,
    GeminiTransport,
    GeminiUnavailableError,
    generation_config,
    text_of,
    tokens_of,
)
from clara.adapters.models.guards import ProviderUnavailableError, sendable
from clara_lab.chat import ChatPrompt, ChatUnavailableError, Completion
from clara_lab.models.transport import (
    Answered,
    ModelRefusedError,
    ServedEndpoint,
    ServedRequest,
    ServedTransport,
    Spoken,
    read_chat,
    read_context_length,
)


class ServedChat:
    """Implements retrieval's ChatModel; safe to share between threads. `name` is the model's."""

    def __init__(self, transport: ServedTransport, endpoint: ServedEndpoint) -> None:
        self._transport = transport
        self._endpoint = endpoint
        self._takes_format = True
        self.name = endpoint.model

    def complete(self, prompt: ChatPrompt) -> Completion:
        """Give what the model wrote, never empty. A text that the prompt's own bound cut is given, a cut document is not.

        Raises ChatUnavailableError.
        """
        started = perf_counter()
        try:
            answered = self._answered(prompt)
        except ProviderUnavailableError as error:
            raise ChatUnavailableError(f"{self.name} {error}") from error
        seconds = perf_counter() - started
        return Completion(answered.value.text, answered.prompt_tokens, answered.completion_tokens, seconds)

    def context_length(self) -> int | None:
        """Give how many tokens the model reads and writes together, None when its service does not say.

        Raises ChatUnavailableError.
        """
        request = ServedRequest("models", "/models")
        try:
            return self._transport.ask(self._endpoint, request, lambda content: read_context_length(content, self.name)).value
        except ProviderUnavailableError as error:
            raise ChatUnavailableError(f"{self.name} {error}") from error

    def _answered(self, prompt: ChatPrompt) -> Answered[Spoken]:
        try:
            return self._asked(prompt)
        except ModelRefusedError as error:
            # Some services know no response_format; the prompt asks for JSON in words as well.
            if not (prompt.json and self._takes_format and "response_format" in error.about):
                raise
        self._takes_format = False
        return self._asked(prompt)

    def _asked(self, prompt: ChatPrompt) -> Answered[Spoken]:
        messages = [{"role": "system", "content": prompt.system}, {"role": "user", "content": prompt.user}]
        document: dict[str, Any] = {
            "model": self.name,
            "messages": [{**message, "content": _sendable(message["content"])} for message in messages if message["content"]],
            "temperature": 0,
        }
        if prompt.max_tokens:
            document["max_tokens"] = prompt.max_tokens
        if prompt.json and self._takes_format:
            document["response_format"] = {"type": "json_object"}
        request = ServedRequest("chat", "/chat/completions", document)
        return self._transport.ask(self._endpoint, request, lambda content: _usable(prompt, read_chat(content)))


def _usable(prompt: ChatPrompt, answered: Answered[Spoken]) -> Answered[Spoken]:
    """Give what was written if somebody can use it. Raises RefusedError: asked again, the model would write the same."""
    spoken = answered.value
    if spoken.cut and (prompt.json or not prompt.max_tokens or not spoken.text):
        bound = f"more than {prompt.max_tokens} tokens" if prompt.max_tokens else "more tokens than its context has left"
        raise ModelRefusedError(f"did not finish: it would write {bound}; allow more, or lower GENERATION_MAX_CONTEXT_CHARS")
    if not spoken.text:
        raise ModelRefusedError("wrote nothing")
    return answered


def _sendable(text: str) -> str:
    """Turn lone surrogates, which cannot be sent, into "?"."""
    return text.encode("utf-8", "replace").decode("utf-8")


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
            completed = self._transport.generate(self.name, sendable(prompt.user), config, read)
        except GeminiUnavailableError as error:
            raise ChatUnavailableError(f"{self.name} {error}") from error
        return Completion(*completed, perf_counter() - started)
