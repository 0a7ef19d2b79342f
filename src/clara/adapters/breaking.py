"""A circuit breaker: a provider that fails again and again is not asked for a while, so that nobody waits for it in vain."""

from collections.abc import Callable
from threading import Lock
from time import monotonic
from typing import Final, TypeVar

from clara.adapters.guarding import Outcome, ProviderUnavailableError

# People who wait out a whole deadline before it is known that there is no answer: goal 12 allows five.
FAILURES: Final = 5
# Seconds until one call may try whether the provider works again. A provider that heals right after such a try is seen again
# with the next one, this long and one deadline (10 s) after the last: within the 30 s of goal 12.
PAUSE: Final = 15.0
# The longest that a provider is believed when it says to stay away: its quotas are of a minute or of a day.
LONGEST_PAUSE: Final = 86_400.0
# A call with less time than this says little about the provider when it fails: generations take a second or more.
FAIR_SECONDS: Final = 1.0

Answer = TypeVar("Answer")


class Breaker:
    """Keeps away from a provider after failures in a row, or for as long as it asks; then one call tries it. Thread-safe.

    Only failures of the provider count: a request that it declines shows that it works. `on_change` is told "open" and
    "closed".
    """

    def __init__(
        self,
        on_change: Callable[[str], None] = lambda _state: None,
        clock: Callable[[], float] = monotonic,
        *,
        failures: int = FAILURES,
        pause: float = PAUSE,
        fair_seconds: float = FAIR_SECONDS,
    ) -> None:
        self._on_change = on_change
        self._clock = clock
        self._most = failures
        self._pause = pause
        self._fair = fair_seconds
        self._lock = Lock()
        self._failures = 0
        self._open = False
        self._until = 0.0
        self._trying = False

    def __call__(self, call: Callable[[float], Answer], seconds: float) -> Answer:
        """Call, unless the provider is kept away from."""
        trying = self._enter(seconds)
        try:
            answer = call(seconds)
        except ProviderUnavailableError as error:
            self._judge(error, seconds)
            raise
        else:
            self._worked()
            return answer
        finally:
            if trying:
                with self._lock:
                    self._trying = False

    def _enter(self, seconds: float) -> bool:
        """Say whether this call is the one that tries an open breaker. Raises ProviderUnavailableError."""
        with self._lock:
            if not self._open:
                return False
            left = self._until - self._clock()
            if left > 0 or self._trying or seconds < self._fair:
                raise ProviderUnavailableError("is kept away from after failures", max(left, 0.0), Outcome.AWAY)
            self._trying = True
            return True

    def _judge(self, error: ProviderUnavailableError, seconds: float) -> None:
        match error.outcome:
            case Outcome.FAILED:
                self._failed(error.retry_seconds, seconds)
            case Outcome.DECLINED:
                self._worked()

    def _failed(self, asked: float | None, seconds: float) -> None:
        with self._lock:
            if asked is None and seconds < self._fair:
                return
            self._failures += 1
            if asked is not None:
                self._until = self._clock() + min(asked, LONGEST_PAUSE)
            elif self._trying or (self._failures >= self._most and not self._open):
                self._until = self._clock() + self._pause
            elif not self._open:
                return
            changed, self._open = not self._open, True
        if changed:
            self._on_change("open")

    def _worked(self) -> None:
        with self._lock:
            self._failures = 0
            changed, self._open = self._open, False
        if changed:
            self._on_change("closed")
