"""The embedding models of this process, by their vector spaces, and what each behind a network does around its request."""

import math
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from threading import Lock
from typing import Any, Final

from clara.adapters.models.guards import ProviderUnavailableError, sendable
from clara.adapters.models.registry import EMBEDDERS, EmbedderProvider, ModelParts
from clara.retrieval.embedders import AbsentEmbedder, is_blank
from clara.retrieval.ports import Embedder

# The model reads 2,048 tokens and drops the rest in silence; Spanish takes about four characters a token.
MAX_CHARACTERS: Final = 8_000
# "BatchEmbedContentsRequest.requests: at most 100 requests can be in one batch", the API answers to more.
BATCH: Final = 100


def embeddable(text: str, most: int = MAX_CHARACTERS, shaped: Callable[[str], str] = str) -> str:
    """Make any string fit for JSON and for a model: no lone surrogate, nothing that cannot be seen, not too long.

    `shaped` may lengthen what is left.
    """
    safe = shaped(sendable(text[: 4 * most]))
    seen = "".join(character if character.isprintable() else " " for character in safe)
    return " ".join(seen.split())[:most]


def wanted(texts: Sequence[str]) -> list[tuple[int, str]]:
    """Give place and embeddable form of each text that has something to embed; the others have the zero vector, unasked."""
    safe = ((place, embeddable(text)) for place, text in enumerate(texts) if not is_blank(text))
    return [(place, text) for place, text in safe if text]


def in_batches(texts: Sequence[str], dimensions: int, embed: Callable[[list[str]], list[list[float]]]) -> list[list[float]]:
    """Embed the texts that have something to embed, at most 100 at once; the others get the zero vector without being sent."""
    return placed(len(texts), dimensions, wanted(texts), embed, BATCH)


def placed(
    count: int, dimensions: int, asked: Sequence[tuple[int, str]], embed: Callable[[list[str]], list[list[float]]], at_once: int
) -> list[list[float]]:
    """Give so many vectors: zeros, but for the places that are asked for, so many at once."""
    vectors = [[0.0] * dimensions for _ in range(count)]
    for start in range(0, len(asked), at_once):
        batch = asked[start : start + at_once]
        for (place, _), vector in zip(batch, embed([text for _, text in batch]), strict=True):
            vectors[place] = vector
    return vectors


def unit_vectors(rows: Sequence[Sequence[Any] | None], count: int, dimensions: int) -> list[list[float]]:
    """Scale vectors to length 1. Raises ProviderUnavailableError when there are not `count` of them, each of that size.

    The API gives vectors of length 1 in the model's full size only; shortened ones must be scaled by whoever asks. What is no
    number, infinite, or all zeros has no direction.
    """
    if len(rows) != count:
        raise ProviderUnavailableError(f"gave {len(rows)} vectors for {count} texts")
    vectors: list[list[float]] = []
    for row in rows:
        if row is None or len(row) != dimensions:
            raise ProviderUnavailableError(f"gave {len(row or ())} dimensions instead of {dimensions}")
        if not all(isinstance(axis, float | int) for axis in row):
            raise ProviderUnavailableError("gave a vector that is no list of numbers")
        length = math.hypot(*row)
        if not math.isfinite(length) or length == 0:
            raise ProviderUnavailableError(f"gave a vector of length {length:g}")
        vectors.append([axis / length for axis in row])
    return vectors


class Embedders:
    """Builds each embedding model once, when it is first needed: one that answers people, and a patient one that fills corpora.

    `local` gives the bundled one.
    """

    def __init__(
        self, parts: ModelParts, local: Callable[[], Embedder], providers: Mapping[str, EmbedderProvider] = EMBEDDERS
    ) -> None:
        self._parts = parts
        self._local = local
        self._providers = providers
        self._lock = Lock()
        self._made: dict[tuple[str, bool], Embedder] = {}

    def model_of(self, choice: str) -> str:
        """Give the name of the vector space that a choice stands for."""
        if choice not in self._providers:
            return self._local().model
        space: str = import_module(self._providers[choice].module).space_of(self._parts.settings)
        return space

    def knows(self, model: str) -> bool:
        """Whether this release knows the model at all. A later or an earlier one may have bundled another."""
        return model == self._local().model or self._provider(model) is not None

    def asking(self, model: str) -> Embedder:
        """Give what embeds people's questions: late is as bad as never. A model that is not to be had says so when asked."""
        return self._built(model, patient=False)

    def filling(self, model: str) -> Embedder:
        """Give what embeds the texts of corpora: it waits for quotas. A model that is not to be had says so when asked."""
        return self._built(model, patient=True)

    def _provider(self, model: str) -> EmbedderProvider | None:
        return next((provider for provider in self._providers.values() if provider.spaces.fullmatch(model)), None)

    def _built(self, model: str, *, patient: bool) -> Embedder:
        if model == self._local().model:
            return self._local()
        provider = self._provider(model)
        if provider is None:
            return AbsentEmbedder(model, 0, f"there is no model {model} here; run `clara index build --model local`")
        with self._lock:
            if (model, patient) not in self._made:
                built: Embedder = import_module(provider.module).build(model, self._parts, patient=patient)
                self._made[model, patient] = built
            return self._made[model, patient]
