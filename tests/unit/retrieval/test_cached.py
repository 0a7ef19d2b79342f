"""Remembered results: given again for the same question only, and never when they might be wrong."""

from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import fields, replace
from datetime import date
from threading import Barrier

import pytest
from unit_builders import row_of

from clara.adapters.memory_cache import MemoryCache
from clara.retrieval.cache.keys import CacheUnavailableError, Event, Keys, SealedCache
from clara.retrieval.cache.results import ResultMemory, cached
from clara.retrieval.cache.semantic import SemanticMemory
from clara.retrieval.passage import Found, Hit, Query, Status
from clara.retrieval.ports import EmbedderUnavailableError, IndexUnavailableError

QUERY = Query("¿Cómo pido el NIE?", "clara", "es")
FOUND = Found(Status.FOUND, "pgvector", (Hit(row_of(), 1.0),), timings_ms={"search": 5.0}, confidence=0.9, trace={"legs": 2})
VECTOR = (1.0, 0.0)


class Embedding:
    """An embedder for which all texts are near, so that only the words decide."""

    model, dimensions = "one-point", 2

    def __init__(self):
        self.asked, self.out = [], False

    def embed(self, texts, role):
        if self.out:
            raise EmbedderUnavailableError
        self.asked += texts
        return [list(VECTOR) for _ in texts]


class Gone:
    """A cache that is not there."""

    def get(self, key):
        raise CacheUnavailableError("gone")

    def put(self, key, value, seconds):
        raise CacheUnavailableError("gone")


class World:
    """A retriever with a cache around it, and everything that a test may look at or change."""

    def __init__(self, cache=None, configuration="c", **changes):
        self.now, self.current, self.found, self.queries, self.failures = 0.0, "1", FOUND, [], []
        self.embedder, self.metrics = Embedding(), Counter()
        self.raw = cache or MemoryCache(clock=lambda: self.now)
        keys = Keys(b"a secret of thirty-two bytes, yes")
        values = {
            "cache": SealedCache(self.raw, keys, lambda _key: None),
            "keys": keys,
            "questions": SemanticMemory(2),
            "configuration": configuration,
            "on_failure": self.failures.append,
            "count": lambda event: self.metrics.update([event]),
        }
        self.memory = ResultMemory(**{**values, **changes})
        self.ask = cached(self.retrieve, self.memory, self.embedder, lambda _corpus: self.current)

    def retrieve(self, query):
        self.queries.append(query)
        if isinstance(self.found, Exception):
            raise self.found
        return self.found


def how(found):
    return found.trace.get("cache")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("¿Cómo pido el NIE?", "exact"),
        ("  ¿CÓMO  pido el\tＮＩＥ? ", "exact"),
        ("hola, como pido nie", "semantic"),
        ("¿Cómo pido la TIE?", None),
        ("¿Cuándo pido el NIE?", None),
        ("¿Cómo no pido el NIE?", None),
    ],
)
def test_the_same_question_is_searched_once(text, expected):
    """The same text and the same question are remembered, and say how; another question is searched."""
    world = World()
    first = world.ask(QUERY)
    again = world.ask(replace(QUERY, text=text))
    assert (how(first), how(again)) == (None, expected)
    assert replace(again, timings_ms={}, trace=FOUND.trace) == replace(FOUND, timings_ms={})
    assert "cache" in again.timings_ms
    assert len(world.queries) == (1 if expected else 2)
    assert len(world.embedder.asked) == (1 if expected == "exact" else 2)


@pytest.mark.parametrize(
    "change",
    [
        {"corpus": "other"},
        {"language": "ca"},
        {"limit": 6},
        {"documents": {"nie": 0.5}},
        {"sections": {("nie", "plazos"): 0.5}},
        {"passages": {"nie-plazos-01": 0.5}},
        {"likely": {"nie": 0.5}},
        {"outside": 0.1},
        {"territories": ("ES-MD",)},
        {"collections": ("curado",)},
        {"filters": {"certainty": ("official",)}},
        {"exact": True},
        {"today": date(2027, 1, 1)},
        {"focus": ("¿cuánto?",)},
        {"subject": "nie"},
    ],
    ids=lambda change: next(iter(change)),
)
def test_everything_that_shapes_a_result_is_part_of_its_name(change):
    """With another value of any field the remembered result is neither the same text nor the same question."""
    world = World()
    world.ask(QUERY)
    assert how(world.ask(replace(QUERY, **change))) is None
    assert how(world.ask(replace(QUERY, **change))) == "exact"
    assert len(world.queries) == 2


