"""The embeddings of one turn: each text once for a model, and none once the turn's time is up."""

from collections.abc import Callable
from dataclasses import dataclass
from math import inf
from time import monotonic

from clara.retrieval.embedding import embedded
from clara.retrieval.ports import Embedder, EmbedderUnavailableError, Vector

# Embeds a question within so many seconds, waiting for its turn included. Raises EmbedderUnavailableError.
Embed = Callable[[Embedder, str, float], Vector]


class OutOfTimeError(EmbedderUnavailableError):
    """The turn's time is up: it is answered without embedding and search. Look at what else the machine does."""


@dataclass(frozen=True, slots=True)
class Deadline:
    """The moment until which a turn may search, in seconds of the clock `now`, which only goes forward."""

    at: float = inf
    now: Callable[[], float] = monotonic

    def left(self) -> float:
        """Give how many seconds are left; 0 when none are."""
        return max(0.0, self.at - self.now())


def embed_here(embedder: Embedder, text: str, _patience: float) -> Vector:
    """Embed a question in the thread that asks, however long it takes. Raises EmbedderUnavailableError."""
    return embedded(embedder, [text], "query")[0]


class TurnVectors:
    """Gives the vectors of a turn's texts, for one thread. Unless told otherwise it has all the time in the world."""

    def __init__(self, embed: Embed = embed_here, deadline: Deadline = Deadline()) -> None:
        self._embed = embed
        self._deadline = deadline
        self._made: dict[tuple[str, str], Vector] = {}

    def of(self, embedder: Embedder, text: str) -> Vector:
        """Give the vector of a question, embedded when it is first asked for. Raises EmbedderUnavailableError.

        Past the deadline that is OutOfTimeError, also for what was embedded: what would follow is a search.
        """
        left = self._deadline.left()
        if not left:
            raise OutOfTimeError("the turn's time is up")
        key = (embedder.model, text)
        if key not in self._made:
            self._made[key] = self._embed(embedder, text, left)
        return self._made[key]
