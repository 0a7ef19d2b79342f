"""Embedding for many at once: so many short texts, fewer long ones, and nobody waits longer than they have time."""

import os
import sys
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from threading import get_native_id
from typing import Final

from clara.retrieval.embedding import embedded
from clara.retrieval.ports import Embedder, Role, Vector
from clara.retrieval.turn_vectors import OutOfTimeError, embed_here

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
