"""Embedding with a served model: in batches, several at a time, each tried again for itself."""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Final

from clara.adapters.models.embedders import unit_vectors, wanted
from clara.adapters.models.guards import ProviderUnavailableError
from clara.retrieval.ports import EmbedderUnavailableError, Role
from clara_lab.models.transport import ServedEndpoint, ServedRequest, ServedTransport
from clara_lab.models.wire import Answered, read_embeddings

# The batch that the seed's NIM took without errors of its buffers.
BATCH: Final = 5
PROBE: Final = "dimensions"


@dataclass(frozen=True, slots=True)
class EmbeddingManner:
    """How a model is asked. An asymmetric one is told whether a text is a query or a passage, and refuses not to be."""

    asymmetric: bool = True
    batch: int = BATCH


class ServedEmbedder:
    """Implements retrieval's Embedder; safe to share between threads. `connected` asks the model for its dimensions.

    `model` names the vector space: a symmetric request makes other vectors of the same model than an asymmetric one.
    """

    def __init__(self, transport: ServedTransport, endpoint: ServedEndpoint, manner: EmbeddingManner, dimensions: int) -> None:
        self._transport = transport
        self._endpoint = endpoint
        self._manner = manner
        self.dimensions = dimensions
        self.model = endpoint.model if manner.asymmetric else f"{endpoint.model}-symmetric"

    @classmethod
    def connected(cls, transport: ServedTransport, endpoint: ServedEndpoint, manner: EmbeddingManner) -> "ServedEmbedder":
        """Learn the dimensions from a first answer, so that what is set up wrong shows at once.

        Raises EmbedderUnavailableError.
        """
        try:
            (row,) = _rows(transport, endpoint, _document(endpoint, manner, [PROBE], "query"), 1).value
        except ProviderUnavailableError as error:
            raise EmbedderUnavailableError(f"{endpoint.model} {error}") from error
        return cls(transport, endpoint, manner, len(row or ()))

    def embed(self, texts: Sequence[str], role: Role) -> list[list[float]]:
        """Embed each text; a text with nothing to embed gives the zero vector, unasked.

        Raises EmbedderUnavailableError, which names the batch that failed for good; none is begun after it.
        """
        asked = wanted(texts)
        batches = [asked[start : start + self._manner.batch] for start in range(0, len(asked), self._manner.batch)]
        vectors = [[0.0] * self.dimensions for _ in texts]
        for batch, made in zip(batches, self._made(batches, role), strict=True):
            for (place, _), vector in zip(batch, made, strict=True):
                vectors[place] = vector
        return vectors

    def _made(self, batches: list[list[tuple[int, str]]], role: Role) -> list[list[list[float]]]:
        def embed(number: int) -> list[list[float]]:
            places, texts = zip(*batches[number], strict=True)
            try:
                document = _document(self._endpoint, self._manner, list(texts), role)
                return unit_vectors(
                    _rows(self._transport, self._endpoint, document, len(texts)).value, len(texts), self.dimensions
                )
            except ProviderUnavailableError as error:
                which = f"batch {number + 1} of {len(batches)} (texts {places[0] + 1} to {places[-1] + 1})"
                raise EmbedderUnavailableError(f"{self.model} {error}; {which}") from error

        if len(batches) <= 1:
            return [embed(number) for number in range(len(batches))]
        pool = ThreadPoolExecutor(min(len(batches), self._transport.limits.concurrent), "embedding")
        try:
            return list(pool.map(embed, range(len(batches))))
        finally:
            pool.shutdown(cancel_futures=True)


def _rows(
    transport: ServedTransport, endpoint: ServedEndpoint, document: dict[str, object], count: int
) -> Answered[list[list[float] | None]]:
    request = ServedRequest("embedding", "/embeddings", document, count)
    return transport.ask(endpoint, request, lambda content: read_embeddings(content, count))


def _document(endpoint: ServedEndpoint, manner: EmbeddingManner, texts: list[str], role: Role) -> dict[str, object]:
    document: dict[str, object] = {"model": endpoint.model, "input": texts, "encoding_format": "float"}
    # Without "END" a NIM refuses the whole batch for one text that is longer than its model reads.
    return {**document, "input_type": role, "truncate": "END"} if manner.asymmetric else document
