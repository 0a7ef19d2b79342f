"""Tests of the hybrid tier."""

from collections.abc import Sequence

import pytest
from unit_builders import hit_of

from clara.retrieval.hybrid import TIER, hybrid
from clara.retrieval.passage import Found, Hit, Query, Status
from clara.retrieval.ports import EmbedderUnavailableError, IndexUnavailableError, Role, Vector

QUERY = Query("¿cuánto tarda?", "clara", limit=3, documents=("nie",))
HITS = [hit_of("nie-plazos-01", 1.0), hit_of("nie-plazos-02", 0.8)]


class FakeEmbedder:
    """Gives one vector for every text, or fails."""

    model = "fake"
    dimensions = 2

    def __init__(self, vector: Sequence[float] = (0.6, 0.8), error: Exception | None = None) -> None:
        self.asked: list[tuple[list[str], Role]] = []
        self._vector = list(vector)
        self._error = error

    def embed(self, texts: Sequence[str], role: Role) -> list[list[float]]:
        """Give the one vector."""
        self.asked.append((list(texts), role))
        if self._error:
            raise self._error
        return [self._vector for _ in texts]


class FakeIndex:
    """Gives fixed hits, or fails."""

    def __init__(self, hits: Sequence[Hit] = tuple(HITS), error: Exception | None = None) -> None:
        self.asked: list[tuple[Query, list[float]]] = []
        self._hits = list(hits)
        self._error = error

    def search(self, query: Query, vector: Vector) -> list[Hit]:
        """Give the fixed hits."""
        self.asked.append((query, list(vector)))
        if self._error:
            raise self._error
        return self._hits


def always(_query: Query, _hits: Sequence[Hit]) -> bool:
    """Accept any evidence."""
    return True


def test_confident_hits_are_found() -> None:
    """Hits that are good enough come back as evidence, best first."""
    found = hybrid(FakeEmbedder(), FakeIndex(), always)(QUERY)
    assert (found.status, found.tier, found.hits, found.outages) == (Status.FOUND, TIER, tuple(HITS), ())


def test_question_is_embedded_as_a_query() -> None:
    """The question is embedded once, as a query, and the index gets it whole together with its vector."""
    embedder, index = FakeEmbedder(), FakeIndex()
    hybrid(embedder, index, always)(QUERY)
    assert embedder.asked == [(["¿cuánto tarda?"], "query")]
    assert index.asked == [(QUERY, [0.6, 0.8])]


def test_zero_vector() -> None:
    """A question with nothing to embed is a miss, and the index is not even asked."""
    index = FakeIndex()
    found = hybrid(FakeEmbedder([0.0, 0.0]), index, always)(QUERY)
    assert (found.status, found.hits) == (Status.NOT_FOUND, ())
    assert index.asked == []


def test_not_confident() -> None:
    """Hits that are not good enough are a miss, and none of them is handed on."""
    found = hybrid(FakeEmbedder(), FakeIndex(), lambda _query, _hits: False)(QUERY)
    assert (found.status, found.tier, found.hits) == (Status.NOT_FOUND, TIER, ())


def test_confidence_is_asked_about_these_hits() -> None:
    """The decision is made on the question and the hits of this very search."""
    judged: list[tuple[Query, list[Hit]]] = []

    def judge(query: Query, hits: Sequence[Hit]) -> bool:
        judged.append((query, list(hits)))
        return True

    hybrid(FakeEmbedder(), FakeIndex(), judge)(QUERY)
    assert judged == [(QUERY, HITS)]


def test_no_hits() -> None:
    """Without hits the status is NOT_FOUND, even when the decision would accept anything."""
    assert hybrid(FakeEmbedder(), FakeIndex([]), always)(QUERY).status is Status.NOT_FOUND


@pytest.mark.parametrize(
    ("embedder", "index", "error"),
    [
        pytest.param(FakeEmbedder(error=EmbedderUnavailableError("x")), FakeIndex(), EmbedderUnavailableError, id="embedder"),
        pytest.param(FakeEmbedder(), FakeIndex(error=IndexUnavailableError("x")), IndexUnavailableError, id="index"),
    ],
)
def test_outage_propagates(embedder: FakeEmbedder, index: FakeIndex, error: type[Exception]) -> None:
    """An outage of the embedder or the index is raised, never turned into a miss."""
    with pytest.raises(error):
        hybrid(embedder, index, always)(QUERY)


@pytest.mark.parametrize("vector", [pytest.param((0.6, 0.8), id="found"), pytest.param((0.0, 0.0), id="miss")])
def test_timings(vector: Sequence[float]) -> None:
    """Both stages are timed, whatever the outcome."""
    found: Found = hybrid(FakeEmbedder(vector), FakeIndex(), always)(QUERY)
    assert set(found.timings_ms) == {"embed", "search"}
    assert min(found.timings_ms.values()) >= 0
