"""The search of a corpus of any kind: links, names, filters, fusions and vectors."""

import math
import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlalchemy import Engine, text

from clara.adapters.postgres.connections import open_engine
from clara.adapters.postgres.corpus.index import SOURCES, PostgresIndex, space_id
from clara.adapters.postgres.corpus.passages import PostgresPassages
from clara.ingestion.journey import ingest
from clara.ingestion.links import linked, names_of
from clara.retrieval.names import normalised
from clara.retrieval.options.fusion import RANK_CONSTANT
from clara.retrieval.passage import Hit, Passage, Query
from clara.retrieval.ports import Role
from clara.retrieval.profile import Profile

ENCYCLOPEDIA = Profile("encyclopedia", dense=0.7, lexical=0.3, links=0.45, named=0.3, language="en")
EAST = [1.0, 0.0]


class PlacedEmbedder:
    """Gives each text the vector whose cosine with east is as agreed; what is not agreed lies west."""

    model = "placed"
    dimensions = 2

    def __init__(self, cosines: Mapping[str, float]) -> None:
        self._cosines = cosines

    def embed(self, texts: Sequence[str], role: Role) -> list[list[float]]:
        cosines = [self._cosines.get(content, -1.0) for content in texts]
        return [[cosine, math.sqrt(1 - cosine**2)] for cosine in cosines]


class RandomEmbedder:
    """Gives every text a direction of its own."""

    model = "random"
    dimensions = 16

    def embed(self, texts: Sequence[str], role: Role) -> list[list[float]]:
        vectors = []
        for content in texts:
            source = random.Random(content)
            axes = [source.gauss() for _ in range(self.dimensions)]
            length = math.hypot(*axes)
            vectors.append([axis / length for axis in axes])
        return vectors


def page(name: str, title: str, content: str, **changes: Any) -> Passage:
    """Make a passage of a document with a title, in English; what is not a field of passages is its metadata."""
    fields = {field: changes.pop(field) for field in ("collection", "territory", "language", "document_id") if field in changes}
    plain = Passage(name, "wiki", "articles", name, "", (title,) if title else (), content, "en", metadata=changes)
    return replace(plain, **fields)


def index_of(engine: Engine, pairs: Sequence[tuple[Passage, float]], profile: Profile) -> PostgresIndex:
    """Ingest passages, each with the cosine it shall have with east."""
    embedder = PlacedEmbedder({passage.indexed_text: cosine for passage, cosine in pairs})
    ingest("wiki", [passage for passage, _ in pairs], PostgresPassages(engine, "placed", 2, profile), embedder)
    return PostgresIndex(engine, "placed", 2, profile)


def asked(index: PostgresIndex, question: str, limit: int = 50, **more: Any) -> dict[str, Hit]:
    """Search from the east; give the hits by id, best first."""
    return {hit.passage.id: hit for hit in index.search(Query(question, "wiki", limit=limit, **more), EAST)}


@pytest.fixture
def engine(empty_url: str) -> Iterator[Engine]:
    made = open_engine(empty_url)
    yield made
    made.dispose()


# Sixty passages, of which the fifty nearest fill the candidates of the vectors: what lies north is not among them.
CROWD = [(page(f"crowd{number:02}", "", f"filler{number:02}"), 0.5 + number / 1000) for number in range(60)]
SOURCE = page("alpha", "Alpha Station", "The river ends at Beta Harbour.")
TARGET = page("beta", "Beta Harbour", "Ships.")


def test_a_link_brings_in_what_shares_nothing_with_the_question(engine: Engine) -> None:
    """A passage that a hit names is found with the profile's share of that hit's score, and with nothing of its own."""
    index = index_of(engine, [(SOURCE, 0.9), (TARGET, 0.0), *CROWD], ENCYCLOPEDIA)
    hits = asked(index, "river")
    assert (hits["alpha"].score, hits["alpha"].linked) == (pytest.approx(1.0), 0.0)
    brought = hits["beta"]
    assert (brought.score, brought.linked) == (pytest.approx(0.45), pytest.approx(0.45))
    assert (brought.dense_rank, brought.lexical_rank, brought.lexical, brought.coverage) == (None, None, 0.0, 0.0)
    assert brought.cosine == pytest.approx(0.0, abs=1e-4)
    assert next(iter(hits)) == "alpha"


