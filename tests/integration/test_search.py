"""The hybrid statement: what it finds, how it plans, and that no input changes it."""

import math
import random
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlalchemy import Engine, event, text

from clara.adapters.postgres.connections import open_engine
from clara.adapters.postgres.corpus.index import PostgresIndex, space_id
from clara.adapters.postgres.corpus.passages import PostgresPassages
from clara.container import Container
from clara.ingestion.journey import ingest
from clara.knowledge.passages import CORPUS
from clara.retrieval.passage import Hit, Passage, Query
from clara.retrieval.ports import IndexUnavailableError, Role

TEXTS = {
    "a": "el padrón municipal se pide en el ayuntamiento",
    "b": "la tasa del NIE se paga en el banco",
    "c": "el padrón es gratuito y el certificado de padrón también",
    "d": "una persona sin relación alguna",
}


class AxisEmbedder:
    """Gives each known text an axis of its own, and every query the sum of the axes of the letters it names."""

    model = "axes"
    dimensions = 4

    def embed(self, texts: Sequence[str], role: Role) -> list[list[float]]:
        vectors = []
        for content in texts:
            axes = [float(name in content.split() or content == text_) for name, text_ in TEXTS.items()]
            length = math.sqrt(sum(axes)) or 1.0
            vectors.append([axis / length for axis in axes])
        return vectors


class RandomEmbedder:
    """Gives every text a direction of its own."""

    model = "random"
    dimensions = 16

    def embed(self, texts: Sequence[str], role: Role) -> list[list[float]]:
        vectors = []
        for content in texts:
            axes = [random.Random(f"{content}{axis}").gauss() for axis in range(16)]
            length = math.hypot(*axes)
            vectors.append([axis / length for axis in axes])
        return vectors


def passage(name: str, corpus: str = "small") -> Passage:
    return Passage(name, corpus, "curado", f"doc-{name}", "plazos", (), TEXTS[name], "es")


@pytest.fixture
def engine(empty_url: str) -> Iterator[Engine]:
    made = open_engine(empty_url)
    yield made
    made.dispose()


@pytest.fixture
def index(engine: Engine) -> PostgresIndex:
    embedder = AxisEmbedder()
    ingest("small", [passage(name) for name in TEXTS], PostgresPassages(engine, embedder.model, 4), embedder)
    return PostgresIndex(engine, embedder.model, 4)


def bm25(engine: Engine, question: str) -> dict[str, float]:
    """The textbook formula, in Python, over the same terms."""
    with engine.connect() as connection:

        def cut(content: str) -> list[tuple[str, int]]:
            return [tuple(row) for row in connection.execute(text("select * from lexemes('es', :t)"), {"t": content})]

        documents = {name: dict(cut(content)) for name, content in TEXTS.items()}
        asked = [term for term, _ in cut(question)]
    mean = sum(sum(terms.values()) for terms in documents.values()) / len(documents)
    spread = Counter(term for terms in documents.values() for term in terms)
    scores = {}
    for name, terms in documents.items():
        length = sum(terms.values())
        scores[name] = sum(
            math.log(1 + (len(documents) - spread[term] + 0.5) / (spread[term] + 0.5))
            * terms[term]
            * 2.2
            / (terms[term] + 1.2 * (0.25 + 0.75 * length / mean))
            for term in asked
            if term in terms
        )
    return scores


@pytest.mark.parametrize("question", ["padrón", "certificado de padrón gratuito", "tasa NIE padrón", "nada de nada"])
def test_lexical_scores_are_bm25(engine: Engine, index: PostgresIndex, question: str) -> None:
    """The SQL gives exactly the textbook's BM25."""
    hits = index.search(Query(question, "small", limit=10), [0.5, 0.5, 0.5, 0.5])
    expected = bm25(engine, question)
    assert {hit.passage.id: hit.lexical for hit in hits} == pytest.approx(expected)


def test_scores_are_fused_by_min_max(index: PostgresIndex) -> None:
    """0.7 of the cosine's range and 0.3 of the best BM25 make the order."""
    hits = {hit.passage.id: hit for hit in index.search(Query("tasa del NIE", "small", limit=10), [1.0, 0.0, 0.0, 0.0])}
    assert hits["a"].score == pytest.approx(0.7)
    assert hits["b"].score == pytest.approx(0.3)
    assert hits["d"].score == pytest.approx(0.0)
    assert hits["b"].coverage == pytest.approx(1.0)
    assert hits["a"].coverage == pytest.approx(0.0)


