"""What every embedder behind a network does around its request: safe texts, batches, a quota, vectors that may be trusted."""

import math
from collections.abc import Callable, Sequence
from threading import Lock
from time import monotonic, sleep
from typing import Any, Final, TypeVar

from clara.adapters.models.guards import CallOutcome, ProviderUnavailableError
from clara.retrieval.embedders import is_blank

# The model reads 2,048 tokens and drops the rest in silence; Spanish takes about four characters a token.
MAX_CHARACTERS: Final = 8_000
# "BatchEmbedContentsRequest.requests: at most 100 requests can be in one batch", the API answers to more.
BATCH: Final = 100
MINUTE: Final = 60.0
# A quota of a minute opens within one; the seconds that Gemini asks to wait were seen up to 60 for it, and 68,940 for a day's.
LONGEST_WAIT: Final = 120.0
# Together they wait about a minute for a provider that does not say how long.
TRIES: Final = 6

Answer = TypeVar("Answer")


def sendable(text: str) -> str:
    """Make any string fit for JSON and for the model: no lone surrogate, nothing that cannot be seen, not too long."""
    safe = text[: 2 * MAX_CHARACTERS].encode("utf-8", "replace").decode("utf-8")
    seen = "".join(character if character.isprintable() else " " for character in safe)
    return " ".join(seen.split())[:MAX_CHARACTERS]


def wanted(texts: Sequence[str]) -> list[tuple[int, str]]:
    """Give place and sendable form of each text that has something to embed; the others have the zero vector, unasked."""
    safe = ((place, sendable(text)) for place, text in enumerate(texts) if not is_blank(text))
    return [(place, text) for place, text in safe if text]


def in_batches(texts: Sequence[str], dimensions: int, embed: Callable[[list[str]], list[list[float]]]) -> list[list[float]]:
    """Embed the texts that have something to embed, at most 100 at once; the others get the zero vector without being sent."""
    vectors = [[0.0] * dimensions for _ in texts]
    asked = wanted(texts)
    for start in range(0, len(asked), BATCH):
        batch = asked[start : start + BATCH]
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


class TextPace:
    """Spends a provider's quota of texts a minute evenly; a batch of 100 texts costs 100. Safe between threads.

    Whoever comes when the minute's share is spent waits for it.
    """

    def __init__(self, per_minute: int, wait: Callable[[float], None] = sleep, clock: Callable[[], float] = monotonic) -> None:
        self._each = MINUTE / per_minute
        self._wait = wait
        self._clock = clock
        self._lock = Lock()
        self._free_at = clock()

    def take(self, texts: int) -> None:
        """Wait until so many texts may be sent."""
        with self._lock:
            now = self._clock()
            begins = max(self._free_at, now)
            self._free_at = begins + texts * self._each
        if begins > now:
            self._wait(begins - now)


class PatientGuard:
    """A guard for work that nobody waits for: tries again for as long as a busy provider asks, or longer each time.

    A wait beyond `longest` seconds, as for the quota of a day, is not waited: the work is taken up again another time.
    """

    def __init__(self, longest: float = LONGEST_WAIT, tries: int = TRIES, wait: Callable[[float], None] = sleep) -> None:
        self._longest = longest
        self._tries = tries
        self._wait = wait

    def __call__(self, call: Callable[[float], Answer], seconds: float) -> Answer:
        """Call, each time with all of the seconds."""
        for number in range(1, self._tries):
            try:
                return call(seconds)
            except ProviderUnavailableError as error:
                pause = 2.0**number if error.retry_seconds is None else error.retry_seconds
                if error.outcome is not CallOutcome.FAILED or pause > self._longest:
                    raise
            self._wait(pause)
        return call(seconds)
