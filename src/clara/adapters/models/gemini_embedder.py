"""Embedding with a Gemini model: shortened vectors, scaled to length 1, a hundred texts a request."""

from collections.abc import Callable, Sequence
from importlib import import_module
from time import monotonic, sleep
from typing import Any, Final

from google.genai import Client, types

from clara.adapters.http.client import HostPace
from clara.adapters.models.embedders import in_batches, unit_vectors
from clara.adapters.models.gemini import PUBLIC_URL, GeminiTransport, GeminiUnavailableError
from clara.adapters.models.guards import CallGuard, PatientGuard, ProviderUnavailableError
from clara.adapters.models.registry import LONGEST_SECONDS, ModelParts
from clara.language.identity_data import masked
from clara.retrieval.embedders import AbsentEmbedder, MaskingEmbedder
from clara.retrieval.ports import Embedder, EmbedderUnavailableError, Role
from clara.settings import Settings

# Google recommends 768, 1,536 or 3,072 and states that the first loses little; an HNSW index takes 2,000 at most.
DIMENSIONS: Final = 768
# For a hundred texts of a corpus. The answer alone takes a megabyte; nobody waits for it.
FILLING_SECONDS: Final = 60.0
TASKS: Final = {"query": "RETRIEVAL_QUERY", "passage": "RETRIEVAL_DOCUMENT"}


class GeminiEmbedder:
    """Implements retrieval's Embedder. `model` names the vector space: the model and the size of its vectors.

    `pace` is called with the number of texts before each request, and may wait.
    """

    dimensions = DIMENSIONS

    def __init__(
        self,
        transport: Any,  # noqa: ANN401  GeminiTransport, or the ended SDK's
        name: str,
        pace: Callable[[int], None] = lambda _texts: None,
    ) -> None:
        self._transport = transport
        self._name = name
        self._pace = pace
        self.model = f"{name}-{DIMENSIONS}"

    def embed(self, texts: Sequence[str], role: Role) -> list[list[float]]:
        """Embed each text; a text with nothing to embed gives the zero vector, unasked. Raises EmbedderUnavailableError."""
        return in_batches(texts, self.dimensions, lambda batch: self._batch(batch, role))

    def _batch(self, texts: list[str], role: Role) -> list[list[float]]:
        try:
            return self._vectors(texts, role)
        except ProviderUnavailableError as error:
            raise EmbedderUnavailableError(f"{self.model} {error}") from error

    def _vectors(self, texts: list[str], role: Role) -> list[list[float]]:
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

        vectors: list[list[float]] = self._transport.ask(call)
        return vectors


def text_pace(
    per_minute: int, clock: Callable[[], float] = monotonic, wait: Callable[[float], None] = sleep
) -> Callable[[int], None]:
    """Spend a quota of texts a minute evenly: whoever comes when the minute's share is spent waits for it."""
    pace = HostPace(clock, wait)
    return lambda texts: pace.take("", texts * 60.0 / per_minute)


def space_of(settings: Settings) -> str:
    """Name the vector space that the settings ask for."""
    return f"{settings.gemini_embedding_model}-{DIMENSIONS}"


def build(space: str, parts: ModelParts, *, patient: bool) -> Embedder:
    """Build what embeds for a vector space of Gemini; without a key, what says so. Questions are sent without identity data."""
    settings = parts.settings
    if settings.gemini_api_key is None:
        reason = f"{space} needs GEMINI_API_KEY; set it, or run `clara index build --model local`"
        return AbsentEmbedder(space, DIMENSIONS, reason)
    name = space.removesuffix(f"-{DIMENSIONS}")
    if patient:
        pace = text_pace(settings.gemini_embedding_per_minute)
        return _open(name, parts, FILLING_SECONDS, PatientGuard(), pace)
    guard = parts.guard("embedder", LONGEST_SECONDS)
    return MaskingEmbedder(_open(name, parts, settings.gemini_embedding_seconds, guard, lambda _texts: None), masked)


def _open(name: str, parts: ModelParts, seconds: float, guard: CallGuard, pace: Callable[[int], None]) -> Embedder:
    settings, key = parts.settings, parts.settings.secret("gemini_api_key")
    opened: Any = GeminiTransport
    made: Any = GeminiEmbedder
    if settings.gemini_embedding_sdk == "legacy":
        try:
            legacy = import_module("clara.adapters.models.gemini_legacy")
        except ImportError as error:
            remedy = "run `pip install 'clara-tramites[gemini-legacy]'`, or unset it"
            missing = f"GEMINI_EMBEDDING_SDK=legacy lacks {error.name}; {remedy}"
            return AbsentEmbedder(f"{name}-{DIMENSIONS}", DIMENSIONS, missing)
        opened, made = legacy.LegacyClient, legacy.LegacyEmbedder
    transport = opened(key, deadline_seconds=seconds, base_url=settings.gemini_base_url or PUBLIC_URL, guard=guard)
    parts.closing.callback(transport.close)
    embedder: Embedder = made(transport, name, pace)
    return embedder