def test_weights_are_added(index: PostgresIndex) -> None:
    """A document's passages gain its weight, those of a section of it that section's too, and nothing else changes."""
    east = [1.0, 0.0, 0.0, 0.0]
    meant = Query(
        "xyz",
        "small",
        limit=10,
        documents={"doc-d": 0.5, "doc-c": 0.25},
        sections={("doc-d", "plazos"): 0.375, ("doc-c", "other"): 9.0, ("doc-b", "plazos"): 9.0, ("doc-x", "plazos"): 9.0},
    )
    hits = index.search(meant, east)
    assert {hit.passage.id: hit.score for hit in hits} == pytest.approx({"a": 0.7, "b": 0.0, "c": 0.25, "d": 0.875})
    assert [hit.passage.id for hit in hits] == ["d", "a", "c", "b"]
    plain = index.search(Query("xyz", "small", limit=10), east)
    assert {hit.passage.id: hit.score for hit in plain} == pytest.approx({"a": 0.7, "b": 0.0, "c": 0.0, "d": 0.0})


def test_passages_gain_what_they_are_told(index: PostgresIndex) -> None:
    """A passage of a meant document gains its own weight too; one of another document, or that is not there, nothing."""
    told = {"d": 0.25, "a": 9.0, "nowhere": 9.0}
    hits = index.search(Query("xyz", "small", limit=10, documents={"doc-d": 0.5}, passages=told), [1.0, 0.0, 0.0, 0.0])
    assert {hit.passage.id: hit.score for hit in hits} == pytest.approx({"a": 0.7, "b": 0.0, "c": 0.0, "d": 0.75})


def test_meant_documents_join_the_candidates(engine: Engine) -> None:
    """A document that the question is about is found though neither its words nor its vector come near."""
    embedder = RandomEmbedder()
    crowd = [replace(passage("a", "crowd"), id=f"p{number:03}", document_id=f"d{number}") for number in range(150)]
    crowd = [replace(one, text=f"padrón {one.id}") for one in crowd]
    far = Passage("far", "crowd", "curado", "far", "plazos", (), TEXTS["d"], "es")
    ingest("crowd", [*crowd, far], PostgresPassages(engine, embedder.model, 16), embedder)
    index, (vector,) = PostgresIndex(engine, embedder.model, 16), embedder.embed(["padrón p001"], "query")
    plain = index.search(Query("padrón", "crowd", limit=100), vector)
    meant = index.search(Query("padrón", "crowd", limit=100, documents={"far": 2.0}), vector)
    assert len(plain) == len(meant) == 100
    assert "far" not in {hit.passage.id for hit in plain}
    assert meant[0].passage.id == "far"
    (own,) = embedder.embed([far.indexed_text], "passage")
    assert meant[0].cosine == pytest.approx(sum(a * b for a, b in zip(vector, own, strict=True)), abs=1e-4)
    assert 2.0 <= meant[0].score <= 2.7


@pytest.fixture
def spread(engine: Engine) -> PostgresIndex:
    """An index of three documents: twelve passages of one and two of another for the state, two of a third for two places."""
    embedder = RandomEmbedder()
    base = passage("a", "spread")
    many = [replace(base, id=f"many-{number:02}", document_id="many") for number in range(12)]
    few = [replace(base, id=f"few-{number}", document_id="few") for number in range(2)]
    local = [replace(base, id=f"local-{code}", document_id="local", territory=code) for code in ("ES-CT", "ES-VC")]
    texts = [replace(one, text=f"padrón {one.id}") for one in (*many, *few, *local)]
    ingest("spread", texts, PostgresPassages(engine, embedder.model, 16), embedder)
    return PostgresIndex(engine, embedder.model, 16)


def found(index: PostgresIndex, limit: int, **more: Any) -> list[Hit]:
    """Search for what every passage says."""
    return index.search(Query("padrón", "spread", limit=limit, **more), RandomEmbedder().embed(["x"], "query")[0])