def test_the_cases_above_are_all_fields():
    """Whoever adds a field to Query must say here whether it is part of the name: all are, but text and its vectors."""
    marks = test_everything_that_shapes_a_result_is_part_of_its_name.pytestmark
    named = {name for mark in marks for change in mark.args[1] for name in change}
    assert named | {"text", "vector", "model", "vectors", "focused"} == {field.name for field in fields(Query)}


def test_the_order_in_which_a_mapping_was_filled_does_not_matter():
    """The same weights are the same question."""
    world = World()
    world.ask(replace(QUERY, documents={"a": 0.1, "b": 0.2}))
    assert how(world.ask(replace(QUERY, documents={"b": 0.2, "a": 0.1}))) == "exact"


@pytest.mark.parametrize("change", ["version", "configuration", "model"])
def test_a_superseded_result_is_out_of_reach(change):
    """A new version of the corpus, the configuration or the model is searched anew, the same question too."""
    world = World()
    world.ask(QUERY)
    after = World(world.raw, configuration="d" if change == "configuration" else "c", questions=world.memory.questions)
    after.current = "2" if change == "version" else "1"
    if change == "model":
        after.embedder.model = "another"
    assert how(after.ask(QUERY)) is None
    assert how(after.ask(replace(QUERY, text="hola, como pido nie"))) == "semantic"
    assert len(after.queries) == 1


def test_a_corpus_that_changes_meanwhile_is_not_remembered():
    """A result that was searched across a change belongs to neither version."""
    world = World()

    def changing(query):
        world.current = "2"
        return world.retrieve(query)

    ask = cached(changing, world.memory, world.embedder, lambda _corpus: world.current)
    ask(QUERY)
    assert how(ask(QUERY)) is None
    world.current = "1"
    assert how(world.ask(QUERY)) is None


@pytest.mark.parametrize(
    "found",
    [
        replace(FOUND, status=Status.OUTAGE),
        replace(FOUND, outages=("pgvector",)),
        replace(FOUND, failures=("reranker: timed out",)),
    ],
    ids=["outage", "a tier was out", "a part failed"],
)
def test_an_incomplete_result_is_given_but_not_remembered(found):
    """The next one who asks gets the whole result."""
    world = World()
    world.found = found
    assert world.ask(QUERY).outages == found.outages
    world.found = FOUND
    assert how(world.ask(QUERY)) is None
    assert how(world.ask(QUERY)) == "exact"


@pytest.mark.parametrize(("status", "seconds"), [(Status.FOUND, 3600), (Status.NOT_FOUND, 60)], ids=["found", "not found"])
def test_a_result_is_remembered_for_its_time(status, seconds):
    """An hour for evidence, a minute for a miss; then neither the text nor the question finds it."""
    world = World()
    world.found = replace(FOUND, status=status)
    world.ask(QUERY)
    world.now = seconds - 1
    assert how(world.ask(replace(QUERY, text="como pido nie"))) == "semantic"
    world.now = seconds
    assert how(world.ask(replace(QUERY, text="como pido nie"))) is None
    assert len(world.queries) == 2


@pytest.mark.parametrize(
    ("text", "version"),
    [("Me llamo Ana, ¿cómo pido el NIE?", "1"), ("mi nie es X1234567L", "1"), (QUERY.text, None)],
    ids=["a name", "a number", "unknown version"],
)
def test_some_questions_pass_by(text, version):
    """With personal data, or a corpus of unknown version, nothing is looked up, embedded or kept."""
    world = World()
    world.current = version
    for _ in range(2):
        assert world.ask(replace(QUERY, text=text)) is FOUND
    assert world.queries == [replace(QUERY, text=text)] * 2
    assert world.embedder.asked == []
    assert world.metrics[Event.BYPASSED] == 2
    assert world.raw._held == {}


