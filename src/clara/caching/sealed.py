"""A cache that believes only what it wrote itself."""

import hmac
from collections.abc import Callable

from clara.caching.keys import Keys
from clara.caching.ports import Cache

SEAL_BYTES = 32


class SealedCache:
    """Puts a seal over key and value before each value.

    A value that is damaged, cut short, moved to another key or written by somebody without the secret reads as no value;
    `on_damage` is then called with its key.
    """

    def __init__(self, cache: Cache, keys: Keys, on_damage: Callable[[str], None]) -> None:
        self._cache = cache
        self._keys = keys
        self._on_damage = on_damage

    def get(self, key: str) -> bytes | None:
        """Give the value that was put under this key. Raises CacheUnavailableError."""
        stored = self._cache.get(key)
        if stored is None:
            return None
        seal, value = stored[:SEAL_BYTES], stored[SEAL_BYTES:]
        if hmac.compare_digest(seal, self._keys.digest("seal", key, value)):
            return value
        self._on_damage(key)
        return None

    def put(self, key: str, value: bytes, seconds: float) -> None:
        """Seal the value and hold it. Raises CacheUnavailableError."""
        self._cache.put(key, self._keys.digest("seal", key, value) + value, seconds)
