"""Which corpus stands behind a name, and by whose vectors it is searched, asked anew for every question."""

from collections.abc import Callable
from dataclasses import replace
from threading import Lock
from typing import Protocol

from clara.retrieval.corpus_alias import Standing
from clara.retrieval.passage import Found, Query, Retrieve
from clara.retrieval.ports import Embedder


class Standings(Protocol):
    """Reads what stands behind names; None while it cannot be read."""

    def standing(self, name: str) -> Standing | None:
        """Give what stands behind a name, in one exchange."""
        ...

    def itself(self, corpus: str) -> Standing | None:
        """Give the same of a corpus itself, whatever stands behind its name."""
        ...


class ModelEmbedders(Protocol):
    """Gives the embedders that ask, by the names of their models."""

    def knows(self, model: str) -> bool:
        """Whether this release knows the model at all."""
        ...

    def asking(self, model: str) -> Embedder:
        """Give what embeds people's questions."""
        ...


class ServedCorpora:
    """Remembers what stood behind each name when it was last seen, for as long as nobody can tell."""

    def __init__(self, standings: Standings | None, embedders: ModelEmbedders) -> None:
        self._standings = standings
        self._embedders = embedders
        self._last_standing: dict[str, Standing] = {}
        self._last_model: dict[str, str] = {}

    def standing(self, corpus: str) -> Standing:
        """Give what stands behind a name, in one exchange; while the database is away what stood there when last seen."""
        return self._seen(f"behind {corpus}", corpus, self._standings.standing(corpus) if self._standings else None)

    def itself(self, corpus: str) -> Standing:
        """Give the same of a corpus itself, whatever stands behind its name."""
        return self._seen(f"itself {corpus}", corpus, self._standings.itself(corpus) if self._standings else None)

    def _seen(self, key: str, corpus: str, held: Standing | None) -> Standing:
        if held is None:
            return self._last_standing.get(key, Standing(corpus))
        self._last_standing[key] = held
        return held

    def model(self, corpus: str, standing: Standing, bundled: str) -> str:
        """Give the model that a corpus is searched by; where that is not known, the last one that was, at first `bundled`."""
        if standing.model is None or not self._embedders.knows(standing.model):
            return self._last_model.get(corpus, bundled)
        self._last_model[corpus] = standing.model
        return standing.model

    def by_model(
        self, build: Callable[[Embedder], Retrieve], bundled: Embedder, standing: Callable[[str], Standing] | None = None
    ) -> Retrieve:
        """Retrieve from whatever stands behind the name at that moment, by its model, from the first step to the last.

        `build` makes the chain of a model, once; that of `bundled` now. It is asked for the corpus that stands there, never for
        the name: keys of what is remembered, vectors and links are all that corpus's. `standing` finds it in another way.
        """
        chains = {bundled.model: build(bundled)}
        lock = Lock()
        resolve = standing or self.standing

        def retrieve(query: Query) -> Found:
            held = resolve(query.corpus)
            model = self.model(query.corpus, held, bundled.model)
            with lock:
                if model not in chains:
                    chains[model] = build(self._embedders.asking(model))
            return chains[model](replace(query, corpus=held.physical))

        return retrieve