def test_a_cache_that_is_gone_costs_no_answer():
    """The result is whole, and whoever watches hears of the outage."""
    world = World(Gone())
    found = world.ask(QUERY)
    assert replace(found, timings_ms={}) == replace(FOUND, timings_ms={})
    assert found.complete
    assert [str(error) for error in world.failures] == ["gone", "gone"]
    assert world.metrics[Event.UNAVAILABLE] == 2


def test_an_embedder_that_is_out_leaves_the_rest():
    """The search is asked without a vector, and its result is remembered for the same text."""
    world = World()
    world.embedder.out = True
    world.ask(QUERY)
    assert world.queries[0].vector is None
    assert how(world.ask(QUERY)) == "exact"
    assert how(world.ask(replace(QUERY, text="como pido nie"))) is None


def test_a_question_is_embedded_once():
    """The vector goes on to the search; one that came with the question is used."""
    world = World()
    world.ask(QUERY)
    assert world.queries[0].vector == VECTOR
    world.ask(Query("otra pregunta", "clara", "es", vector=(0.0, 1.0)))
    assert world.queries[1].vector == (0.0, 1.0)
    assert world.embedder.asked == [QUERY.text]


def test_without_a_memory_of_questions_only_texts_are_remembered():
    """Nothing is embedded that the search does not embed itself."""
    world = World(questions=None)
    world.ask(QUERY)
    assert how(world.ask(QUERY)) == "exact"
    assert how(world.ask(replace(QUERY, text="como pido nie"))) is None
    assert world.embedder.asked == []


@pytest.mark.parametrize("text", [QUERY.text, "como pido nie"], ids=["same text", "same question"])
def test_a_value_that_was_tampered_with_is_searched_again(text):
    """A changed value is no result, and what is searched instead is remembered."""
    world = World()
    world.ask(QUERY)
    (key,) = world.raw._held
    world.raw.put(key, world.raw.get(key)[:-1] + b"!", 60)
    assert how(world.ask(replace(QUERY, text=text))) is None
    assert how(world.ask(replace(QUERY, text=text))) == "exact"


def test_nothing_that_is_kept_names_the_question():
    """Neither keys nor values nor the memory of questions hold a word of it."""
    world = World()
    world.ask(QUERY)
    kept = repr(dict(world.raw._held)) + repr(world.memory.questions._questions)
    assert "pido" not in kept
    assert "diez minutos" in kept


def test_an_error_is_passed_on_and_not_remembered():
    """An index that is out raises to whoever asked, and the next one is served."""
    world = World()
    world.found = IndexUnavailableError("out")
    with pytest.raises(IndexUnavailableError):
        world.ask(QUERY)
    world.found = FOUND
    assert world.ask(QUERY).status is Status.FOUND


def test_many_that_ask_at_once_are_searched_for_once():
    """Four threads, one search at a time and one result."""
    world, start = World(), Barrier(4)

    def ask(_worker):
        start.wait(20)
        return world.ask(QUERY).hits

    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(ask, range(4))) == [FOUND.hits] * 4
    assert len(world.queries) == 1


def test_the_counters_tell_what_happened():
    """One miss that was stored, one exact and one semantic hit."""
    world = World()
    for text in (QUERY.text, QUERY.text, "como pido nie"):
        world.ask(replace(QUERY, text=text))
    assert world.metrics == {Event.MISS: 1, Event.STORED: 1, Event.EXACT: 1, Event.SEMANTIC: 1}


@pytest.mark.parametrize(("made_by", "embedded"), [("one-point", 0), ("", 0), ("other", 1)])
def test_a_vector_of_another_model_is_not_handed_on(made_by, embedded):
    """The search gets a vector of this embedder, and hears whose it is."""
    world = World()
    world.ask(replace(QUERY, vector=(0.0, 1.0), model=made_by))
    assert len(world.embedder.asked) == embedded
    assert (world.queries[0].vector, world.queries[0].model) == (VECTOR if embedded else (0.0, 1.0), "one-point")