def test_without_links_it_is_not_found(engine: Engine) -> None:
    """A profile that gives links no share finds what the legs find, though the links are there."""
    index_of(engine, [(SOURCE, 0.9), (TARGET, 0.0), *CROWD], ENCYCLOPEDIA)
    hits = asked(PostgresIndex(engine, "placed", 2, replace(ENCYCLOPEDIA, links=0.0)), "river")
    assert "beta" not in hits
    assert all(hit.linked == 0.0 for hit in hits.values())


def test_only_the_best_hits_are_followed(engine: Engine) -> None:
    """The links of the best ten hits count, each target with its share of the best hit that names it."""
    targets = [(page(f"target{number:02}", f"Target Number {number:02}", "x"), 0.0) for number in range(SOURCES + 3)]
    sources = [
        (page(f"source{number:02}", "", f"See Target Number {number:02} and Target Number 00."), 0.9 - number / 100)
        for number in range(SOURCES + 3)
    ]
    hits = asked(index_of(engine, [*targets, *sources], ENCYCLOPEDIA), "xyz")
    own = [0.7 * (0.9 - number / 100) / 0.9 for number in range(SOURCES)]
    shares = {f"target{number:02}": 0.45 * score for number, score in enumerate(own)}
    assert {name: hit.linked for name, hit in hits.items() if hit.linked} == pytest.approx(shares, rel=1e-3)
    assert all(hits[name].score == pytest.approx(share, rel=1e-3) for name, share in shares.items())


def test_a_name_that_is_said_counts(engine: Engine) -> None:
    """A passage whose name the question says joins the hits and gains the profile's weight for it."""
    hidden = page("beta", "", "Ships.", names=["Fort Gamma"])
    index = index_of(engine, [(SOURCE, 0.9), (hidden, 0.4), *CROWD], ENCYCLOPEDIA)
    assert "beta" not in asked(index, "who built the fort of gamma?")
    hits = asked(index, "who built Fort Gamma's wall?")
    assert hits["beta"].score == pytest.approx(0.3)
    assert (hits["beta"].dense_rank, hits["beta"].lexical_rank) == (None, None)
    unnamed = asked(PostgresIndex(engine, "placed", 2, replace(ENCYCLOPEDIA, named=0.0)), "who built Fort Gamma's wall?")
    assert "beta" not in unnamed


def test_a_named_passage_passes_its_gain_on(engine: Engine) -> None:
    """What the named passage names gains its share of the whole score, the gain by the name included."""
    hits = asked(index_of(engine, [(SOURCE, 0.9), (TARGET, 0.0), *CROWD], ENCYCLOPEDIA), "alpha station")
    assert hits["alpha"].score == pytest.approx(1.3)
    assert hits["beta"].linked == pytest.approx(0.45 * 1.3)


TITLES = ["New York", "New York City", "Los Angeles", "Mercury (planet)", "Mercury (metal)"]
corpora = st.lists(
    st.dictionaries(
        st.sampled_from("abcdef"),
        st.tuples(st.sampled_from(TITLES), st.lists(st.sampled_from([*TITLES, "Mercury", "nothing"]), max_size=3)),
        max_size=6,
    ),
    min_size=2,
    max_size=3,
)


@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(versions=corpora)
def test_links_and_names_follow_the_corpus(engine: Engine, versions: list[dict[str, tuple[str, list[str]]]]) -> None:
    """After passages were added, renamed and dropped, the links and names stored are those of the corpus as it is."""
    for version in versions:
        wanted = [page(name, title, " and ".join(says)) for name, (title, says) in version.items()]
        index_of(engine, [(passage, 0.5) for passage in wanted], ENCYCLOPEDIA)
        with engine.connect() as connection:
            pairs = "select s.id, t.id from links join passages s on s.pk = source_pk join passages t on t.pk = target_pk"
            stored = {tuple(row) for row in connection.execute(text(pairs))}
            names = {
                tuple(row) for row in connection.execute(text("select name, id from names join passages on pk = passage_pk"))
            }
        assert stored == linked(wanted)
        assert names == {(normalised(name), passage.id) for passage in wanted for name in names_of(passage)}


