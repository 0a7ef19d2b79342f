"""Tests of remembering what was embedded."""

from collections.abc import Callable

import numpy as np
import pytest
from tests.unit.retrieval.dict_memory import DictMemory, DigestEmbedder

from clara.retrieval.embedding_memory import BATCH, Computed, EmbeddingMemoryUnavailableError, MemorisingEmbedder, key_of
from clara.retrieval.ports import EmbedderUnavailableError, Role


class Ticking:
    """A clock that moves only when something spends time."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now

    def spend(self, texts: int) -> None:
        self.now += 0.25 * texts


def memorising(
    embedder: DigestEmbedder,
    memory: DictMemory,
    on_failure: Callable[[EmbeddingMemoryUnavailableError], None] = pytest.fail,
    **options: object,
) -> MemorisingEmbedder:
    return MemorisingEmbedder(embedder, memory, on_failure, **options)


def test_only_what_is_missing_is_computed_in_one_call() -> None:
    """A second call asks the embedder for the new texts only, all at once, and keeps the order."""
    embedder, memory = DigestEmbedder(), DictMemory()
    remembering = memorising(embedder, memory)
    before = remembering.embed(["a", "b"], "passage")
    after = remembering.embed(["c", "b", "d", "a"], "passage")
    assert embedder.asked == [["a", "b"], ["c", "d"]]
    assert (after[3], after[1]) == tuple(before)
    expected = np.array(DigestEmbedder().embed(["c", "b", "d", "a"], "passage"), np.float32)
    assert np.array_equal(np.array(after, np.float32), expected)


def test_a_text_is_computed_once_a_call() -> None:
    """Duplicates, also those that differ in blanks or compatible characters only, share one computation."""
    embedder, memory = DigestEmbedder(), DictMemory()
    vectors = memorising(embedder, memory).embed(["la fi", "x", " la\tﬁ", "x"], "passage")
    assert embedder.asked == [["la fi", "x"]]
    assert vectors[0] == vectors[2]
    assert vectors[1] == vectors[3]
    assert vectors[0] is not vectors[2]


@pytest.mark.parametrize(
    ("embedder", "text", "role"),
    [
        pytest.param(DigestEmbedder(model="another"), "el NIE", "passage", id="model"),
        pytest.param(DigestEmbedder(dimensions=4), "el NIE", "passage", id="size"),
        pytest.param(DigestEmbedder(), "el NIE", "query", id="role"),
        pytest.param(DigestEmbedder(), "el nie", "passage", id="case"),
        pytest.param(DigestEmbedder(), "él NIE", "passage", id="accent"),
        pytest.param(DigestEmbedder(model='digest", "passage'), "el NIE", "passage", id="forged-boundary"),
    ],
)
def test_what_makes_another_vector_makes_another_key(embedder: DigestEmbedder, text: str, role: Role) -> None:
    """Model, size, role, case and accents tell keys apart."""
    assert key_of(embedder, text, role) != key_of(DigestEmbedder(), "el NIE", "passage")


@pytest.mark.parametrize("hostile", ["\ud800", "\x00", "a" * 100_000, ""])
def test_any_text_has_a_key(hostile: str) -> None:
    """No text breaks the key, and it is a digest whatever the text."""
    assert len(key_of(DigestEmbedder(), hostile, "passage")) == 64


def test_questions_pass_through() -> None:
    """What people ask is neither looked up nor stored, unless the caller says that these are no people's questions."""
    embedder, memory = DigestEmbedder(), DictMemory()
    for _ in range(2):
        memorising(embedder, memory).embed(["¿qué es el NIE?"], "query")
    assert (len(embedder.asked), memory.asked, memory.held) == (2, [], {})
    for _ in range(2):
        memorising(embedder, memory, remember_queries=True).embed(["¿qué es el NIE?"], "query")
    assert (len(embedder.asked), len(memory.held)) == (3, 1)


