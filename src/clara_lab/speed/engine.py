"""Measuring the retrieval engine on large corpora: `make bench`. The corpora are made up, stored, measured and dropped.

Their words are drawn from Clara's own passages with the frequencies they have there, and so are their vectors, with noise.
"""

import random
import statistics
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial
from time import perf_counter
from typing import Any
from uuid import uuid4

import click
import numpy as np
import psycopg
from numpy.typing import NDArray
from sqlalchemy import text

from clara.adapters.postgres.corpus.index import space_id
from clara.adapters.postgres.corpus.spaces import ensure_space, index_space
from clara.adapters.postgres.statements import AtOnce
from clara.container import Container
from clara.container.corpora import Corpora
from clara.ingestion.corpora import drop
from clara.ingestion.journey import ingest
from clara.knowledge.passages import CORPUS
from clara.retrieval.hybrid import HybridIndex
from clara.retrieval.passage import Passage, Query, Retrieve
from clara.retrieval.profile import Profile
from clara.retrieval.search import Recall
from clara.settings import Settings

Say = Callable[[str, str, str], None]

SIZES = (20_000, 100_000)
WORDS = 60
ROUNDS = 10
WARMING = 8
NOISE = 0.6
INGESTED = 128
THREADS, CALLS = 8, 10_000
COLUMNS = "corpus, id, collection, document_id, section, heading, text, indexed_text, language, territory, digest, metadata"


def measure(
    corpora: Corpora, known: Sequence[Passage], recall: Callable[[str], Recall], questions: Sequence[str], say: Say
) -> None:
    """Measure what depends on size, what a cache saves, what ingestion adds to embedding, and what threads do."""
    for size in SIZES:
        with _corpus(corpora, known, size) as name:
            _searches(corpora, name, questions, say)
            say(f"{size}: HNSW recall@10", f"{recall(name).at_10:.3f}", ">= .99")
    _ingestion(corpora, known, say)
    _caches(corpora.database_url, questions, say)
    _threads(corpora.database_url, questions, say)


def _searches(corpora: Corpora, name: str, questions: Sequence[str], say: Say) -> None:
    embedder = corpora.embedder
    vectors = {question: embedder.embed([question], "query")[0] for question in questions}
    legs = {
        "BM25": corpora.index(Profile(dense=0.0, lexical=1.0)),
        "HNSW": corpora.index(Profile(dense=1.0, lexical=0.0)),
        "hybrid": corpora.index(Profile()),
    }
    retrieve = corpora.corpus_retriever(name)
    acts: dict[str, Callable[[Query], object]] = {
        **{leg: partial(_asked, index, vectors) for leg, index in legs.items()},
        "embedding": lambda query: embedder.embed([query.text], "query"),
        "retrieve": retrieve,
    }
    spent = interleaved(acts, [Query(question, name, limit=5) for question in questions], ROUNDS, WARMING)
    size = name.removeprefix("bench-")
    goals = {"BM25": "<= 5 ms", "hybrid": "<= 12 ms"} if size == str(SIZES[-1]) else {}
    for leg in legs:
        say(f"{size}: {leg} statement, p50", f"{statistics.median(spent[leg]):.1f} ms", goals.get(leg, ""))
    whole = spent["retrieve"]
    ratio = over_floor(whole, spent["embedding"], spent["hybrid"])
    say(f"{size}: retrieve() / (embedding + statement)", f"{ratio:.2f} x", "<= 1.15 x")
    say(f"{size}: retrieve(), p95 / p50", f"{_at(whole, 0.95) / statistics.median(whole):.2f} x", "<= 2 x")


def _ingestion(corpora: Corpora, known: Sequence[Passage], say: Say) -> None:
    """Compare embedding alone with embedding and storing the same number of texts of the same length."""
    passages_of_clara = known[: 2 * INGESTED]
    # A word of its own for each, so that no memory of an earlier run helps.
    facts = [f"{passage.indexed_text} {uuid4().hex[:8]}" for passage in passages_of_clara]
    embedder, store = corpora.embedder, corpora.passages()
    alone = milliseconds(lambda: embedder.embed(facts[:INGESTED], "passage"))
    passages = [
        Passage(str(place), "bench-ingest", "c", str(place), "", (), fact, "es") for place, fact in enumerate(facts[INGESTED:])
    ]
    texts = sum(map(len, facts[:INGESTED])) / sum(map(len, facts[INGESTED:]))
    both = milliseconds(lambda: ingest("bench-ingest", passages, store, corpora.memorising_embedder()))
    drop(corpora, "bench-ingest")
    say("ingestion's throughput / the embedder's", f"{alone / both / texts:.2f} x", ">= .9 x")


def _caches(database_url: str | None, questions: Sequence[str], say: Say) -> None:
    with Container(Settings(rag_cache_enabled=True, rag_db_url=database_url), database_url) as caching:
        retrieve, embedder = caching.retriever, caching.embedder
        for question in questions:
            retrieve(Query(question, CORPUS, "es"))
        exact = [retrieve(Query(question, CORPUS, "es")).timings_ms["cache"] for question in questions for _ in range(ROUNDS)]
        near = [retrieve(Query(f"hola, {question}", CORPUS, "es")) for question in questions for _ in range(ROUNDS)]
        semantic = [found.timings_ms["cache"] for found in near if found.trace.get("cache") == "semantic"]
        embedding = [milliseconds(partial(embedder.embed, [question], "query")) for question in questions]
    say("exact cache hit (memory), p50", f"{statistics.median(exact):.2f} ms", "<= 0.2 ms")
    say("one embedding, p50", f"{statistics.median(embedding):.1f} ms", "")
    if semantic:
        say("semantic cache hit beside the embedding, p50", f"{statistics.median(semantic):.2f} ms", "<= 2 ms")