def test_a_corpus_without_names_keeps_none(engine: Engine) -> None:
    """A profile that follows no names stores neither names nor links."""
    index_of(engine, [(SOURCE, 0.9), (TARGET, 0.0)], Profile("prose", language="en"))
    with engine.connect() as connection:
        assert connection.scalar(text("select (select count(*) from links) + (select count(*) from names)")) == 0


FILTERED = [
    page("law", "", "shared one", collection="laws", kind="law", year=2020, open=True, tags=["tax", "home"], share=0.5),
    page("rule", "", "shared two", collection="rules", kind="rule", year=2021, open=False, tags=["tax"], years=[2020]),
    page("note", "", "shared three", collection="notes", territory="ES-CT", kind=None, inner={"law": 1}),
]


@pytest.mark.parametrize(
    ("conditions", "expected"),
    [
        pytest.param({}, {"law", "rule", "note"}, id="nothing"),
        pytest.param({"collections": ("laws",)}, {"law"}, id="collection"),
        pytest.param({"collections": ("laws", "notes")}, {"law", "note"}, id="collections-are-alternatives"),
        pytest.param({"collections": ("none",)}, set(), id="no-such-collection"),
        pytest.param({"territories": ("ES-CT",)}, {"note"}, id="territory"),
        pytest.param({"territories": ("ES",), "collections": ("laws", "notes")}, {"law"}, id="territory-and-collection"),
        pytest.param({"filters": {"kind": ("law",)}}, {"law"}, id="text"),
        pytest.param({"filters": {"kind": ("law", "rule")}}, {"law", "rule"}, id="values-are-alternatives"),
        pytest.param({"filters": {"kind": ("Law",)}}, set(), id="case-counts"),
        pytest.param({"filters": {"kind": ("la",)}}, set(), id="whole-values-only"),
        pytest.param({"filters": {"kind": ()}}, set(), id="no-value"),
        pytest.param({"filters": {"kind": ("null",)}}, set(), id="null-is-no-value"),
        pytest.param({"filters": {"year": ("2020",)}}, {"law"}, id="number"),
        pytest.param({"filters": {"share": ("0.5",)}}, {"law"}, id="fraction"),
        pytest.param({"filters": {"open": ("true",)}}, {"law"}, id="truth"),
        pytest.param({"filters": {"open": ("false",)}}, {"rule"}, id="untruth"),
        pytest.param({"filters": {"tags": ("home",)}}, {"law"}, id="one-of-a-list"),
        pytest.param({"filters": {"tags": ("tax",)}}, {"law", "rule"}, id="in-two-lists"),
        pytest.param({"filters": {"unknown": ("x",)}}, set(), id="unknown-key"),
        pytest.param({"filters": {"tags": ("tax",), "kind": ("rule",)}}, {"rule"}, id="keys-are-conditions"),
        pytest.param({"filters": {"tags": ("home",), "kind": ("rule",)}}, set(), id="both-must-hold"),
        pytest.param({"filters": {"tags": ("tax",)}, "collections": ("rules",)}, {"rule"}, id="collection-and-metadata"),
        pytest.param({"filters": {"years": ("2020",)}}, {"rule"}, id="number-in-a-list"),
        pytest.param({"filters": {"inner": ("law",)}}, set(), id="keys-of-an-object-are-no-values"),
        pytest.param({"filters": {"collection": ("laws",)}}, {"law"}, id="own-collection"),
    ],
)
def test_filters(engine: Engine, conditions: dict[str, Any], expected: set[str]) -> None:
    """Only passages that meet every condition are found, by their words, by their vectors and by both."""
    index = index_of(engine, [(passage, 0.5) for passage in FILTERED], ENCYCLOPEDIA)
    assert set(asked(index, "shared", **conditions)) == expected
    assert set(asked(index, "xyz", **conditions)) == expected
    assert set(asked(index, "xyz", exact=True, **conditions)) == expected


def test_links_names_and_documents_do_not_pass_a_filter(engine: Engine) -> None:
    """What is named, linked or meant is not found either where it does not meet the conditions."""
    target = replace(TARGET, collection="harbours")
    index = index_of(engine, [(SOURCE, 0.9), (target, 0.8)], ENCYCLOPEDIA)
    assert set(asked(index, "river", collections=("articles",))) == {"alpha"}
    assert set(asked(index, "Beta Harbour", collections=("articles",), documents={"beta": 2.0})) == {"alpha"}
    assert set(asked(index, "river", collections=("harbours",))) == {"beta"}


