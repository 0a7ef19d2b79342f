"""What the cache gives back is what was put, or nothing."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clara.adapters.memory_cache import MemoryCache
from clara.retrieval.cache.keys import Keys, SealedCache

SECRET = b"a secret of thirty-two bytes, yes"


def sealed(secret=SECRET):
    raw, damaged = MemoryCache(), []
    return raw, SealedCache(raw, Keys(secret), damaged.append), damaged


@given(st.binary(max_size=200))
def test_a_value_comes_back_whole(value):
    """Any bytes come back, the empty ones too."""
    _, cache, damaged = sealed()
    cache.put("k", value, 60)
    assert cache.get("k") == value
    assert damaged == []


@pytest.mark.parametrize(
    "harm",
    [
        lambda stored: stored[:-1],
        lambda stored: stored[:10],
        lambda stored: stored[:0],
        lambda stored: stored + b"x",
        lambda stored: bytes([stored[0] ^ 1]) + stored[1:],
        lambda stored: stored[:-1] + bytes([stored[-1] ^ 1]),
        lambda stored: stored[32:],
    ],
    ids=["cut short", "cut inside the seal", "empty", "longer", "another seal", "another value", "no seal"],
)
def test_a_damaged_value_reads_as_none_and_is_counted(harm):
    """Nothing that was not written as it stands is believed."""
    raw, cache, damaged = sealed()
    cache.put("k", b"value", 60)
    raw.put("k", harm(raw.get("k")), 60)
    assert cache.get("k") is None
    assert damaged == ["k"]


def test_a_value_of_another_key_or_secret_is_not_believed():
    """A value that was moved, or written by somebody else, is none."""
    raw, cache, damaged = sealed()
    cache.put("k", b"value", 60)
    raw.put("other", raw.get("k"), 60)
    SealedCache(raw, Keys(SECRET[::-1]), damaged.append).put("foreign", b"value", 60)
    assert [cache.get("other"), cache.get("foreign"), cache.get("nothing")] == [None, None, None]
    assert damaged == ["other", "foreign"]
