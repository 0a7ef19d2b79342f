"""What the memory of vectors promises, in PostgreSQL and in the twin that unit tests trust; and what PostgreSQL adds."""

import struct
from collections.abc import Callable, Iterator
from threading import Barrier, Thread
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlalchemy import Engine, text
from tests.unit.retrieval.dict_memory import DictMemory, DigestEmbedder

from clara.adapters.postgres.connections import open_engine
from clara.adapters.postgres.corpus.embedding_memory import PostgresEmbeddingMemory
from clara.adapters.postgres.operations.metrics import PostgresMetrics
from clara.container import Container
from clara.retrieval.embedding_memory import (
    Computed,
    EmbeddingMemoryUnavailableError,
    MemorisingEmbedder,
    RememberedEmbeddings,
    Vector32,
    key_of,
    statistics,
    statistics_page,
)

NOWHERE = "postgresql://nobody@127.0.0.1:1/none"
# The smallest and the largest of float32, denormal ones, and a third, which has no short decimal.
EDGES = [struct.unpack("<f", struct.pack("<I", bits))[0] for bits in (1, 0x007FFFFF, 0x00800000, 0x7F7FFFFF, 0x3EAAAAAB)]


@pytest.fixture
def engine(empty_url: str) -> Iterator[Engine]:
    made = open_engine(empty_url)
    yield made
    made.dispose()


@pytest.fixture
def memory(engine: Engine) -> PostgresEmbeddingMemory:
    return PostgresEmbeddingMemory(engine)


@pytest.fixture(params=["postgres", "dictionary"])
def any_memory(request: pytest.FixtureRequest) -> RememberedEmbeddings:
    return DictMemory() if request.param == "dictionary" else request.getfixturevalue("memory")


def computed(*axes: float, milliseconds: float = 30.0) -> Computed:
    return Computed(np.array(axes, np.float32), milliseconds)


def stored(memory: PostgresEmbeddingMemory, *keys: str) -> None:
    """Store a vector under each key, one after the other."""
    for key in keys:
        memory.put_many("m", {key: computed(1.0, 0.0)})


def held(engine: Engine) -> set[str]:
    with engine.connect() as connection:
        return set(connection.scalars(text("select key from remembered_embeddings")))


def age(engine: Engine, key: str, days: int) -> None:
    older = text("update remembered_embeddings set created_at = now() - make_interval(days => :days) where key = :key")
    with engine.begin() as connection:
        connection.execute(older, {"days": days, "key": key})


def test_what_is_stored_is_given(any_memory: RememberedEmbeddings) -> None:
    """Known keys give their vectors, others are left out, and nothing is shared between models."""
    any_memory.put_many("m", {"a": computed(1.0, 0.0), "b": computed(0.0, 1.0)})
    given = any_memory.get_many("m", ["b", "c", "a"])
    assert {key: vector.tolist() for key, vector in given.items()} == {"a": [1.0, 0.0], "b": [0.0, 1.0]}
    assert any_memory.get_many("other", ["a"]) == {}
    assert any_memory.get_many("m", []) == {}


def test_what_is_stored_again_is_replaced(any_memory: RememberedEmbeddings) -> None:
    """A second vector under a key takes the place of the first, also one of another size."""
    any_memory.put_many("m", {"a": computed(1.0, 0.0)})
    any_memory.put_many("m", {"a": computed(0.0, 0.0, 1.0)})
    assert any_memory.get_many("m", ["a"])["a"].tolist() == [0.0, 0.0, 1.0]