def test_what_a_filter_excludes_does_not_change_the_scores(engine: Engine) -> None:
    """The scores are those of a corpus that holds only what meets the conditions."""
    near, far = page("near", "", "one", collection="kept"), page("far", "", "two", collection="kept")
    outside = page("outside", "Fort Gamma", "See Near Place.", collection="other")
    near = replace(near, metadata={"names": ["Near Place"]})
    index = index_of(engine, [(near, 0.9), (far, 0.5), (outside, 0.1)], ENCYCLOPEDIA)
    hits = asked(index, "Fort Gamma", collections=("kept",), documents={"outside": 1.0})
    assert {name: hit.score for name, hit in hits.items()} == pytest.approx({"near": 0.7, "far": 0.0}, abs=1e-4)


def test_the_indexes_serve_a_filtered_query(engine: Engine) -> None:
    """Of 3,000, the one that passes is found though it is the farthest, and no plan scans all postings or vectors."""
    words, embedder = [f"word{number}" for number in range(5_000)], RandomEmbedder()
    pages = [page(f"p{number:04}", "", " ".join(random.Random(number).sample(words, 8))) for number in range(3_000)]
    pages[1234] = replace(pages[1234], collection="rare", metadata={"kind": "rare"})
    ingest("wiki", pages, PostgresPassages(engine, "random", 16), embedder)
    with engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
        connection.execute(text("vacuum analyze"))
    index, number = PostgresIndex(engine, "random", 16), space_id("wiki", "random")
    (own,) = embedder.embed([pages[1234].indexed_text], "passage")
    away = [-axis for axis in own]
    for conditions in ({"collections": ("rare",)}, {"filters": {"kind": ("rare",)}}):
        (hit,) = index.search(Query("nothing of it", "wiki", **conditions), away)
        assert (hit.passage.id, hit.dense_rank, hit.lexical_rank) == ("p1234", 1, None)
        assert hit.cosine == pytest.approx(-1.0, abs=1e-4)
    common = Query("word7 word8", "wiki", collections=("articles",))
    plan = "\n".join(index.plan(common, own))
    for used in (f"using hnsw_{number}", "using pk_postings", "using pk_lexicon"):
        assert used in plan
    for scanned in ("Seq Scan on postings", "Seq Scan on embeddings"):
        assert scanned not in plan
    assert f"hnsw_{number}" not in "\n".join(index.plan(replace(common, exact=True), own))
    the_iterative_scan_goes_on(engine, number, away)


def the_iterative_scan_goes_on(engine: Engine, number: int, away: Sequence[float]) -> None:
    """HNSW by itself reaches the one row that passes, far beyond the candidates of a single scan."""
    nearest = f"""
        select p.id from embeddings e join passages p on p.pk = e.passage_pk
         where e.space_id = {number} and p.collection = 'rare'
         order by e.vector::vector(16) <=> cast(:vector as vector(16)) limit 5"""  # noqa: S608  a number of our own
    values = {"vector": str(list(away))}
    with engine.connect() as connection:
        for setting in ("enable_sort", "enable_seqscan", "enable_bitmapscan"):
            connection.execute(text(f"set local {setting} = off"))
        assert f"using hnsw_{number}" in "\n".join(row[0] for row in connection.execute(text(f"explain {nearest}"), values))
        assert connection.execute(text(nearest), values).scalars().all() == ["p1234"]
        connection.execute(text("set local hnsw.iterative_scan = off"))
        assert connection.execute(text(nearest), values).scalars().all() == []


def test_exact_is_brute_force(engine: Engine) -> None:
    """Comparing every vector gives the fifty nearest in the order that Python computes, with their cosines and ranks."""
    pages = [page(f"p{number:03}", "", f"text{number}") for number in range(300)]
    embedder = RandomEmbedder()
    ingest("wiki", pages, PostgresPassages(engine, "random", 16), embedder)
    (vector,) = embedder.embed(["question"], "query")
    made = zip(pages, embedder.embed([passage.indexed_text for passage in pages], "passage"), strict=True)
    cosines = {passage.id: sum(a * b for a, b in zip(vector, own, strict=True)) for passage, own in made}
    nearest = sorted(cosines, key=cosines.__getitem__, reverse=True)[:50]
    hits = PostgresIndex(engine, "random", 16, vectors=True).search(Query("none", "wiki", limit=50, exact=True), vector)
    assert [hit.passage.id for hit in hits] == nearest
    assert [hit.dense_rank for hit in hits] == list(range(1, 51))
    assert [hit.cosine for hit in hits] == pytest.approx([cosines[name] for name in nearest], abs=1e-5)


