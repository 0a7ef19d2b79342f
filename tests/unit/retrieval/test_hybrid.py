"""Tests of the hybrid tier."""

from collections.abc import Sequence
from dataclasses import replace

import pytest
from unit_builders import hit_of

from clara.retrieval.hybrid import TIER, as_asked, by_vectors_of, hybrid, plainly
from clara.retrieval.passage import Found, Hit, Query, Status
from clara.retrieval.ports import EmbedderUnavailableError, IndexUnavailableError, Role, Vector

QUERY = Query("¿cuánto tarda?", "clara", limit=3)
UNDERSTOOD = replace(QUERY, documents={"nie": 1.4}, sections={("nie", "plazos"): 0.3}, outside=0.05)
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


class FakeJudge:
    """Is as confident as it was told, and notes what it judged."""

    def __init__(self, chance: float = 0.9, threshold: float = 0.5) -> None:
        self.threshold = threshold
        self.judged: list[tuple[Query, list[Hit]]] = []
        self._chance = chance

    def probability(self, query: Query, hits: Sequence[Hit]) -> float:
        """Give the one probability."""
        self.judged.append((query, list(hits)))
        return self._chance

    def evidence(self, query: Query, hits: Sequence[Hit]) -> dict[str, float]:
        """Name the one thing it goes by."""
        return {"chance": self._chance}


def test_confident_hits_are_found() -> None:
    """Hits that are good enough come back as evidence, best first, with the confidence in them."""
    found = hybrid(FakeEmbedder(), plainly(FakeIndex()), FakeJudge(0.9))(QUERY)
    assert (found.status, found.tier, found.hits, found.outages) == (Status.FOUND, TIER, tuple(HITS), ())
    assert found.confidence == pytest.approx(0.9)


def test_question_is_embedded_as_a_query() -> None:
    """The question is embedded once, as a query, and the index gets it whole together with its vector."""
    embedder, index = FakeEmbedder(), FakeIndex()
    hybrid(embedder, plainly(index), FakeJudge())(QUERY)
    assert embedder.asked == [(["¿cuánto tarda?"], "query")]
    assert index.asked == [(QUERY, [0.6, 0.8])]


def test_what_was_understood_is_searched_and_judged() -> None:
    """The question is understood with its vector, once, and what was understood reaches the index and the judge."""
    index, judge = FakeIndex(), FakeJudge()
    heard: list[tuple[Query, Vector | None]] = []

    def understand(query: Query, vector: Vector | None) -> Query:
        heard.append((query, vector))
        return UNDERSTOOD

    hybrid(FakeEmbedder(), plainly(index), judge, understand)(QUERY)
    assert heard == [(QUERY, [0.6, 0.8])]
    assert index.asked == [(UNDERSTOOD, [0.6, 0.8])]
    assert judge.judged == [(UNDERSTOOD, HITS)]


def test_nothing_understood() -> None:
    """Where nothing understands questions, they are searched as they were asked."""
    assert as_asked(QUERY, [0.6, 0.8]) is QUERY


@pytest.mark.parametrize(
    ("embedder", "index", "asked"),
    [
        pytest.param(FakeEmbedder([0.0, 0.0]), FakeIndex(), 0, id="nothing-to-embed"),
        pytest.param(FakeEmbedder(), FakeIndex([]), 1, id="nothing-in-the-index"),
    ],
)
def test_nothing_to_judge(embedder: FakeEmbedder, index: FakeIndex, asked: int) -> None:
    """Without hits there is a miss and no confidence, whatever the judge says, so another tier may still be asked."""
    found = hybrid(embedder, plainly(index), FakeJudge(1.0))(QUERY)
    assert (found.status, found.hits, found.confidence) == (Status.NOT_FOUND, (), None)
    assert len(index.asked) == asked


@pytest.mark.parametrize(
    ("chance", "status"),
    [
        pytest.param(0.49, Status.NOT_FOUND, id="below"),
        pytest.param(0.5, Status.FOUND, id="reached-exactly"),
        pytest.param(0.51, Status.FOUND, id="above"),
        pytest.param(0.0, Status.NOT_FOUND, id="none"),
    ],
)
def test_threshold(chance: float, status: Status) -> None:
    """Hits are shown when the confidence reaches the threshold; else none is handed on, and the confidence is told."""
    found = hybrid(FakeEmbedder(), plainly(FakeIndex()), FakeJudge(chance))(QUERY)
    assert (found.status, found.tier, found.confidence) == (status, TIER, chance)
    assert found.hits == (tuple(HITS) if status is Status.FOUND else ())


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
        hybrid(embedder, plainly(index), FakeJudge())(QUERY)


@pytest.mark.parametrize("vector", [pytest.param((0.6, 0.8), id="found"), pytest.param((0.0, 0.0), id="miss")])
def test_timings(vector: Sequence[float]) -> None:
    """Each stage is timed, whatever the outcome."""
    found: Found = hybrid(FakeEmbedder(vector), plainly(FakeIndex()), FakeJudge())(QUERY)
    assert set(found.timings_ms) == {"embed", "understand", "search"}
    assert min(found.timings_ms.values()) >= 0


@pytest.mark.parametrize(
    ("made_by", "embedded"),
    [pytest.param("fake", 0, id="own"), pytest.param("", 0, id="vouched-for"), pytest.param("other", 1, id="foreign")],
)
def test_a_vector_of_another_model_is_not_used(made_by: str, embedded: int) -> None:
    """A query that carries a vector is embedded again only if another model made it; the index hears whose the vector is."""
    embedder, index = FakeEmbedder(), FakeIndex()
    hybrid(embedder, plainly(index), None)(replace(QUERY, vector=(0.8, 0.6), model=made_by))
    assert len(embedder.asked) == embedded
    ((asked, vector),) = index.asked
    assert (asked.model, vector) == ("fake", [0.6, 0.8] if embedded else [0.8, 0.6])


@pytest.mark.parametrize("out", [False, True], ids=["there", "out"])
def test_understanding_has_vectors_of_its_own(out: bool) -> None:
    """Whoever searches, a question is understood by the vector of the model it was trained on; without it, by its letters."""
    own, given = FakeEmbedder((1.0, 0.0), EmbedderUnavailableError("out") if out else None), []

    def understand(query: Query, vector: Vector | None) -> Query:
        given.append(vector)
        return UNDERSTOOD

    found = hybrid(FakeEmbedder(), plainly(FakeIndex()), None, by_vectors_of(own, understand))(QUERY)
    assert (found.status, given) == (Status.FOUND, [None if out else [1.0, 0.0]])


def test_what_has_ended_comes_apart() -> None:
    """It is not judged and is no evidence; beside the evidence it has the place that its score gives it."""
    ended = replace(hit_of("nie-plazos-03", 0.9), ended=True)
    judge = FakeJudge()
    found = hybrid(FakeEmbedder(), plainly(FakeIndex([HITS[0], ended, HITS[1]])), judge)(QUERY)
    assert (found.hits, found.ended) == (tuple(HITS), (ended,))
    assert list(judge.judged[0][1]) == HITS
    assert found.known == (HITS[0], ended, HITS[1])
    assert found.trace["ended"] == ["nie-plazos-03"]
    assert hybrid(FakeEmbedder(), plainly(FakeIndex([ended])), FakeJudge())(QUERY).status is Status.FOUND
