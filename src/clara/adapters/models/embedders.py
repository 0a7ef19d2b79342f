"""The embedding models of this process, by the names of their vector spaces."""

from collections.abc import Callable, Mapping
from importlib import import_module
from threading import Lock

from clara.adapters.models.registry import EMBEDDERS, EmbedderProvider, ModelParts
from clara.retrieval.embedders import AbsentEmbedder
from clara.retrieval.ports import Embedder


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
