"""Which corpus stands behind a name, and by whose vectors it is searched, asked anew for every question."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from threading import Lock
from typing import Final, Protocol

from clara.retrieval.passage import Found, Query, Retrieve
from clara.retrieval.ports import Embedder

# What divides the name that is asked from the version that holds it ("clara@7"), and from a copy for one question
# ("clara~1f3a"). No corpus of an operator's own can be called so.
VERSION, COPY = "@", "~"
DIVIDERS: Final = (VERSION, COPY)


@dataclass(frozen=True, slots=True)
class Standing:
    """The corpus that is searched under a name.

    `version` grows with every change of its passages, None when there is no such corpus or nothing is known of it. `model`
    is the one it is searched by, `publication` the number of what put it there; None where it stands for itself.
    """

    physical: str
    version: str | None = None
    model: str | None = None
    publication: int | None = None


def version_name(name: str, publication: int) -> str:
    """Name the corpus that holds one version of what is asked under a name."""
    return f"{name}{VERSION}{publication}"


def name_of(physical: str) -> str:
    """Give the name under which a corpus is asked, or would be."""
    for divider in DIVIDERS:
        physical = physical.partition(divider)[0]
    return physical


class Standings(Protocol):
    """Reads what stands behind names; None while it cannot be read."""

    def standing(self, name: str) -> Standing | None:
        """Give what stands behind a name, in one exchange."""

    def itself(self, corpus: str) -> Standing | None:
        """Give the same of a corpus itself, whatever stands behind its name."""


class ModelEmbedders(Protocol):
    """Gives the embedders that ask, by the names of their models."""

    def knows(self, model: str) -> bool:
        """Whether this release knows the model at all."""

    def asking(self, model: str) -> Embedder:
        """Give what embeds people's questions."""


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
