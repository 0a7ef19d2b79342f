"""Between us and a provider that may fail: a circuit breaker, more tries, quotas, counting."""

from collections.abc import Callable
from enum import StrEnum
from functools import partial
from threading import Lock
from time import monotonic, perf_counter, sleep
from typing import Final, Protocol, TypeVar

from clara.delivery.ports import StoreUnavailableError
from clara.errors import Unavailable

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


# A person waits for the answer: a quota that opens later than this is as good as closed.
LONGEST_RETRY_SECONDS: Final = 2.0
# Of a hundred calls ten may be tried again: enough for bumps, and too few to double the load of a provider that is down.
RETRY_SHARE: Final = 0.1
# Retries that may be made before calls have earned any, so that the first call of a process may have one.
RETRY_RESERVE: Final = 5.0
# A quota of a minute opens within one; the seconds that Gemini asks to wait were seen up to 60 for it, and 68,940 for a day's.
LONGEST_WAIT: Final = 120.0
# Together they wait about a minute for a provider that does not say how long.
TRIES: Final = 6


class CallOutcome(StrEnum):
    """What came of a call."""

    ANSWERED = "answered"
    FAILED = "failed"
    """The provider does not work, or cannot be reached."""
    DECLINED = "declined"
    """The provider works, and will not serve this one request."""
    AWAY = "away"
    """Not asked: it is kept away from after failures, or because it said so."""
    SPENT = "spent"
    """Not asked: the day's allowance is used up, or could not be counted."""


class ProviderUnavailableError(Unavailable):
    """A provider gave no usable answer. The message is a short reason without a word of what was asked.

    `retry_seconds` is how long the provider asks to wait before another try, None when it does not say.
    """

    def __init__(self, reason: str, retry_seconds: float | None = None, outcome: CallOutcome = CallOutcome.FAILED) -> None:
        super().__init__(reason)
        self.retry_seconds = retry_seconds
        self.outcome = outcome


class CallGuard(Protocol):
    """Calls with the seconds that are left, and gives the answer. Raises ProviderUnavailableError, as the call does."""

    def __call__(self, call: Callable[[float], Answer], seconds: float) -> Answer:
        """Call, or do not."""


class Allowance(Protocol):
    """So many calls a day. Raises StoreUnavailableError."""

    def spend(self) -> bool:
        """Take one call; False when none is left."""


def sendable(text: str) -> str:
    """Turn lone surrogates, which cannot be sent, into "?"."""
    return text.encode("utf-8", "replace").decode("utf-8")


def guarded(*guards: CallGuard) -> CallGuard:
    """Put guards around each other, the first outermost; without any, calls go through."""

    def ask(call: Callable[[float], Answer], seconds: float) -> Answer:
        for guard in reversed(guards):
            call = partial(guard, call)
        return call(seconds)

    return ask


class Retries:
    """How many more tries a process may make: each call earns a share of one, up to the reserve. Thread-safe."""

    def __init__(self, share: float = RETRY_SHARE, reserve: float = RETRY_RESERVE) -> None:
        self._share = share
        self._reserve = reserve
        self._left = reserve
        self._lock = Lock()

    def earn(self) -> None:
        """Count a call."""
        with self._lock:
            self._left = min(self._reserve, self._left + self._share)

    def spend(self) -> bool:
        """Take one try; False when none is left."""
        with self._lock:
            # A sum of tenths misses the whole number by a hair.
            if self._left < 1 - 1e-9:
                return False
            self._left -= 1
            return True


class Retrying:
    """Tries once more, after the short wait that the provider itself asks for, while time and retries are left."""

    def __init__(
        self, retries: Retries, wait: Callable[[float], None] = sleep, clock: Callable[[], float] = perf_counter
    ) -> None:
        self._retries = retries
        self._wait = wait
        self._clock = clock

    def __call__(self, call: Callable[[float], Answer], seconds: float) -> Answer:
        """Call at most twice within the time."""
        until = self._clock() + seconds
        self._retries.earn()
        try:
            return call(seconds)
        except ProviderUnavailableError as error:
            pause = error.retry_seconds
            if pause is None or pause > min(LONGEST_RETRY_SECONDS, until - self._clock()) or not self._retries.spend():
                raise
        self._wait(pause)
        return call(until - self._clock())


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


class Allowing:
    """Calls only while the day's allowance lasts; money is not spent where it cannot be counted."""

    def __init__(self, allowance: Allowance, clock: Callable[[], float] = perf_counter) -> None:
        self._allowance = allowance
        self._clock = clock

    def __call__(self, call: Callable[[float], Answer], seconds: float) -> Answer:
        """Take one of the day's calls, and make it in the time that counting leaves."""
        until = self._clock() + seconds
        try:
            allowed = self._allowance.spend()
        except StoreUnavailableError as error:
            raise ProviderUnavailableError("was not asked: its calls cannot be counted now", None, CallOutcome.SPENT) from error
        if not allowed:
            raise ProviderUnavailableError("was not asked: the day's calls are used up", None, CallOutcome.SPENT)
        return call(until - self._clock())


class Counting:
    """Tells what came of each call: the outcome, why there is no answer, and the milliseconds it took."""

    def __init__(
        self, tell: Callable[[CallOutcome, str | None, float], None], clock: Callable[[], float] = perf_counter
    ) -> None:
        self._tell = tell
        self._clock = clock

    def __call__(self, call: Callable[[float], Answer], seconds: float) -> Answer:
        """Call, and change nothing."""
        started = self._clock()
        try:
            answer = call(seconds)
        except ProviderUnavailableError as error:
            self._tell(error.outcome, str(error), (self._clock() - started) * 1000)
            raise
        self._tell(CallOutcome.ANSWERED, None, (self._clock() - started) * 1000)
        return answer


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
                raise ProviderUnavailableError("is kept away from after failures", max(left, 0.0), CallOutcome.AWAY)
            self._trying = True
            return True

    def _judge(self, error: ProviderUnavailableError, seconds: float) -> None:
        match error.outcome:
            case CallOutcome.FAILED:
                self._failed(error.retry_seconds, seconds)
            case CallOutcome.DECLINED:
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
