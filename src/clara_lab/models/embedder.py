"""Embedding with a served model: in batches, several at a time, each tried again for itself."""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Final

from clara.adapters.models.embedders import unit_vectors, wanted
from clara.adapters.models.guards import ProviderUnavailableError
from clara.retrieval.ports import EmbedderUnavailableError, Role
from clara_lab.models.transport import ServedEndpoint, ServedRequest, ServedTransport, read_embeddings

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
