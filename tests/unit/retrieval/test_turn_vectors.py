"""One turn's embeddings: each text once, within the time there is, and long texts never before short ones."""

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from threading import Event, Lock

import pytest

from clara.retrieval.embedders import vector_of
from clara.retrieval.passage import Query
from clara.retrieval.ports import Embedder, EmbedderUnavailableError, Role
from clara.retrieval.turn_vectors import LONG_TOKENS, Deadline, EmbeddingSlots, OutOfTimeError, TurnVectors

PATIENCE = 200.0  # seconds that no test needs
NONE = 0.0
LONG = "long " * (LONG_TOKENS + 1)
SHORT = "¿Qué es el NIE?"


class Gated:
    """An embedder that begins whatever it is asked and ends it when it may: long texts only when the gate is open."""

    dimensions = 2

    def __init__(self, model: str = "here") -> None:
        self.model = model
        self.gate = Event()
        self.begun: list[str] = []
        self.long_begun = Event()
        self.most = self._now = 0
        self._lock = Lock()

    def embed(self, texts: Sequence[str], role: Role) -> list[list[float]]:
        with self._lock:
            self._now += 1
            self.most = max(self.most, self._now)
        self.begun += texts
        if texts[0] != SHORT:
            self.long_begun.set()
            assert self.gate.wait(PATIENCE)
        with self._lock:
            self._now -= 1
        return [[0.6, 0.8] for _ in texts]


@pytest.fixture
def gated() -> Iterator[Gated]:
    made = Gated()
    yield made
    made.gate.set()


@pytest.fixture
def slots(gated: Gated) -> Iterator[EmbeddingSlots]:
    made = EmbeddingSlots(gated.model, lambda text, _role: len(text.split()), short=2, long=1)
    yield made
    gated.gate.set()
    made.close()


def clock(*moments: float) -> Callable[[], float]:
    """Give a clock that shows these moments, one after the other."""
    shown = iter(moments)
    return lambda: next(shown)


def test_a_text_is_embedded_once_a_turn() -> None:
    """However often it is asked for; another text, or another model, is another vector."""
    asked: list[tuple[str, str]] = []

    def embed(embedder: Embedder, text: str, _patience: float) -> tuple[float, ...]:
        asked.append((embedder.model, text))
        return (1.0, 0.0)

    vectors, here, there = TurnVectors(embed), Gated(), Gated("there")
    for embedder, text in ((here, "a"), (here, "a"), (here, "b"), (there, "a"), (here, "b")):
        assert vectors.of(embedder, text) == (1.0, 0.0)
    assert asked == [("here", "a"), ("here", "b"), ("there", "a")]


def test_what_is_left_of_the_time_is_what_one_waits_for(gated: Gated) -> None:
    """The patience shrinks as the turn goes on, and past its end nothing is asked, nor given again."""
    waited: list[float] = []

    def embed(_embedder: Embedder, _text: str, patience: float) -> tuple[float, ...]:
        waited.append(patience)
        return (1.0, 0.0)

    vectors = TurnVectors(embed, Deadline(13.0, clock(10.0, 12.5, 13.0, 14.0)))
    vectors.of(gated, "a")
    vectors.of(gated, "b")
    for text in ("a", "c"):
        with pytest.raises(OutOfTimeError):
            vectors.of(gated, text)
    assert waited == [3.0, 0.5]


def test_a_query_brings_its_vector_or_its_turn(gated: Gated) -> None:
    """A carried vector of the same model is taken; else the turn's; without a turn the embedder is asked."""
    gated.gate.set()
    made = TurnVectors(lambda _embedder, _text, _patience: (0.0, 1.0))
    assert vector_of(Query("x", "c", vector=(1.0, 0.0), model="here", vectors=made), gated) == (1.0, 0.0)
    assert vector_of(Query("x", "c", vector=(1.0, 0.0), model="there", vectors=made), gated) == (0.0, 1.0)
    assert (gated.begun, vector_of(Query("x", "c"), gated), gated.begun) == (["x"], [0.6, 0.8], ["x"])


def test_a_short_text_does_not_wait_for_a_long_one(gated: Gated, slots: EmbeddingSlots) -> None:
    """Nor for many: one long text is embedded at a time, and the threads of the short ones are never theirs."""
    with ThreadPoolExecutor(4) as askers:
        asked = [askers.submit(slots.embed, gated, LONG, PATIENCE) for _ in range(4)]
        assert gated.long_begun.wait(PATIENCE)
        assert slots.embed(gated, SHORT, PATIENCE) == [0.6, 0.8]
        assert gated.begun == [LONG, SHORT]
        gated.gate.set()
        assert [one.result(PATIENCE) for one in asked] == [[0.6, 0.8]] * 4
    assert gated.begun.count(LONG) == 4
    assert gated.most == 2


def test_who_has_no_time_left_goes_on_without(gated: Gated, slots: EmbeddingSlots) -> None:
    """An embedding under way goes on and keeps its thread; one that had not begun by then never begins."""
    with ThreadPoolExecutor(1) as asker:
        first = asker.submit(slots.embed, gated, LONG, PATIENCE)
        assert gated.long_begun.wait(PATIENCE)
        with pytest.raises(OutOfTimeError, match="it had not begun"):
            slots.embed(gated, f"{LONG} never", NONE)
        gated.gate.set()
        first.result(PATIENCE)
    assert slots.embed(gated, f"{LONG} after", PATIENCE) == [0.6, 0.8]
    assert gated.begun == [LONG, f"{LONG} after"]


def test_an_abandoned_embedding_harms_nobody(gated: Gated, slots: EmbeddingSlots) -> None:
    """Who asked for it is gone; the next long one has its turn when it ends, and short ones have theirs meanwhile."""
    with ThreadPoolExecutor(1) as asker:
        abandoned = asker.submit(slots.embed, gated, LONG, 0.001)
        with pytest.raises(OutOfTimeError):
            abandoned.result(PATIENCE)
    assert slots.embed(gated, SHORT, PATIENCE) == [0.6, 0.8]
    gated.gate.set()
    assert slots.embed(gated, LONG, PATIENCE) == [0.6, 0.8]


def test_another_machines_model_is_asked_in_the_callers_thread(gated: Gated, slots: EmbeddingSlots) -> None:
    """It computes nothing here, so no slot is taken for it, however long its text."""
    there = Gated("there")
    there.gate.set()
    with ThreadPoolExecutor(1) as asker:
        asker.submit(slots.embed, gated, LONG, PATIENCE)
        assert gated.long_begun.wait(PATIENCE)
        assert slots.embed(there, LONG, NONE) == [0.6, 0.8]
        gated.gate.set()


def test_what_the_embedder_says_comes_through(slots: EmbeddingSlots) -> None:
    """An embedder that is out is told from one that is late."""

    class Out(Gated):
        def embed(self, texts: Sequence[str], role: Role) -> list[list[float]]:
            raise EmbedderUnavailableError("no model")

    with pytest.raises(EmbedderUnavailableError, match="no model") as caught:
        slots.embed(Out(), SHORT, PATIENCE)
    assert not isinstance(caught.value, OutOfTimeError)
