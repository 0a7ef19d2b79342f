"""A result comes back from bytes exactly as it went."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clara.retrieval.cache.results import UnreadableResultError, decode, encode
from clara.retrieval.passage import Found, Hit, Passage, Status

TEXT = st.text(max_size=12)
NUMBER = st.floats(allow_nan=False)
RANK = st.none() | st.integers(1, 500)
JSON = st.dictionaries(
    TEXT,
    st.recursive(
        st.none() | st.booleans() | st.integers() | NUMBER | TEXT,
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
        max_leaves=4,
    ),
    max_size=3,
)
PASSAGES = st.builds(
    Passage,
    *[TEXT] * 5,
    heading=st.lists(TEXT, max_size=3).map(tuple),
    text=TEXT,
    language=TEXT,
    territory=TEXT,
    metadata=JSON,
)
SHARE = st.none() | NUMBER
VECTOR = st.none() | st.lists(NUMBER, max_size=3).map(tuple)
HITS = st.builds(Hit, PASSAGES, NUMBER, SHARE, SHARE, SHARE, NUMBER, RANK, RANK, st.booleans(), VECTOR)
NAMES = st.lists(TEXT, max_size=2).map(tuple)
FOUND = st.builds(
    Found,
    status=st.sampled_from(Status),
    tier=TEXT,
    hits=st.lists(HITS, max_size=2).map(tuple),
    outages=NAMES,
    timings_ms=st.dictionaries(TEXT, NUMBER, max_size=2),
    confidence=SHARE,
    failures=NAMES,
    relaxed=st.dictionaries(TEXT, NUMBER, max_size=2),
    trace=JSON,
    ended=st.lists(HITS, max_size=2).map(tuple),
)


@given(FOUND)
def test_every_field_comes_back(found):
    """Floats to the last bit, tuples as tuples, vectors, metadata and all of Unicode."""
    back = decode(encode(found))
    assert back == found
    assert [hit.vector for hit in back.hits] == [hit.vector for hit in found.hits]
    assert type(back.status) is Status


def test_a_lone_surrogate_becomes_a_question_mark():
    """A text that has no bytes does not stop a result from being remembered."""
    hit = Hit(Passage("p", "c", "k", "d", "s", ("\ud800",), "a\udfffb", "es"), 1.0)
    (back,) = decode(encode(Found(Status.FOUND, "t", (hit,)))).hits
    assert (back.passage.heading, back.passage.text) == (("?",), "a?b")


@pytest.mark.parametrize(
    "stored",
    [b"", b"\xff", b"[]", b"{}", b"7", json.dumps({"status": "other"}).encode(), encode(Found(Status.FOUND, "t"))[:-4]],
    ids=["empty", "no text", "list", "no fields", "number", "unknown status", "cut"],
)
def test_what_is_no_result_says_so(stored):
    """One named error, whatever is wrong."""
    with pytest.raises(UnreadableResultError, match="retrieved again"):
        decode(stored)


@pytest.mark.parametrize("place", [0, 10], ids=["of the passage", "of the scores"])
def test_a_hit_with_other_fields_says_so(place):
    """A value that another version of the program wrote is not half understood."""
    written = json.loads(encode(Found(Status.FOUND, "t", (Hit(Passage("p", "c", "k", "d", "s", (), "x", "es"), 1.0),))))
    (hit,) = written["hits"]
    (hit if place == 0 else hit[place]).pop(0)
    with pytest.raises(UnreadableResultError):
        decode(json.dumps(written).encode())
