"""Embedding with a Gemini model: shortened vectors, scaled to length 1, a hundred texts a request."""

from collections.abc import Callable, Sequence
from typing import Any, Final

from google.genai import Client, types

from clara.adapters.models.batches import in_batches, unit_vectors
from clara.adapters.models.gemini.transport import GeminiTransport, GeminiUnavailableError
from clara.retrieval.ports import EmbedderUnavailableError, Role

# Google recommends 768, 1,536 or 3,072 and states that the first loses little; an HNSW index takes 2,000 at most.
DIMENSIONS: Final = 768
TASKS: Final = {"query": "RETRIEVAL_QUERY", "passage": "RETRIEVAL_DOCUMENT"}


class GeminiEmbedder:
    """Implements retrieval's Embedder. `model` names the vector space: the model and the size of its vectors.

    `pace` is called with the number of texts before each request, and may wait.
    """

    dimensions = DIMENSIONS

    def __init__(self, transport: GeminiTransport, name: str, pace: Callable[[int], None] = lambda _texts: None) -> None:
        self._transport = transport
        self._name = name
        self._pace = pace
        self.model = f"{name}-{DIMENSIONS}"

    def embed(self, texts: Sequence[str], role: Role) -> list[list[float]]:
        """Embed each text; a text with nothing to embed gives the zero vector, unasked. Raises EmbedderUnavailableError."""
        return in_batches(texts, self.dimensions, lambda batch: self._batch(batch, role))

    def _batch(self, texts: list[str], role: Role) -> list[list[float]]:
        # Each text is a content of its own: models newer than this one make one vector of a list of texts.
        contents: Any = [types.Content(parts=[types.Part(text=text)]) for text in texts]

        def call(client: Client, options: types.HttpOptions) -> list[list[float]]:
            self._pace(len(texts))
            config = types.EmbedContentConfig(
                task_type=TASKS[role], output_dimensionality=self.dimensions, http_options=options
            )
            try:
                response = client.models.embed_content(model=self._name, contents=contents, config=config)
            except (AttributeError, KeyError, TypeError) as error:  # the SDK reads JSON of another shape without looking
                raise GeminiUnavailableError("answered with something else than vectors") from error
            return unit_vectors([made.values for made in response.embeddings or ()], len(texts), self.dimensions)

        try:
            return self._transport.ask(call)
        except GeminiUnavailableError as error:
            raise EmbedderUnavailableError(f"{self.model} {error}") from error
