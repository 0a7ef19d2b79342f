"""What every PassageStore promises, run against PostgreSQL and against the in-memory twin that unit tests trust."""

from collections.abc import Iterator

import pytest
from tests.unit.ingestion.memory_store import MemoryStore

from clara.adapters.postgres.connections import open_engine
from clara.adapters.postgres.corpus.passages import PostgresPassages
from clara.ingestion.journey import digest_of, text_digest_of
from clara.ingestion.ports import CorpusChange, PassageStore, WrittenPassage
from clara.retrieval.passage import Passage


@pytest.fixture(params=["postgres", "memory"])
def store(request: pytest.FixtureRequest) -> Iterator[PassageStore]:
    if request.param == "memory":
        yield MemoryStore()
        return
    engine = open_engine(request.getfixturevalue("empty_url"))
    yield PostgresPassages(engine, "axes", 2)
    engine.dispose()


def written(name: str, text: str = "un texto", vector: tuple[float, float] = (1.0, 0.0)) -> WrittenPassage:
    passage = Passage(name, "c", "curado", "doc", "plazos", ("Título",), text, "es", metadata={"place": 1})
    return WrittenPassage(passage, digest_of(passage), vector, text_digest_of(passage))


def test_an_unknown_corpus_is_empty(store: PassageStore) -> None:
    """Nothing is stored of a corpus that was never written."""
    stored = store.stored("c")
    assert (dict(stored.passages), dict(stored.vectors)) == ({}, {})


def test_what_is_written_is_stored(store: PassageStore) -> None:
    """Digests and vectors come back as they were given."""
    item = written("a")
    store.apply("c", CorpusChange((item,), frozenset()))
    stored = store.stored("c")
    assert dict(stored.passages) == {"a": item.digest}
    assert dict(stored.vectors) == {"a": item.vector_digest}
    assert store.vectors("c", ["a", "unknown"]) == {"a": [1.0, 0.0]}


def test_writing_again_replaces(store: PassageStore) -> None:
    """A passage has one version: the last."""
    store.apply("c", CorpusChange((written("a"),), frozenset()))
    newer = written("a", "otro texto", (0.0, 1.0))
    store.apply("c", CorpusChange((newer,), frozenset()))
    assert dict(store.stored("c").passages) == {"a": newer.digest}
    assert store.vectors("c", ["a"]) == {"a": [0.0, 1.0]}


def test_dropping_removes_passage_and_vector(store: PassageStore) -> None:
    """What is dropped is gone from both."""
    store.apply("c", CorpusChange((written("a"), written("b")), frozenset()))
    store.apply("c", CorpusChange((), frozenset({"a"})))
    assert set(store.stored("c").passages) == {"b"}
    assert set(store.stored("c").vectors) == {"b"}


def test_a_passage_without_a_vector_is_stored_without_one(store: PassageStore) -> None:
    """The zero vector of a text with nothing to embed is no vector."""
    store.apply("c", CorpusChange((written("a", vector=(0.0, 0.0)),), frozenset()))
    assert set(store.stored("c").passages) == {"a"}
    assert dict(store.stored("c").vectors) == {}


def test_a_bad_vector_changes_nothing(store: PassageStore) -> None:
    """All or none: one vector that is not of length 1 leaves the corpus as it was."""
    store.apply("c", CorpusChange((written("a"),), frozenset()))
    with pytest.raises(Exception, match="unit_length"):
        store.apply("c", CorpusChange((written("b"), written("c", vector=(3.0, 4.0))), frozenset({"a"})))
    assert set(store.stored("c").passages) == {"a"}


def of_document(name: str, document: str, text: str = "un texto") -> WrittenPassage:
    passage = Passage(name, "c", "normativa", document, "a1", ("Ley",), text, "es")
    return WrittenPassage(passage, digest_of(passage), (1.0, 0.0), text_digest_of(passage))


def test_one_document_is_seen_alone(store: PassageStore) -> None:
    """What is stored of a document is that of no other; the profile is the corpus's."""
    store.apply("c", CorpusChange((of_document("x1", "x"), of_document("y1", "y")), frozenset()))
    stored = store.stored("c", "x")
    assert (set(stored.passages), set(stored.vectors)) == ({"x1"}, {"x1"})
    assert stored.profile == store.profile.name
    assert not store.stored("c", "z").passages
    assert not store.stored("d", "x").passages


def test_one_document_is_changed_alone(store: PassageStore) -> None:
    """A change of one document neither drops nor writes what is another's, even where it names it."""
    store.apply("c", CorpusChange((of_document("x1", "x"), of_document("x2", "x"), of_document("y1", "y")), frozenset()))
    newer = of_document("x1", "x", "otro texto")
    store.apply("c", CorpusChange((newer,), frozenset({"x2", "y1"}), document="x"))
    assert dict(store.stored("c").passages) == {"x1": newer.digest, "y1": of_document("y1", "y").digest}


def test_no_document_takes_a_passage_of_another(store: PassageStore) -> None:
    """An id that another document has is refused, and everything stays as it was."""
    store.apply("c", CorpusChange((of_document("x1", "x"), of_document("y1", "y")), frozenset()))
    with pytest.raises(Exception, match="uq_passages_corpus_id"):
        store.apply("c", CorpusChange((of_document("y1", "x"),), frozenset({"x1"}), document="x"))
    assert set(store.stored("c", "x").passages) == {"x1"}
    assert set(store.stored("c", "y").passages) == {"y1"}