def test_batches() -> None:
    """Many texts are looked up, computed and stored a batch at a time, so that an end in the middle loses one batch."""
    embedder, memory = DigestEmbedder(), DictMemory()
    texts = [f"text {number}" for number in range(2 * BATCH + 1)]
    memorising(embedder, memory).embed(texts, "passage")
    assert [len(asked) for asked in embedder.asked] == [BATCH, BATCH, 1]
    assert [len(stored) for stored in memory.stored] == [BATCH, BATCH, 1]


def test_a_load_that_was_killed_resumes() -> None:
    """After the embedder left in the third batch, a second try computes that batch only."""
    texts = [f"text {number}" for number in range(3 * BATCH)]
    memory, left = DictMemory(), []

    def leave(_texts: int) -> None:
        left.append(1)
        if len(left) == 3:
            raise EmbedderUnavailableError("gone")

    with pytest.raises(EmbedderUnavailableError):
        memorising(DigestEmbedder(spend=leave), memory).embed(texts, "passage")
    again = DigestEmbedder()
    memorising(again, memory).embed(texts, "passage")
    assert again.asked == [texts[2 * BATCH :]]


def test_what_a_vector_took() -> None:
    """The time of a call is shared by the texts that were computed in it, not by those that were known."""
    clock, memory = Ticking(), DictMemory()
    remembering = memorising(DigestEmbedder(spend=clock.spend), memory, clock=clock)
    remembering.embed(["a", "b"], "passage")
    remembering.embed(["a", "b", "c", "d"], "passage")
    assert [made.milliseconds for made in memory.held.values()] == [250.0] * 4


@pytest.mark.parametrize(
    "damaged",
    [
        pytest.param([0.6, 0.8], id="another-size"),
        pytest.param([0.5] + [0.0] * 7, id="short"),
        pytest.param([0.0] * 8, id="zero"),
        pytest.param([float("nan")] + [0.0] * 7, id="nan"),
        pytest.param([float("inf")] + [0.0] * 7, id="infinite"),
    ],
)
def test_a_damaged_vector_is_computed_anew(damaged: list[float]) -> None:
    """What is not a unit vector of the right size is not given but replaced."""
    embedder, memory = DigestEmbedder(), DictMemory()
    key = key_of(embedder, "a", "passage")
    memory.held["digest", key] = Computed(np.array(damaged, np.float32), 1.0)
    (vector,) = memorising(embedder, memory).embed(["a"], "passage")
    assert vector == memory.held["digest", key].vector.tolist()
    assert np.linalg.norm(vector) == pytest.approx(1.0, abs=1e-6)


def test_nothing_to_embed_is_not_stored() -> None:
    """The zero vector of a blank text keeps its place and is not remembered."""
    memory = DictMemory()
    vectors = memorising(DigestEmbedder(), memory).embed(["", "a", " "], "passage")
    assert [any(vector) for vector in vectors] == [False, True, False]
    assert len(memory.held) == 1


@pytest.mark.parametrize(("deaf", "full", "lookups"), [(True, False, 0), (False, True, 1), (True, True, 0)])
def test_an_outage_of_the_memory_stops_nothing(deaf: bool, full: bool, lookups: int) -> None:
    """Without the memory every vector is computed; it is reported once a call and not asked again in that call."""
    embedder, memory = DigestEmbedder(), DictMemory()
    memory.deaf, memory.full = deaf, full
    failures: list[EmbeddingMemoryUnavailableError] = []
    texts = [f"text {number}" for number in range(2 * BATCH)]
    vectors = memorising(embedder, memory, failures.append).embed(texts, "passage")
    assert np.array_equal(np.array(vectors, np.float32), np.array(DigestEmbedder().embed(texts, "passage"), np.float32))
    assert (len(failures), len(memory.asked), memory.held) == (1, lookups, {})


def test_an_outage_of_the_embedder_is_raised() -> None:
    """What the memory does not hold cannot be given without the embedder."""

    def leave(_texts: int) -> None:
        raise EmbedderUnavailableError("gone")

    with pytest.raises(EmbedderUnavailableError):
        memorising(DigestEmbedder(spend=leave), DictMemory()).embed(["a"], "passage")
