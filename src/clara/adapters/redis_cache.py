"""A cache in Redis. A Redis that hangs costs one time-out now and then, not one for every message."""

import time
from collections.abc import Callable
from threading import Lock

from redis import Redis, RedisError
from redis.backoff import NoBackoff
from redis.retry import Retry

from clara.retrieval.cache.keys import CacheUnavailableError

# A GET of 9 KB took 0.1 ms (the longest of 1,000: 0.9 ms) from a Redis on the same machine. A quarter of a second leaves room
# for a network, and a person does not notice it.
TIMEOUT_SECONDS = 0.25
# For so long nobody asks a Redis that failed: at one message a second a hung one costs 50 ms a message on average.
SKIP_SECONDS = 5.0

# What the client raises for an unreachable or hung server and for an error it reports; the rest is what its parser lets
# through when the other side does not speak the protocol: bad numbers, nesting without end, wrong kinds of value.
_FAILURES = (RedisError, OSError, ValueError, TypeError, AttributeError, LookupError, RuntimeError)


class RedisCache:
    """Holds values in Redis under `prefix` + key, each with its time to live; safe between threads.

    After a failure it raises CacheUnavailableError at once for `skip_seconds`; then one caller tries again. `clock` gives
    seconds that never go back. `url` is redis://, rediss:// or unix://; ValueError when it is none of them.
    """

    def __init__(
        self,
        url: str,
        prefix: str,
        timeout: float = TIMEOUT_SECONDS,
        skip_seconds: float = SKIP_SECONDS,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        # Protocol 2 needs no greeting, and without the client's name (`driver_info`) a new connection costs no exchange.
        self._redis: Redis = Redis.from_url(
            url,
            socket_timeout=timeout,
            socket_connect_timeout=timeout,
            retry=Retry(NoBackoff(), 0),
            protocol=2,
            driver_info=None,
        )
        self._prefix = prefix
        self._skip_seconds = skip_seconds
        self._clock = clock
        self._lock = Lock()
        self._failure: str | None = None
        self._again_at = 0.0

    def get(self, key: str) -> bytes | None:
        """Give the value, None when there is none. Raises CacheUnavailableError."""
        value = self._ask(lambda: self._redis.get(self._prefix + key))
        if value is None or isinstance(value, bytes):
            return value
        raise self._failed(f"gave {type(value).__name__} for a value")

    def put(self, key: str, value: bytes, seconds: float) -> None:
        """Hold the value for so many seconds, to the millisecond. Raises CacheUnavailableError."""
        milliseconds = int(seconds * 1000)
        if milliseconds < 1:
            self._ask(lambda: self._redis.delete(self._prefix + key))
        else:
            self._ask(lambda: self._redis.set(self._prefix + key, value, px=milliseconds))

    def close(self) -> None:
        """Close the connections."""
        self._redis.close()

    def _ask(self, command: Callable[[], object]) -> object:
        self._pass_or_skip()
        try:
            answer = command()
        except _FAILURES as error:
            raise self._failed(f"failed ({type(error).__name__})") from error
        with self._lock:
            self._failure = None
        return answer

    def _pass_or_skip(self) -> None:
        with self._lock:
            if self._failure is None:
                return
            if self._clock() < self._again_at:
                raise CacheUnavailableError(f"{self._failure}; it is not asked again for {self._skip_seconds:g} seconds")
            # The others go on skipping while this caller tries.
            self._again_at = self._clock() + self._skip_seconds

    def _failed(self, how: str) -> CacheUnavailableError:
        with self._lock:
            # Neither the address nor the error's own text: both may hold a password.
            self._failure = f"Redis {how}; check its address and that it runs"
            self._again_at = self._clock() + self._skip_seconds
            return CacheUnavailableError(self._failure)