def test_vectors_are_there_when_wanted(engine: Engine) -> None:
    """An index that gives vectors gives those that were stored, of length 1; others give none."""
    plain = index_of(engine, [(SOURCE, 0.9), (TARGET, 0.0), *CROWD], ENCYCLOPEDIA)
    hits = asked(PostgresIndex(engine, "placed", 2, ENCYCLOPEDIA, vectors=True), "river")
    assert hits["beta"].linked > 0
    for hit in hits.values():
        assert math.hypot(*hit.vector) == pytest.approx(1.0, abs=1e-5)
        assert hit.vector[0] == pytest.approx(hit.cosine, abs=1e-5)
    assert asked(plain, "river")["alpha"].vector is None


def test_a_passage_without_a_vector_has_none(engine: Engine) -> None:
    """What could not be embedded is found by its words, with no vector and no rank among them."""

    class NoEmbedder(PlacedEmbedder):
        def embed(self, texts: Sequence[str], role: Role) -> list[list[float]]:
            return [[0.0, 0.0] for _ in texts]

    ingest("wiki", [SOURCE], PostgresPassages(engine, "placed", 2), NoEmbedder({}))
    (hit,) = PostgresIndex(engine, "placed", 2, vectors=True).search(Query("river", "wiki"), EAST)
    assert (hit.vector, hit.dense_rank, hit.lexical_rank, hit.score) == (None, None, 1, pytest.approx(0.3))


RANKED = [
    (page("a", "", "river"), 0.9),
    (page("b", "", "river river river bank"), 0.7),
    (page("c", "", "bank of a long sentence about nothing"), 0.8),
    (page("d", "", "other"), 0.6),
]


def test_ranks_agree_with_the_legs(engine: Engine) -> None:
    """Each leg counts its passages from 1 on, best first, and leaves out what it did not bring up."""
    hits = asked(index_of(engine, RANKED, Profile("prose")), "river bank")
    for rank, score in (("dense_rank", "cosine"), ("lexical_rank", "lexical")):
        ranked = sorted((hit for hit in hits.values() if getattr(hit, rank)), key=lambda hit: getattr(hit, rank))
        assert [getattr(hit, rank) for hit in ranked] == list(range(1, len(ranked) + 1))
        assert [getattr(hit, score) for hit in ranked] == sorted((getattr(hit, score) for hit in ranked), reverse=True)
    assert {name: hit.dense_rank for name, hit in hits.items()} == {"a": 1, "c": 2, "b": 3, "d": 4}
    assert {name for name, hit in hits.items() if hit.lexical_rank} == {"a", "b", "c"}
    assert hits["d"].lexical_rank is None


@pytest.mark.parametrize(("dense", "lexical"), [(1.0, 1.0), (0.7, 0.3), (0.0, 1.0)], ids=["equal", "weighed", "one-leg"])
def test_reciprocal_ranks(engine: Engine, dense: float, lexical: float) -> None:
    """A profile that fuses by ranks scores 1/(60 + rank) of each leg, times its weight; a leg not reached gives nothing."""
    hits = asked(index_of(engine, RANKED, Profile("ranks", dense, lexical, by_ranks=True)), "river bank")
    assert len(hits) == (4 if dense else 3)  # a leg without weight is not asked
    for hit in hits.values():
        legs = (dense, hit.dense_rank), (lexical, hit.lexical_rank)
        assert hit.score == pytest.approx(sum(weight / (RANK_CONSTANT + rank) for weight, rank in legs if rank))


