"""What the cache needs from outside, names of remembered values, and a cache that believes only what it wrote itself."""

import hashlib
import hmac
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol

from clara.errors import Unavailable


class Event(StrEnum):
    """What happened to one question, or on its way."""

    EXACT = "exact"
    SEMANTIC = "semantic"
    MISS = "miss"
    BYPASSED = "bypassed"
    STORED = "stored"
    UNAVAILABLE = "unavailable"
    DAMAGED = "damaged"


class CacheUnavailableError(Unavailable):
    """The cache could not be asked. Whoever asked it computes the value instead: no answer is lost."""


class Cache(Protocol):
    """Holds bytes under a key for a while. It may forget any of them at any moment."""

    def get(self, key: str) -> bytes | None:
        """Give the value, None when there is none or its time is over. Raises CacheUnavailableError."""

    def put(self, key: str, value: bytes, seconds: float) -> None:
        """Hold the value for at most so many seconds, in place of an older one; for 0 or less, hold none.

        Raises CacheUnavailableError.
        """


# RFC 2104, section 3: a key shorter than the digest's 32 bytes weakens it.
MINIMUM_SECRET_BYTES = 32


class Keys:
    """Makes digests with one secret. Each purpose has digests of its own: a key is no seal and no word."""

    def __init__(self, secret: bytes) -> None:
        if len(secret) < MINIMUM_SECRET_BYTES:
            raise ValueError(f"the secret of the cache has {len(secret)} bytes; give {MINIMUM_SECRET_BYTES} or more")
        self._secret = secret

    def digest(self, purpose: str, *parts: str | bytes) -> bytes:
        """Give the HMAC-SHA256 (32 bytes) of the parts; other parts, or the same text cut elsewhere, give another one."""
        message = bytearray()
        for part in (purpose, *parts):
            # A lone surrogate stays what it is, so that two broken texts do not share a key.
            encoded = part if isinstance(part, bytes) else part.encode("utf-8", "surrogatepass")
            message += len(encoded).to_bytes(8, "big")
            message += encoded
        return hmac.digest(self._secret, message, "sha256")

    def key(self, *parts: str) -> str:
        """Give the name of a value: 64 hexadecimal digits."""
        return self.digest("key", *parts).hex()


@dataclass(frozen=True, slots=True)
class Fingerprint:
    """What a remembered value was computed from: when any of it changes, the value is out of reach.

    `corpus` is the version of what was searched, `model` the embedding model, `configuration` a digest of everything else
    that shapes a result.
    """

    corpus: str
    model: str
    configuration: str

    @property
    def namespace(self) -> str:
        """Give the fingerprint as 64 hexadecimal digits."""
        joined = "".join(f"{len(part)}:{part}" for part in (self.corpus, self.model, self.configuration))
        return hashlib.sha256(joined.encode("utf-8", "surrogatepass")).hexdigest()


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
