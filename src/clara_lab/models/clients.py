"""Completing prompts and embedding texts: with a model served in OpenAI's wire format, or completing with Gemini."""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from time import perf_counter
from typing import Any, Final

from pydantic import BaseModel, ConfigDict, ValidationError
from pydantic.alias_generators import to_camel

from clara.adapters.models.embedders import unit_vectors, wanted
from clara.adapters.models.gemini import (
    FINISHED,
    GeminiTransport,
    GeminiUnavailableError,
    generation_config,
    text_of,
)
from clara.adapters.models.guards import ProviderUnavailableError, sendable
from clara.retrieval.ports import EmbedderUnavailableError, Role
from clara_lab.bench.prompts import ChatPrompt, ChatUnavailableError, Completion
from clara_lab.models.transport import (
    Answered,
    ModelRefusedError,
    ServedEndpoint,
    ServedRequest,
    ServedTransport,
    Spoken,
    read_chat,
    read_context_length,
    read_embeddings,
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
            "messages": [{**message, "content": sendable(message["content"])} for message in messages if message["content"]],
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


# For who has bounded what is written, and can use its beginning.
FINISHED_OR_CUT: Final = FINISHED | {"MAX_TOKENS"}


class _CountedTokens(BaseModel):
    model_config = ConfigDict(alias_generator=to_camel, hide_input_in_errors=True)

    prompt_token_count: int = 0
    candidates_token_count: int = 0
    thoughts_token_count: int = 0


class _CountedGeneration(BaseModel):
    model_config = ConfigDict(alias_generator=to_camel, hide_input_in_errors=True)

    usage_metadata: _CountedTokens = _CountedTokens()


def tokens_of(body: str) -> tuple[int, int]:
    """Give the tokens that were read and written, thoughts among them, as Gemini counts them; 0 where it does not say."""
    try:
        counted = _CountedGeneration.model_validate_json(body).usage_metadata
    except ValidationError:
        return 0, 0
    return counted.prompt_token_count, counted.candidates_token_count + counted.thoughts_token_count


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


# The batch that the seed's NIM took without errors of its buffers.
BATCH: Final = 5
PROBE: Final = "dimensions"


@dataclass(frozen=True, slots=True)
class EmbeddingManner:
    """How a model is asked. An asymmetric one is told whether a text is a query or a passage, and refuses not to be."""

    asymmetric: bool = True
    batch: int = BATCH


class ServedEmbedder:
    """Implements retrieval's Embedder; safe to share between threads.

    `model` names the vector space: a symmetric request makes other vectors of the same model than an asymmetric one.
    """

    def __init__(self, transport: ServedTransport, endpoint: ServedEndpoint, manner: EmbeddingManner) -> None:
        """Learn the dimensions from a first answer, so that what is set up wrong shows at once.

        Raises EmbedderUnavailableError.
        """
        self._transport = transport
        self._endpoint = endpoint
        self._manner = manner
        self.model = endpoint.model if manner.asymmetric else f"{endpoint.model}-symmetric"
        try:
            (row,) = self._rows([PROBE], "query")
        except ProviderUnavailableError as error:
            raise EmbedderUnavailableError(f"{endpoint.model} {error}") from error
        self.dimensions = len(row or ())

    def embed(self, texts: Sequence[str], role: Role) -> list[list[float]]:
        """Embed each text; a text with nothing to embed gives the zero vector, unasked.

        Raises EmbedderUnavailableError, which names the batch that failed for good; none is begun after it.
        """
        asked = wanted(texts)
        batches = [asked[start : start + self._manner.batch] for start in range(0, len(asked), self._manner.batch)]
        vectors = [[0.0] * self.dimensions for _ in texts]

        def made(number: int) -> list[list[float]]:
            places, batch = zip(*batches[number], strict=True)
            try:
                return unit_vectors(self._rows(batch, role), len(batch), self.dimensions)
            except ProviderUnavailableError as error:
                which = f"batch {number + 1} of {len(batches)} (texts {places[0] + 1} to {places[-1] + 1})"
                raise EmbedderUnavailableError(f"{self.model} {error}; {which}") from error

        pool = ThreadPoolExecutor(max(1, min(len(batches), self._transport.limits.concurrent)), "embedding")
        try:
            for batch, found in zip(batches, pool.map(made, range(len(batches))), strict=True):
                for (place, _), vector in zip(batch, found, strict=True):
                    vectors[place] = vector
        finally:
            pool.shutdown(cancel_futures=True)
        return vectors

    def _rows(self, texts: Sequence[str], role: Role) -> list[list[float] | None]:
        document: dict[str, object] = {"model": self._endpoint.model, "input": list(texts), "encoding_format": "float"}
        if self._manner.asymmetric:
            # Without "END" a NIM refuses the whole batch for one text that is longer than its model reads.
            document |= {"input_type": role, "truncate": "END"}
        request = ServedRequest("embedding", "/embeddings", document, len(texts))
        return self._transport.ask(self._endpoint, request, lambda content: read_embeddings(content, len(texts))).value
