"""The embeddings of one turn: for many at once, each text once for a model, none after the turn's time."""

import os
import sys
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from math import inf
from threading import get_native_id
from time import monotonic
from typing import Final

from clara.retrieval.embedders import embedded
from clara.retrieval.ports import Embedder, EmbedderUnavailableError, Role, Vector

# Questions of the evaluation have up to 208 tokens, 99 of 100 fewer than this; embedding so many takes .3 s on one core.
LONG_TOKENS: Final = 128
# A long text gives way to everybody else's short one (nice(7)). On Linux a thread has a niceness of its own.
YIELDING: Final = 19


class EmbeddingSlots:
    """Embeds with the model of that name in threads of its own: short texts in some, long ones in others.

    An embedding that is under way cannot be ended. Who has no time left for it goes on without, and it keeps only its own
    thread. What has not begun by then never does. Other models are asked in the caller's thread: they are not on this machine
    and keep their own time.
    """

    def __init__(self, model: str, tokens: Callable[[str, Role], int], short: int | None = None, long: int = 1) -> None:
        self._model = model
        self._tokens = tokens
        self._short = ThreadPoolExecutor(short or os.cpu_count() or 1, "embed-short")
        self._long = ThreadPoolExecutor(long, "embed-long", _yield)

    def embed(self, embedder: Embedder, text: str, patience: float) -> Vector:
        """Embed a question within `patience` seconds, waiting for a thread included.

        Raises OutOfTimeError when they are over, EmbedderUnavailableError as the embedder does.
        """
        if embedder.model != self._model:
            return embed_here(embedder, text, patience)
        threads = self._short if self._tokens(text, "query") <= LONG_TOKENS else self._long
        made: Future[list[list[float]]] = threads.submit(embedded, embedder, [text], "query")
        try:
            return made.result(patience)[0]
        except TimeoutError as error:
            begun = not made.cancel()
            raise OutOfTimeError(f"embedding took too long; it had {'begun' if begun else 'not begun'}") from error

    def close(self) -> None:
        """Let the threads end, each after what it does; what waits is left."""
        for threads in (self._short, self._long):
            threads.shutdown(wait=False, cancel_futures=True)


def _yield() -> None:
    if sys.platform == "linux":
        os.setpriority(os.PRIO_PROCESS, get_native_id(), YIELDING)


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
