"""Keys hold no text, and different things never share one."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clara.retrieval.cache.keys import Fingerprint, Keys

SECRET = b"a secret of thirty-two bytes, yes"
KEYS = Keys(SECRET)
TEXTS = st.lists(st.text(st.characters(codec=None), max_size=6), max_size=4)


@given(TEXTS, TEXTS)
def test_only_the_same_parts_give_the_same_key(one, other):
    """Neither joining nor cutting parts elsewhere, nor lone surrogates, make two keys meet."""
    assert (KEYS.key(*one) == KEYS.key(*other)) == (one == other)


def test_a_key_says_nothing():
    """It is 64 hexadecimal digits, others for each secret and each purpose."""
    key = KEYS.key("me llamo Ana")
    assert len(key) == 64
    assert set(key) <= set("0123456789abcdef")
    assert Keys(SECRET[::-1]).key("me llamo Ana") != key
    assert KEYS.digest("word", "me llamo Ana").hex() != key


def test_a_short_secret_is_refused():
    """A secret that could be guessed stops the start, and the message says what to give."""
    with pytest.raises(ValueError, match="give 32 or more"):
        Keys(b"short")


@pytest.mark.parametrize("changed", [("2", "m", "c"), ("1", "n", "c"), ("1", "m", "d"), ("1m", "", "c")], ids=str)
def test_a_fingerprint_changes_with_each_part(changed):
    """A new version, model or configuration has a namespace of its own."""
    assert Fingerprint(*changed).namespace != Fingerprint("1", "m", "c").namespace
    assert Fingerprint("1", "m", "c").namespace == Fingerprint("1", "m", "c").namespace
