"""Embedding with a Gemini model through the ended SDK: the same vectors, so the same vector space."""

from collections.abc import Callable, Sequence
from typing import Any, Final

from clara.adapters.embedding import in_batches, unit_vectors
from clara.adapters.gemini_legacy.client import GenerativeServiceClient, LegacyClient, embed_content
from clara.adapters.guarding import ProviderUnavailableError
from clara.retrieval.ports import EmbedderUnavailableError, Role

DIMENSIONS: Final = 768
TASKS: Final = {"query": "retrieval_query", "passage": "retrieval_document"}


class LegacyEmbedder:
    """Implements retrieval's Embedder. `pace` is called with the number of texts before each request, and may wait."""

    dimensions = DIMENSIONS

    def __init__(self, client: LegacyClient, name: str, pace: Callable[[int], None] = lambda _texts: None) -> None:
        self._client = client
        self._name = name
        self._pace = pace
        self.model = f"{name}-{DIMENSIONS}"

    def embed(self, texts: Sequence[str], role: Role) -> list[list[float]]:
        """Embed each text; a text with nothing to embed gives the zero vector, unasked. Raises EmbedderUnavailableError."""
        return in_batches(texts, self.dimensions, lambda batch: self._batch(batch, role))

    def _batch(self, texts: list[str], role: Role) -> list[list[float]]:
        def call(client: GenerativeServiceClient, options: Any) -> list[list[float]]:  # noqa: ANN401  the SDK has its own type
            answer: Any = embed_content(
                model=f"models/{self._name}",
                content=texts,
                task_type=TASKS[role],
                output_dimensionality=self.dimensions,
                client=client,
                request_options=options,
            )
            return unit_vectors(answer["embedding"], len(texts), self.dimensions)

        self._pace(len(texts))
        try:
            return self._client.ask(call)
        except ProviderUnavailableError as error:
            raise EmbedderUnavailableError(f"{self.model} {error}") from error
