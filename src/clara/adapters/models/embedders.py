"""The embedding models of this process, by the names of their vector spaces."""

import re
from collections.abc import Callable
from threading import Lock
from typing import TYPE_CHECKING, Final

from clara.language.identity_data import masked
from clara.retrieval.embedders import AbsentEmbedder, MaskingEmbedder
from clara.retrieval.ports import Embedder
from clara.settings import Settings

if TYPE_CHECKING:
    from clara.adapters.models.guards import Guard

# The size is part of the name: vectors of one model in two sizes are two spaces.
GEMINI_DIMENSIONS: Final = 768
GEMINI_SPACE: Final = re.compile(rf"(gemini-[a-z0-9.-]+)-{GEMINI_DIMENSIONS}")
# For a hundred texts of a corpus. The answer alone takes a megabyte; nobody waits for it.
FILLING_SECONDS: Final = 60.0


class Embedders:
    """Builds each embedding model once, when it is first needed: one that answers people, and a patient one that fills corpora.

    `local` gives the bundled one, `guard` what stands between a part of the program and Gemini.
    """

    def __init__(self, settings: Settings, local: Callable[[], Embedder], guard: Callable[[str], "Guard"]) -> None:
        self._settings = settings
        self._local = local
        self._guard = guard
        self._lock = Lock()
        self._asking: dict[str, Embedder] = {}
        self._filling: dict[str, Embedder] = {}
        self._closing: list[Callable[[], None]] = []

    def close(self) -> None:
        """Give back the connections that were opened here."""
        while self._closing:
            self._closing.pop()()

    def model_of(self, choice: str) -> str:
        """Give the name of the vector space that a choice stands for."""
        model = f"{self._settings.gemini_embedding_model}-{GEMINI_DIMENSIONS}"
        return model if choice == "gemini" else self._local().model

    def knows(self, model: str) -> bool:
        """Whether this release knows the model at all. A later or an earlier one may have bundled another."""
        return model == self._local().model or GEMINI_SPACE.fullmatch(model) is not None

    def asking(self, model: str) -> Embedder:
        """Give what embeds people's questions: late is as bad as never. A model that is not to be had says so when asked."""
        return self._built(self._asking, model, self._gemini_asking)

    def filling(self, model: str) -> Embedder:
        """Give what embeds the texts of corpora: it waits for quotas. A model that is not to be had says so when asked."""
        return self._built(self._filling, model, self._gemini_filling)

    def _built(self, made: dict[str, Embedder], model: str, gemini: Callable[[str], Embedder]) -> Embedder:
        if model == self._local().model:
            return self._local()
        known = GEMINI_SPACE.fullmatch(model)
        if known is None:
            return AbsentEmbedder(model, 0, f"there is no model {model} here; run `clara index build --model local`")
        if self._settings.gemini_api_key is None:
            reason = f"{model} needs GEMINI_API_KEY; set it, or run `clara index build --model local`"
            return AbsentEmbedder(model, GEMINI_DIMENSIONS, reason)
        with self._lock:
            if model not in made:
                made[model] = gemini(known[1])
            return made[model]

    def _gemini_asking(self, name: str) -> Embedder:
        seconds = self._settings.gemini_embedding_seconds
        return MaskingEmbedder(self._gemini(name, seconds, self._guard("embedder"), lambda _texts: None), masked)

    def _gemini_filling(self, name: str) -> Embedder:
        from clara.adapters.models.batches import Pace, Patience

        return self._gemini(name, FILLING_SECONDS, Patience(), Pace(self._settings.gemini_embedding_per_minute).take)

    def _gemini(self, name: str, seconds: float, guard: "Guard", pace: Callable[[int], None]) -> Embedder:
        settings = self._settings
        if settings.gemini_embedding_sdk == "legacy":
            return self._legacy(name, seconds, guard, pace)
        from clara.adapters.models.gemini.embedder import GeminiEmbedder
        from clara.adapters.models.gemini.transport import PUBLIC_URL, GeminiTransport

        base_url = settings.gemini_base_url or PUBLIC_URL
        key = settings.secret("gemini_api_key")
        transport = GeminiTransport(key, deadline_seconds=seconds, base_url=base_url, guard=guard)
        self._closing.append(transport.close)
        return GeminiEmbedder(transport, name, pace)

    def _legacy(self, name: str, seconds: float, guard: "Guard", pace: Callable[[int], None]) -> Embedder:
        settings = self._settings
        try:
            from clara.adapters.models.gemini_legacy import PUBLIC_URL, LegacyClient, LegacyEmbedder
        except ImportError as error:
            remedy = "run `pip install 'clara-tramites[gemini-legacy]'`, or unset it"
            missing = f"GEMINI_EMBEDDING_SDK=legacy lacks {error.name}; {remedy}"
            return AbsentEmbedder(f"{name}-{GEMINI_DIMENSIONS}", GEMINI_DIMENSIONS, missing)
        base_url = settings.gemini_base_url or PUBLIC_URL
        client = LegacyClient(settings.secret("gemini_api_key"), deadline_seconds=seconds, base_url=base_url, guard=guard)
        self._closing.append(client.close)
        return LegacyEmbedder(client, name, pace)