def _threads(database_url: str | None, questions: Sequence[str], say: Say) -> None:
    built: set[int] = set()
    failures: list[str] = []
    settings = Settings(rag_cache_enabled=True, rag_db_url=database_url)
    with Container(settings, database_url) as caching, ThreadPoolExecutor(THREADS) as pool:

        def call(number: int) -> None:
            retrieve: Retrieve = caching.retriever
            built.add(id(retrieve))
            asked = questions[number % len(questions)] + ("" if number % 50 else f" {number}")
            found = retrieve(Query(asked, CORPUS, "es", limit=1 + number % 5))
            if found.outages:
                failures.append(str(found.outages))

        took = milliseconds(lambda: list(pool.map(call, range(CALLS)))) / 1000
    say(f"{THREADS} threads, {CALLS} calls: failures, builds", f"{len(failures)}, {len(built)}", "0, 1")
    say(f"{THREADS} threads, {CALLS} calls: calls a second", f"{CALLS / took:.0f}", "")


@contextmanager
def _corpus(corpora: Corpora, known: Sequence[Passage], size: int) -> Iterator[str]:
    """Store a corpus of made-up passages, and drop it at the end."""
    name = f"bench-{size}"
    click.echo(f"storing {size} passages ...", err=True)
    embedder = corpora.embedder
    corpora.passages(Profile("prose")).drop(name)
    with AtOnce(corpora.engine).transaction() as together:
        together.changed("session.unhurried")
        together.connection.execute("set local maintenance_work_mem = '512MB'")
        together.changed("passage.corpus", corpus=name, profile="prose")
        ensure_space(together, name, embedder.model, embedder.dimensions)
        _fill(corpora, known, together.connection, name, size)
        index_space(together, name, embedder.model, embedder.dimensions)
    with corpora.engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
        connection.execute(text("set statement_timeout = 0"))
        connection.execute(text("vacuum analyze postings, lexicon, passages, embeddings"))
    try:
        yield name
    finally:
        drop(corpora, name)


def _fill(corpora: Corpora, passages: Sequence[Passage], connection: psycopg.Connection[Any], name: str, size: int) -> None:
    embedder = corpora.embedder
    words = " ".join(passage.indexed_text for passage in passages).split()
    vectors: NDArray[np.float32] = np.array(
        corpora.passage_embedder().embed([passage.indexed_text for passage in passages], "passage"), dtype=np.float32
    )
    dice, noise = random.Random(0), np.random.default_rng(0)  # noqa: S311  made-up texts, nothing secret
    raw = connection.cursor()
    for start in range(0, size, 2000):
        with raw.copy(f"copy passages ({COLUMNS}) from stdin") as copy:
            for place in range(start, min(size, start + 2000)):
                content = " ".join(dice.choices(words, k=WORDS))
                copy.write_row((name, str(place), "c", str(place), "", "{}", content, content, "es", "", "x", "{}"))
    raw.execute("select pk from passages where corpus = %s order by pk", (name,))
    number, keys = space_id(name, embedder.model), [row[0] for row in raw]
    for start in range(0, size, 2000):
        chosen = vectors[noise.integers(0, len(vectors), len(keys[start : start + 2000]))]
        moved = chosen + NOISE * noise.standard_normal(chosen.shape).astype(np.float32) / np.sqrt(chosen.shape[1])
        moved /= np.linalg.norm(moved, axis=1, keepdims=True)
        with raw.copy("copy embeddings (space_id, passage_pk, digest, vector) from stdin") as copy:
            for key, vector in zip(keys[start : start + 2000], moved.tolist(), strict=True):
                copy.write_row((number, key, "x", str(vector)))


def _at(values: Sequence[float], share: float) -> float:
    return sorted(values)[int(share * len(values))]


def _asked(index: HybridIndex, vectors: Mapping[str, list[float]], query: Query) -> object:
    return index.search(query, vectors[query.text])


def interleaved(
    acts: Mapping[str, Callable[[Query], object]], queries: Sequence[Query], rounds: int, warming: int = 0
) -> dict[str, list[float]]:
    """Give the milliseconds of each act on each query, in turn, so that the machine's weather falls on all alike."""
    spent: dict[str, list[float]] = {name: [] for name in acts}
    for turn in range(rounds + warming):
        for query in queries:
            for name, act in acts.items():
                taken = milliseconds(partial(act, query))
                if turn >= warming:
                    spent[name].append(taken)
    return spent


def over_floor(whole: Sequence[float], embedding: Sequence[float], statement: Sequence[float]) -> float:
    """Give how many times as long the whole takes as its two parts, by their medians."""
    floor = [one + other for one, other in zip(embedding, statement, strict=True)]
    return statistics.median(whole) / statistics.median(floor)


def milliseconds(act: Callable[[], object]) -> float:
    """Time one act."""
    started = perf_counter()
    act()
    return (perf_counter() - started) * 1000