@pytest.mark.parametrize(
    ("territories", "expected"),
    [
        pytest.param((), {"ES", "ES-CT", "ES-VC"}, id="no-place"),
        pytest.param(("ES",), {"ES"}, id="state"),
        pytest.param(("ES-CT", "ES"), {"ES", "ES-CT"}, id="comunidad"),
        pytest.param(("ES-B/08019", "ES-B", "ES-CT", "ES"), {"ES", "ES-CT"}, id="municipality"),
        pytest.param(("ES-VC",), {"ES-VC"}, id="without-the-state"),
        pytest.param(("ES-XX",), set(), id="nowhere"),
    ],
)
def test_only_what_holds_in_the_territories(spread: PostgresIndex, territories: tuple[str, ...], expected: set[str]) -> None:
    """With territories, only passages that hold in one of them are found, and all of those."""
    hits = found(spread, 100, territories=territories)
    assert {hit.passage.territory for hit in hits} == expected
    assert len(hits) == sum({"ES": 14, "ES-CT": 1, "ES-VC": 1}[territory] for territory in expected)


@pytest.mark.parametrize(
    ("limit", "most"),
    [
        pytest.param(1, 1, id="1-of-1"),
        pytest.param(2, 2, id="ceil-1.5-of-2"),
        pytest.param(4, 3, id="3-of-4"),
        pytest.param(5, 4, id="ceil-3.75-of-5"),
        pytest.param(8, 6, id="6-of-8"),
        pytest.param(12, 9, id="9-of-12"),
    ],
)
def test_no_document_fills_the_list_alone(spread: PostgresIndex, limit: int, most: int) -> None:
    """However far ahead one document is, others have a quarter of the list; it still comes first, and order is by score."""
    hits = found(spread, limit, documents={"many": 5.0, "few": 0.01})
    names = [hit.passage.document_id for hit in hits]
    assert len(hits) == limit
    assert names.count("many") == max(most, limit - 4)
    assert names[:most] == ["many"] * most
    assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)


def test_a_document_fills_what_others_leave(spread: PostgresIndex) -> None:
    """Where there is not enough of others, the document that is ahead has the rest of the list, ordered by score."""
    hits = found(spread, 16, documents={"many": 5.0})
    assert [hit.passage.document_id for hit in hits][:12] == ["many"] * 12
    alone = found(spread, 12, documents={"many": 5.0}, territories=("ES",))
    assert Counter(hit.passage.document_id for hit in alone) == {"many": 10, "few": 2}


@pytest.mark.parametrize("limit", [1, 3, 5, 12, 100])
def test_best_first(spread: PostgresIndex, limit: int) -> None:
    """The hits come in the order of their scores, each passage once, no more than wanted."""
    hits = found(spread, limit, documents={"few": 0.3, "local": 0.2}, sections={("few", "plazos"): 0.1})
    assert len(hits) == min(limit, 16)
    assert len({hit.passage.id for hit in hits}) == len(hits)
    assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)


def test_an_unknown_corpus_holds_nothing(index: PostgresIndex) -> None:
    """Asking for a corpus that was never ingested is a miss, not an error."""
    assert index.search(Query("padrón", "none"), [1.0, 0.0, 0.0, 0.0]) == []


def test_corpora_do_not_mix(engine: Engine, index: PostgresIndex) -> None:
    """A search sees the passages of its corpus only."""
    embedder = AxisEmbedder()
    ingest("other", [passage("a", "other")], PostgresPassages(engine, embedder.model, 4), embedder)
    assert {hit.passage.corpus for hit in index.search(Query("padrón", "small", limit=10), [1.0, 0.0, 0.0, 0.0])} == {"small"}
    assert len(index.search(Query("padrón", "other", limit=10), [1.0, 0.0, 0.0, 0.0])) == 1


def test_both_indexes_serve_the_statement(engine: Engine) -> None:
    """On a corpus that is not tiny, the plan goes through HNSW, the lexicon and the postings, and scans no table."""
    embedder = RandomEmbedder()
    words = [f"palabra{number}" for number in range(5_000)]
    many = [
        Passage(f"p{number}", "many", "c", f"d{number}", "s", (), " ".join(random.Random(number).sample(words, 8)), "es")
        for number in range(3_000)
    ]
    ingest("many", many, PostgresPassages(engine, embedder.model, 16), embedder)
    index = PostgresIndex(engine, embedder.model, 16)
    plans: list[str] = []

    def explain(connection: Any, _cursor: Any, statement: str, parameters: Any, _context: Any, _many: bool) -> None:
        if "bm25" in statement and not statement.startswith("explain"):
            plans.extend(row[0] for row in connection.exec_driver_sql(f"explain {statement}", parameters))

    with engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
        connection.execute(text("vacuum analyze"))
    event.listen(engine, "before_cursor_execute", explain)
    query = Query(
        "palabra7 palabra8",
        "many",
        documents={"d7": 1.5, "d8": 0.3},
        sections={("d7", "s"): 0.4},
        territories=("ES-CT", "ES"),
    )
    index.search(query, embedder.embed(["x"], "query")[0])
    plan = "\n".join(plans)
    assert f"Index Scan using hnsw_{space_id('many', embedder.model)}" in plan
    assert "Index Only Scan using pk_postings" in plan
    assert "using pk_lexicon" in plan
    assert "using ix_passages_corpus_document_id" in plan
    assert "Seq Scan on postings" not in plan
    assert "Seq Scan on embeddings" not in plan


