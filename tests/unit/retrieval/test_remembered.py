"""Tests of vectors that were computed before."""

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from clara.retrieval.embedders import RememberingEmbedder, digest_of, read_vectors, write_vectors
from clara.retrieval.ports import Role

KNOWN = {"el NIE": [0.6, 0.8], "la TIE": [1.0, 0.0]}


class CountingEmbedder:
    """Turns each text into a direction by its length, and notes what it was asked."""

    model = "counting"
    dimensions = 2

    def __init__(self) -> None:
        self.asked: list[tuple[list[str], Role]] = []

    def embed(self, texts: Sequence[str], role: Role) -> list[list[float]]:
        """Give a unit vector for each text."""
        self.asked.append((list(texts), role))
        return [[math.cos(len(text)), math.sin(len(text))] for text in texts]


def remembering(embedder: CountingEmbedder, known: Mapping[str, Sequence[float]] = KNOWN) -> RememberingEmbedder:
    """Wrap an embedder so that it knows these passages."""
    stored = {digest_of(text, "passage"): np.array(vector, dtype=np.float16) for text, vector in known.items()}
    return RememberingEmbedder(embedder, stored)


def test_known_at_once() -> None:
    """Known vectors are given without asking the embedder anything, back at length 1."""
    embedder = CountingEmbedder()
    vectors = remembering(embedder).embed(["la TIE", "el NIE"], "passage")
    assert vectors == [[1.0, 0.0], pytest.approx([0.6, 0.8], abs=5e-4)]
    assert math.hypot(*vectors[1]) == pytest.approx(1.0, abs=1e-12)
    assert embedder.asked == []


def test_unknown_are_asked() -> None:
    """Only unknown texts are asked for, at once, and each vector stands where its text does."""
    embedder = CountingEmbedder()
    vectors = remembering(embedder).embed(["a", "la TIE", "bb", "el NIE", "a"], "passage")
    assert embedder.asked == [(["a", "bb", "a"], "passage")]
    one, two = [math.cos(1), math.sin(1)], [math.cos(2), math.sin(2)]
    assert vectors == [one, [1.0, 0.0], two, pytest.approx([0.6, 0.8], abs=5e-4), one]


def test_role_counts() -> None:
    """A text known as a passage is unknown as a question."""
    embedder = CountingEmbedder()
    remembering(embedder).embed(["el NIE"], "query")
    assert embedder.asked == [(["el NIE"], "query")]


def test_same_space() -> None:
    """It stands in for the embedder that it wraps: the same model, the same size."""
    wrapped = remembering(CountingEmbedder())
    assert (wrapped.model, wrapped.dimensions) == ("counting", 2)


def test_nothing_to_embed() -> None:
    """The zero vector of a text with nothing to embed stays the zero vector."""
    assert remembering(CountingEmbedder(), {" ": [0.0, 0.0]}).embed([" "], "passage") == [[0.0, 0.0]]


@given(st.lists(st.text(st.characters(exclude_categories=[]), max_size=20), max_size=8), st.sets(st.integers(0, 7)))
def test_knowing_changes_nothing(texts: list[str], remembered: set[int]) -> None:
    """Whichever texts are known, the vectors are those of the embedder, to half precision."""
    expected = CountingEmbedder().embed(texts, "passage")
    known = {text: vector for place, (text, vector) in enumerate(zip(texts, expected, strict=True)) if place in remembered}
    vectors = remembering(CountingEmbedder(), known).embed(texts, "passage")
    assert len(vectors) == len(expected)
    for vector, right in zip(vectors, expected, strict=True):
        assert vector == pytest.approx(right, abs=1e-3)


def test_round_trip(tmp_path: Path) -> None:
    """What is written is read, to half precision."""
    file = tmp_path / "vectors.npz"
    write_vectors(file, "counting", KNOWN)
    vectors = read_vectors(file, "counting")
    assert vectors.keys() == KNOWN.keys()
    assert all(vectors[text].tolist() == pytest.approx(vector, abs=5e-4) for text, vector in KNOWN.items())


def test_nothing_to_remember(tmp_path: Path) -> None:
    """No vectors are written and read as none."""
    file = tmp_path / "vectors.npz"
    write_vectors(file, "counting", {})
    assert read_vectors(file, "counting") == {}


def test_another_model(tmp_path: Path) -> None:
    """The vectors of another model are of no use and are not given."""
    file = tmp_path / "vectors.npz"
    write_vectors(file, "another", KNOWN)
    assert read_vectors(file, "counting") == {}


def test_half_precision() -> None:
    """Half precision changes the cosine of 384 dimensions by less than .0005, as the writer promises."""
    exact = np.random.default_rng(7).normal(size=(200, 384))
    exact /= np.linalg.norm(exact, axis=1, keepdims=True)
    halved = exact.astype(np.float16).astype(np.float64)
    cosines = (exact @ exact.T) - (halved @ halved.T) / np.outer(*[np.linalg.norm(halved, axis=1)] * 2)
    assert float(np.abs(cosines).max()) < 5e-4


def other_arrays(file: Path, **arrays: Any) -> None:
    """Write a file with these arrays."""
    np.savez(file, **arrays)


@pytest.mark.parametrize(
    "write",
    [
        pytest.param(lambda _file: None, id="missing"),
        pytest.param(lambda file: file.mkdir(), id="folder"),
        pytest.param(lambda file: file.write_bytes(b""), id="empty"),
        pytest.param(lambda file: file.write_text("hello"), id="text"),
        pytest.param(lambda file: other_arrays(file, model=np.array("counting")), id="without-vectors"),
        pytest.param(lambda file: other_arrays(file, digests=np.array(["a"]), vectors=np.ones((1, 2))), id="without-model"),
        pytest.param(
            lambda file: other_arrays(file, model=np.array("counting"), digests=np.array(["a"]), vectors=np.ones((2, 2))),
            id="too-many-vectors",
        ),
        pytest.param(
            lambda file: other_arrays(file, model=np.array("counting"), digests=np.array("a"), vectors=np.ones(2)),
            id="one-digest-only",
        ),
        pytest.param(
            lambda file: other_arrays(file, model=np.array("counting"), digests=np.array(["a"]), vectors=np.array(1.0)),
            id="one-number",
        ),
    ],
)
def test_damaged(tmp_path: Path, write: Any) -> None:
    """A file that is missing or damaged gives no vectors, and no error: everything can be computed again."""
    file = tmp_path / "vectors.npz"
    write(file)
    assert read_vectors(file, "counting") == {}


def test_cut_short(tmp_path: Path) -> None:
    """A file that was not written to its end gives no vectors."""
    file = tmp_path / "vectors.npz"
    write_vectors(file, "counting", KNOWN)
    file.write_bytes(file.read_bytes()[:-40])
    assert read_vectors(file, "counting") == {}
