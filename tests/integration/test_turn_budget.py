"""What one turn may cost, through the worker's own way of answering: one embedding, and no more than its time."""

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from threading import Event

import pytest
from tests.integration.wired import bundled, wired

from clara.answering.message import Reply, ReplyStatus
from clara.container import TURN_SECONDS, Container
from clara.delivery.message import Case, Incoming
from clara.knowledge.keyword_tier import KEYWORD
from clara.processes.worker import answer
from clara.retrieval.hybrid import TIER as HYBRID
from clara.retrieval.ports import Embedder, Role, Vector
from clara.retrieval.turn_vectors import EmbeddingSlots, OutOfTimeError

PATIENCE = 200.0  # seconds that no test needs
KNOWN = "¿Cuánto cuesta el NIE?"
FOREIGN = "¿Quién ganó la liga de fútbol en 1987?"
LONG = "我想申请居留 quiero el NIE, " * 150


class Counting:
    """The real embedder, counted; what it is asked while it is held ends when it is let go."""

    def __init__(self) -> None:
        self._embedder = bundled()
        self.model, self.dimensions = self._embedder.model, self._embedder.dimensions
        self.asked: list[str] = []
        self.begun, self.free = Event(), Event()
        self.free.set()

    def embed(self, texts: Sequence[str], role: Role) -> list[list[float]]:
        self.asked += texts
        self.begun.set()
        assert self.free.wait(PATIENCE)
        return self._embedder.embed(texts, role)


class Waiting(EmbeddingSlots):
    """Notes how long it may take."""

    def __init__(self, seen: list[float]) -> None:
        super().__init__("none", lambda _text, _role: 0)
        self._seen = seen

    def embed(self, embedder: Embedder, text: str, patience: float) -> Vector:
        self._seen.append(patience)
        return (1.0,)


@pytest.fixture
def counting() -> Iterator[Counting]:
    made = Counting()
    yield made
    made.free.set()


@pytest.fixture
def services(knowledge_url: str, counting: Counting) -> Iterator[Container]:
    with wired(knowledge_url, clara_channel="local") as made:
        made.local, made.embedder = bundled(), counting
        made.turn_seconds, made.clock = PATIENCE, lambda: 0.0  # time stands still
        yield made
        counting.free.set()


def said(services: Container, text: str) -> Reply:
    return answer(services, Case(1, 1, Incoming("SM1", "local", "", "", text), "somebody", False, None))


def clock(*moments: float) -> Callable[[], float]:
    """Give a clock that shows these moments, the last one from then on."""
    shown = iter(moments)
    return lambda: next(shown, moments[-1])


@pytest.mark.parametrize(
    ("text", "statuses"),
    [
        pytest.param(KNOWN, {ReplyStatus.ANSWERED, ReplyStatus.CLARIFIED}, id="found"),
        pytest.param(FOREIGN, {ReplyStatus.OUT_OF_SCOPE, ReplyStatus.NOT_FOUND}, id="not-found-and-told-apart"),
    ],
)
def test_a_message_is_embedded_once(services: Container, counting: Counting, text: str, statuses: set[ReplyStatus]) -> None:
    """Search, understanding and scope share one vector."""
    assert said(services, text).status in statuses
    assert counting.asked == [text]


def test_a_turn_has_three_seconds(knowledge_url: str) -> None:
    """By its own clock, from the moment when it asks for its time."""
    with wired(knowledge_url, clara_channel="local") as services:
        services.clock = clock(100.0, 100.0 + TURN_SECONDS - 0.5, 100.0 + TURN_SECONDS)
        seen: list[float] = []
        services.slots = Waiting(seen)
        vectors = services.turn_vectors()
        vectors.of(bundled(), KNOWN)
        with pytest.raises(OutOfTimeError):
            vectors.of(bundled(), KNOWN)
    assert (TURN_SECONDS, seen) == (3.0, [0.5])


def test_past_its_time_a_turn_is_answered_from_keywords(services: Container, counting: Counting) -> None:
    """Nothing is embedded any more, and the reply says that it may be less complete."""
    services.clock = clock(0.0, PATIENCE + 0.1)
    reply = said(services, KNOWN)
    assert (reply.status, reply.tier, counting.asked) == (ReplyStatus.ANSWERED, KEYWORD, [])
    assert services.snapshot().tools.say("es", "degraded") in reply.text


def test_an_embedder_that_does_not_end_costs_its_own_turn_only(services: Container, counting: Counting) -> None:
    """The wait for it counts; while its thread is kept, keywords go on and short questions are embedded."""
    counting.free.clear()
    with ThreadPoolExecutor(1) as other:
        stuck = other.submit(said, services, LONG)
        assert counting.begun.wait(PATIENCE)
        services.clock = clock(0.0, PATIENCE - 0.01)  # what is left when it waits
        late = said(services, LONG)
        assert late.text
        assert late.tier != HYBRID
        assert len(counting.asked) == 1
        counting.free.set()
        assert stuck.result(PATIENCE).text
        services.clock = lambda: 0.0
        assert said(services, KNOWN).tier == HYBRID


def test_somebody_in_danger_needs_no_embedder(services: Container, counting: Counting) -> None:
    """However little time there is."""
    services.clock = clock(0.0, PATIENCE + 0.1)
    assert (said(services, "quiero morir").status, counting.asked) == (ReplyStatus.URGENT, [])
