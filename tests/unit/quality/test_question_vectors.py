"""Tests of the vectors that the evaluation's questions are judged by."""

import math
from collections.abc import Sequence

import pytest

from clara.answering.snapshot import KnowledgeSnapshot
from clara.container import Container
from clara.quality.question_vectors import FILE, MOVED, OnceEmbedder, QuestionVectors, moved
from clara.quality.release import asking, read_evaluation
from clara.retrieval.embedders import digest_of, read_vectors
from clara.retrieval.ports import Role
from clara.settings import Settings, resources


class Counting:
    """An embedder of another processor: it gives one vector for everything, and says what it was asked."""

    def __init__(self, model: str, dimensions: int) -> None:
        self.model, self.dimensions = model, dimensions
        self.asked: list[str] = []

    def embed(self, texts: Sequence[str], role: Role) -> list[list[float]]:
        self.asked += texts
        return [[1.0] + [0.0] * (self.dimensions - 1) for _ in texts]


@pytest.fixture
def snapshot() -> KnowledgeSnapshot:
    """What is known without a database."""
    return Container(Settings(rag_enabled=False), None).snapshot()


def test_every_question_of_the_gate_has_its_vector(snapshot: KnowledgeSnapshot) -> None:
    """The release carries a vector of every question that the chain is judged by."""
    known = read_vectors(resources() / FILE, snapshot.embedder.model)
    query_of, parts_of = asking(snapshot), snapshot.tools.asking.parts
    for one in read_evaluation(snapshot):
        query = query_of(one)
        texts = parts_of(query.text, str(query.language)) or (query.text, *query.focus)  # several things are asked apart
        assert [text for text in texts if digest_of(text, "query") not in known] == [], one.id


def test_carried_vectors_are_those_of_the_release(snapshot: KnowledgeSnapshot) -> None:
    """A question of the evaluation is not embedded by this machine; another one is, once, and said to be missing."""
    engine = Counting(snapshot.embedder.model, snapshot.embedder.dimensions)
    vectors = QuestionVectors(snapshot.embedding_by(engine))
    question = read_evaluation(snapshot)[0].query
    carried = vectors.carried.embedder
    [vector] = carried.embed([question], "query")
    assert (engine.asked, vectors.missing) == ([], [])
    assert math.isclose(math.hypot(*vector), 1.0, abs_tol=1e-6)
    for _ in range(2):
        carried.embed(["a question that nobody wrote down"], "query")
    assert engine.asked == vectors.missing == ["a question that nobody wrote down"]
    assert vectors.embedded == 3


def test_live_vectors_are_this_machines(snapshot: KnowledgeSnapshot) -> None:
    """What was asked by carried vectors is embedded by this machine, all of it at once, and then not again."""
    engine = Counting(snapshot.embedder.model, snapshot.embedder.dimensions)
    vectors = QuestionVectors(snapshot.embedding_by(engine))
    question = read_evaluation(snapshot)[0].query
    vectors.carried.embedder.embed([question], "query")
    live = vectors.live.embedder
    assert engine.asked == [question]
    assert live.embed([question], "query") == [[1.0] + [0.0] * (engine.dimensions - 1)]
    assert engine.asked == [question]


def test_a_few_cases_may_be_decided_otherwise() -> None:
    """Two of a hundred are said and pass; three are too many."""
    carried = {f"case {number}": True for number in range(100)}
    said: list[str] = []
    assert moved(carried, {**carried, "case 1": False, "case 2": False}, said.append) == []
    assert said[0].startswith("with this machine's own vectors 2 of 100 cases change side (2.00%")
    assert said[1:] == ["  case 1: wrong here", "  case 2: wrong here"]
    [short] = moved(carried, {**carried, **{f"case {number}": False for number in range(3)}}, said.append)
    assert (short.wanted, short.reached) == (1 - MOVED, 0.97)
    assert moved({}, {}, said.append) == []


def test_each_text_is_embedded_once(snapshot: KnowledgeSnapshot) -> None:
    """The same text in one call, or in two, costs one embedding; roles are apart."""
    engine = Counting("m", 2)
    once = OnceEmbedder(engine)
    once.embed(["a", "b", "a"], "query")
    once.embed(["b", "a"], "query")
    once.embed(["a"], "passage")
    assert (engine.asked, once.asked, once.texts) == (["a", "b", "a"], 3, ["a", "b"])