@pytest.mark.parametrize(
    ("question", "trust"),
    [("river", 1.0), ("river zzz", None), ("zzz", 0.0)],
    ids=["all-its-words-are-there", "one-of-two", "none"],
)
def test_words_count_as_far_as_they_cover_the_question(engine: Engine, question: str, trust: float | None) -> None:
    """By coverage, the lexical leg weighs the share of the question's term weight that the best passage has."""
    pairs = [(page("wet", "", "river"), 0.0), (page("near", "", "meadow"), 1.0)]
    hits = asked(index_of(engine, pairs, Profile("covered", dense=0.7, lexical=0.5, by_coverage=True)), question)
    expected = hits["wet"].coverage if trust is None else trust
    assert 0 < expected < 1 or trust is not None
    assert hits["wet"].score == pytest.approx(0.5 * expected)
    assert hits["near"].score == pytest.approx(0.7)


def test_links_share_in_reciprocal_ranks(engine: Engine) -> None:
    """Fused by ranks too, what a hit names has its share of the hit's score."""
    ranks = replace(ENCYCLOPEDIA, by_ranks=True, dense=1.0, lexical=1.0)
    hits = asked(index_of(engine, [(SOURCE, 0.9), (TARGET, 0.0), *CROWD], ranks), "river")
    assert hits["alpha"].score == pytest.approx(2 / 61)
    assert hits["beta"].score == hits["beta"].linked == pytest.approx(0.45 * 2 / 61)


@pytest.mark.parametrize("rough", [100, 12])
def test_frequent_terms_count_for_the_best_by_rare_ones(engine: Engine, rough: int) -> None:
    """Reading few postings gives what has a rare term the same BM25 as reading all, and nothing to what has none."""
    pages = [(page(f"p{number:02}", "", f"common {'rare ' * (number % 4 == 0)}{'pad ' * number}"), 0.5) for number in range(40)]
    index = index_of(engine, pages, Profile("prose"))
    query = Query("common rare", "wiki", limit=100)

    def scores(**values: int) -> dict[str, tuple[float, float]]:
        with engine.connect() as connection:
            rows = connection.execute(index.statement(query), {**index._values(query, EAST), **values}).all()
        return {row.id: (row.lexical, row.coverage) for row in rows if row.lexical}

    every, few = scores(), scores(budget=1, rough=rough)
    assert len(every) == 40
    assert set(few) == {f"p{number:02}" for number in range(0, 40, 4)}
    for name, (lexical, coverage) in few.items():
        assert lexical == pytest.approx(every[name][0])
        assert coverage == pytest.approx(1.0)
    assert scores(budget=1, rough=3).keys() == set(sorted(few, key=lambda name: -few[name][0])[:3])


CODE = page("code", "", "def getHTTPResponse_code(self): return self.lastValue", language="code")


@pytest.mark.parametrize(
    "question",
    [
        "code",
        "get",
        "last value",
        "getHTTPResponse_code",
        "response",
        "http",
        "get http response",
    ],
)
def test_identifiers_are_found_by_their_words(engine: Engine, question: str) -> None:
    """Code is found by the words of its identifiers, and by a whole identifier, all of whose terms it then has."""
    other = page("other", "", "def unrelated(): pass", language="code")
    hits = asked(index_of(engine, [(CODE, 0.5), (other, 0.5)], Profile("code", language="code")), question)
    assert hits["code"].lexical > 0
    assert hits["code"].coverage == pytest.approx(1.0)
    assert hits["other"].lexical == 0.0


def test_prose_is_not_split(engine: Engine) -> None:
    """In any other language an identifier is one word."""
    hits = asked(index_of(engine, [(replace(CODE, language="en"), 0.5)], Profile("prose", language="en")), "get")
    assert hits["code"].lexical == 0.0


def test_the_planner_knows_a_large_corpus_at_once(engine: Engine) -> None:
    """After a thousand new passages the tables of the search are analysed with the load; after a few they are not."""
    looked = text("select count(last_analyze) from pg_stat_user_tables where relname in ('passages', 'postings', 'embeddings')")

    def analysed() -> int:
        with engine.connect() as connection:
            connection.execute(text("select pg_stat_force_next_flush()"))
            return connection.scalar(looked) or 0

    pages = [page(f"p{number:04}", "", f"word{number}") for number in range(1_000)]
    store = PostgresPassages(engine, "random", 16)
    ingest("wiki", pages[:10], store, RandomEmbedder())
    assert analysed() == 0
    ingest("large", [replace(passage, corpus="large") for passage in pages], store, RandomEmbedder())
    assert analysed() == 3