def test_the_keys_find_the_right_fact(knowledge_url: str, services_on: Callable[..., Container]) -> None:
    """The whole chain finds the fee of the NIE in four languages."""
    retrieve = services_on(knowledge_url).retriever
    for question in ("¿cuánto cuesta el NIE?", "cuanto vale sacar el nie", "how much is the NIE fee", "combien coûte le NIE"):
        found = retrieve(Query(question, CORPUS))
        assert found.status == "found", question
        assert found.tier == "pgvector"
        assert found.hits[0].passage.document_id == "nie", question


def test_before_the_first_ingestion(empty_url: str, services_on: Callable[..., Container]) -> None:
    """A database that was never filled has judged nothing: the keyword tier answers what it knows."""
    found = services_on(empty_url).retriever(Query("¿cuánto cuesta el NIE?", CORPUS))
    assert (found.status, found.tier, found.outages) == ("found", "json_fallback", ())


hostile = st.text(st.characters(codec=None), max_size=20) | st.sampled_from(["doc-a", "{x,y}", "'", '"', "\x00", "ES"])


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    question=st.one_of(
        st.text(max_size=200),
        st.text(st.characters(codec=None), max_size=50),
        st.sampled_from(["' or 1=1 --", "%s :text {0}", "\\", "\x00", "a & | ! ( )", "'); drop table passages; --", "\ud800"]),
    ),
    more=st.fixed_dictionaries(
        {
            "documents": st.dictionaries(hostile, st.floats(0, 2), max_size=3),
            "sections": st.dictionaries(st.tuples(hostile, hostile), st.floats(0, 2), max_size=3),
            "territories": st.lists(hostile, max_size=3).map(tuple),
            "collections": st.lists(hostile, max_size=2).map(tuple),
            "filters": st.dictionaries(hostile, st.lists(hostile, min_size=1, max_size=2).map(tuple), max_size=2),
            "exact": st.booleans(),
        }
    ),
)
def test_no_input_changes_the_statement(index: PostgresIndex, question: str, more: dict[str, Any]) -> None:
    """Whatever is asked, the SQL sent is the template of its shape with its two numbers, and the search succeeds."""
    sent: list[str] = []

    def note(_connection: Any, _cursor: Any, statement: str, *_: Any) -> None:
        sent.append(statement)

    engine = index._engine
    event.listen(engine, "before_cursor_execute", note)
    try:
        query = Query(question, "small", **more)
        index.search(query, [1.0, 0.0, 0.0, 0.0])
    finally:
        event.remove(engine, "before_cursor_execute", note)
    assert len(set(sent)) == 1
    assert question not in sent[0] or len(question) < 30
    filtered = bool(more["territories"] or more["collections"] or more["filters"])
    plain = Query("x", "small", territories=("x",) * filtered, exact=more["exact"])
    assert sent[0] == str(index.statement(plain).compile(dialect=engine.dialect))


def test_a_server_that_is_away_is_an_outage(server: Any) -> None:
    """No server behind the address: IndexUnavailableError, never an empty result."""
    engine = open_engine("postgresql://nobody@127.0.0.1:1/none")
    with pytest.raises(IndexUnavailableError, match="does not answer"):
        PostgresIndex(engine, "axes", 4).search(Query("padrón", "small"), [1.0, 0.0, 0.0, 0.0])
    engine.dispose()


def test_a_server_that_leaves_and_returns_is_found_again(index: PostgresIndex) -> None:
    """Connections that the server cut are replaced without an error to the asker."""
    with index._engine.connect() as connection, pytest.raises(Exception, match="terminat"):
        connection.execute(
            text("select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and pid <> 0")
        ).all()
    assert index.search(Query("padrón", "small"), [1.0, 0.0, 0.0, 0.0])