def test_no_bit_changes(any_memory: RememberedEmbeddings) -> None:
    """Every float32 comes back as it was, the extreme ones too, and of type float32."""

    @settings(max_examples=40, deadline=None, database=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
    @given(st.lists(st.floats(width=32, allow_nan=False, allow_infinity=False), min_size=1, max_size=40))
    def same(axes: list[float]) -> None:
        vector: Vector32 = np.array([*axes, *EDGES], np.float32)
        any_memory.put_many("m", {"a": Computed(vector, 1.0)})
        back = any_memory.get_many("m", ["a"])["a"]
        assert back.dtype == np.float32
        assert back.tobytes() == vector.tobytes()

    same()


def test_an_embedder_with_this_memory_computes_once(memory: PostgresEmbeddingMemory) -> None:
    """A second embedder, as in another process, gives the same vectors without computing any."""
    texts = [f"pasaje {number}" for number in range(100)]
    first = MemorisingEmbedder(DigestEmbedder(dimensions=384), memory, pytest.fail).embed(texts, "passage")
    again = DigestEmbedder(dimensions=384)
    assert MemorisingEmbedder(again, memory, pytest.fail).embed(texts, "passage") == first
    assert again.asked == []


def test_a_vector_of_another_size_is_computed_anew(memory: PostgresEmbeddingMemory) -> None:
    """What was damaged in the table is replaced, not given."""
    embedder = DigestEmbedder()
    key = key_of(embedder, "a", "passage")
    memory.put_many("digest", {key: computed(1.0, 0.0)})
    (vector,) = MemorisingEmbedder(embedder, memory, pytest.fail).embed(["a"], "passage")
    assert len(vector) == 8
    assert memory.get_many("digest", [key])[key].tolist() == vector


def test_vectors_grow_old(engine: Engine, memory: PostgresEmbeddingMemory) -> None:
    """After 30 days a vector is not given any more, however much it was used, and goes when another process stores."""
    stored(memory, "old", "young")
    age(engine, "old", 31)
    age(engine, "young", 29)
    assert memory.get_many("m", ["old", "young"]).keys() == {"young"}
    stored(PostgresEmbeddingMemory(engine), "new")
    assert held(engine) == {"young", "new"}


def test_a_full_memory_drops_what_was_not_used_for_longest(engine: Engine) -> None:
    """Above the limit a tenth is dropped at once, least recently used first; being given counts as use."""
    memory = PostgresEmbeddingMemory(engine, max_entries=10)
    stored(memory, *(f"k{number}" for number in range(10)))
    memory.get_many("m", ["k0", "k1"])
    assert len(held(engine)) == 10
    stored(memory, "k10")
    assert held(engine) == {"k0", "k1", "k4", "k5", "k6", "k7", "k8", "k9", "k10"}


def test_a_smaller_limit_holds_at_once(engine: Engine, memory: PostgresEmbeddingMemory) -> None:
    """A process with a lower limit brings the memory down to nine tenths of it when it first stores."""
    memory.put_many("m", {f"k{number}": computed(1.0, 0.0) for number in range(50)})
    stored(PostgresEmbeddingMemory(engine, max_entries=20), "last")
    assert len(held(engine)) == 18
    assert "last" in held(engine)


def test_statistics(memory: PostgresEmbeddingMemory) -> None:
    """Hits, misses and the time that hits saved are totals; the most used are named by digests."""
    assert memory.statistics().hit_rate == 0.0
    keys = {"a" * 64: computed(1.0, milliseconds=40.0), "b" * 64: computed(1.0, milliseconds=2.5)}
    memory.put_many("m", keys)
    memory.get_many("m", ["a" * 64, "b" * 64, "c" * 64])
    memory.get_many("m", ["a" * 64])
    memory.get_many("n", ["d" * 64])
    figures = memory.statistics()
    assert (figures.entries, figures.hits, figures.misses, figures.saved_ms) == (2, 3, 2, 82.5)
    assert figures.hit_rate == pytest.approx(0.6)
    assert [(used.digest, used.model, used.uses) for used in figures.most_used] == [("a" * 12, "m", 2), ("b" * 12, "m", 1)]
    assert figures.bytes_on_disk >= 8192
    assert figures.oldest is not None


def test_only_the_ten_most_used_are_named(memory: PostgresEmbeddingMemory) -> None:
    """Of many used vectors the ten most used are named, most used first; unused ones never."""
    memory.put_many("m", {f"{number:02}": computed(1.0) for number in range(14)})
    for rounds in range(1, 13):
        memory.get_many("m", [f"{number:02}" for number in range(rounds)])
    uses = [used.uses for used in memory.statistics().most_used]
    assert uses == list(range(12, 2, -1))


def test_many_loads_at_once(engine: Engine) -> None:
    """Loads of the same texts in opposite orders neither block each other nor lose a hit or a miss."""
    texts = [f"pasaje {number}" for number in range(64)]
    memory, start, faults = PostgresEmbeddingMemory(engine, max_entries=60), Barrier(4), []

    def load(order: list[str]) -> None:
        embedder = MemorisingEmbedder(DigestEmbedder(), memory, faults.append)
        start.wait()
        for _ in range(10):
            embedder.embed(order, "passage")

    threads = [Thread(target=load, args=(texts[::step],)) for step in (1, -1, 1, -1)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    figures = memory.statistics()
    assert faults == []
    assert figures.hits + figures.misses == 4 * 10 * 64


@pytest.mark.parametrize(
    "call",
    [
        pytest.param(lambda memory: memory.get_many("m", ["a"]), id="get"),
        pytest.param(lambda memory: memory.put_many("m", {"a": computed(1.0)}), id="put"),
        pytest.param(lambda memory: memory.statistics(), id="statistics"),
    ],
)
def test_an_outage_has_its_name(call: Callable[[PostgresEmbeddingMemory], object]) -> None:
    """A database that is away raises the error of the port."""
    away = open_engine(NOWHERE)
    with pytest.raises(EmbeddingMemoryUnavailableError, match="does not answer"):
        call(PostgresEmbeddingMemory(away))
    away.dispose()


def figures_of(services: Container) -> dict[str, Any]:
    engine = services.engine
    return statistics(PostgresEmbeddingMemory(engine).statistics(), PostgresMetrics(engine).read())


def test_figures_for_a_person(empty_url: str, services_on: Callable[..., Container]) -> None:
    """The figures of a database are a table and JSON, before anything happened and after."""
    services = services_on(empty_url)
    assert "none" in statistics_page(figures_of(services))
    memory = PostgresEmbeddingMemory(services.engine)
    memory.put_many("m", {"0123456789abcdef": computed(1.0, milliseconds=90_000.0)})
    memory.get_many("m", ["0123456789abcdef", "x"])
    figures = figures_of(services)
    assert figures["embedding_memory"]["saved_ms"] == 90_000.0
    shown = statistics_page(figures)
    assert "1 of 2 (50.0%)" in shown
    assert "1.5 minutes of embedding" in shown
    assert "0123456789ab  " in shown
    assert "cdef" not in shown
