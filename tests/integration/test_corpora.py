"""Corpora as a whole: what is listed of them, their versions, dropping one, and names that collide."""

import math
import random
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from itertools import pairwise

import pytest
from sqlalchemy import Engine, text
from tests.journeys.talking import until

from clara.adapters.postgres.connections import open_engine
from clara.adapters.postgres.corpus.index import PostgresIndex, space_id
from clara.adapters.postgres.corpus.passages import PostgresPassages
from clara.adapters.postgres.corpus.spaces import NameTakenError, ensure_space, index_space
from clara.adapters.postgres.statements import AtOnce
from clara.ingestion.journey import ingest
from clara.ingestion.ports import CorpusChange, CorpusUnavailableError, StoredCorpus, WrittenPassage
from clara.retrieval.passage import Passage, Query
from clara.retrieval.ports import Role
from clara.retrieval.profile import Profile

MODEL = "lengths"
ENCYCLOPEDIA = Profile("encyclopedia", links=0.45, named=0.3, language="en")
EAST = [1.0, 0.0]


class LengthEmbedder:
    """Gives each text a direction by its length."""

    model = MODEL
    dimensions = 2

    def embed(self, texts: Sequence[str], role: Role) -> list[list[float]]:
        return [[math.cos(len(content) / 1_000), math.sin(len(content) / 1_000)] for content in texts]


def page(name: str, title: str = "", content: str = "text", collection: str = "articles") -> Passage:
    """Make the first passage of a document."""
    document, _, index = name.partition("#")
    metadata = {"index": int(index or 0)}
    return Passage(name, "", collection, document, "", (title,) if title else (), content, "en", metadata=metadata)


CITIES = [page("a#0", "New York", "It is not Los Angeles."), page("a#1", "New York", "More."), page("b", "Los Angeles", "Hot.")]
LAWS = [page("law", "Tax Law", "Pay in New York.", "laws"), page("rule", "Home Rule", "See Tax Law.", "rules")]


@pytest.fixture
def engine(empty_url: str) -> Iterator[Engine]:
    made = open_engine(empty_url)
    yield made
    made.dispose()


@pytest.fixture
def store(engine: Engine) -> PostgresPassages:
    return PostgresPassages(engine, MODEL, 2, ENCYCLOPEDIA)


@pytest.fixture
def fill(store: PostgresPassages) -> Callable[..., object]:
    """Make a corpus hold some passages."""

    def make(corpus: str, *pages: Passage, into: PostgresPassages = store) -> object:
        return ingest(corpus, [replace(one, corpus=corpus) for one in pages], into, LengthEmbedder())

    return make


def count(engine: Engine, table: str, corpus: str) -> int:
    """Count the rows of a table that are there for a corpus."""
    owned = {
        "embeddings": "embeddings join vector_spaces s on s.id = space_id where s.corpus = :corpus",
        "links": "links join passages p on p.pk = source_pk where p.corpus = :corpus",
        "corpora": "corpora where name = :corpus",
    }
    with engine.connect() as connection:
        counted = f"select count(*) from {owned.get(table, f'{table} where corpus = :corpus')}"  # noqa: S608  names of our own
        return connection.scalar(text(counted), {"corpus": corpus})


def version(engine: Engine, corpus: str = "cities") -> int:
    with engine.connect() as connection:
        return connection.scalar(text("select version from corpora where name = :corpus"), {"corpus": corpus})


def indexes(engine: Engine) -> set[str]:
    """Give the names of the vector indexes."""
    with engine.connect() as connection:
        return set(connection.execute(text("select indexname from pg_indexes where indexname like 'hnsw%'")).scalars())


TABLES = ["corpora", "passages", "postings", "lexicon", "names", "links", "vector_spaces", "embeddings"]


def test_nothing_is_listed_before_the_first(store: PostgresPassages) -> None:
    """An empty database lists no corpus."""
    assert store.corpora() == []


def test_what_is_listed(engine: Engine, store: PostgresPassages, fill: Callable[..., object]) -> None:
    """Each corpus is listed by name with its profile, its sizes, its collections in order and its links."""
    fill("laws", *LAWS)
    fill("cities", *CITIES)
    fill("prose", *CITIES, into=PostgresPassages(engine, MODEL, 2, Profile("prose")))
    assert store.corpora() == [
        StoredCorpus("cities", "encyclopedia", passages=3, documents=2, collections=("articles",), links=1),
        StoredCorpus("laws", "encyclopedia", passages=2, documents=2, collections=("laws", "rules"), links=1),
        StoredCorpus("prose", "prose", passages=3, documents=2, collections=("articles",), links=0),
    ]


def test_an_emptied_corpus_is_listed(store: PostgresPassages, fill: Callable[..., object]) -> None:
    """A corpus from which every passage was taken is there, with nothing in it."""
    fill("cities", *CITIES)
    fill("cities")
    assert store.corpora() == [StoredCorpus("cities", "encyclopedia", passages=0, documents=0, collections=(), links=0)]


def test_the_profile_is_the_last_one_written_with(engine: Engine, store: PostgresPassages, fill: Callable[..., object]) -> None:
    """A change written under another profile makes that one the corpus's."""
    fill("cities", *CITIES)
    fill("cities", *CITIES[:2], into=PostgresPassages(engine, MODEL, 2, Profile("prose")))
    assert [(held.profile, held.links) for held in store.corpora()] == [("prose", 0)]


def test_another_profile_alone_is_a_change(engine: Engine, store: PostgresPassages, fill: Callable[..., object]) -> None:
    """The same passages under another profile get its name, its names and its links."""
    fill("cities", *CITIES, into=PostgresPassages(engine, MODEL, 2, Profile("prose")))
    fill("cities", *CITIES)
    assert [(held.profile, held.links) for held in store.corpora()] == [("encyclopedia", 1)]
    assert count(engine, "names", "cities") == 2


def test_two_new_corpora_at_once(engine: Engine, fill: Callable[..., object]) -> None:
    """Both are indexed, though making an index waits for all who are writing vectors."""
    with ThreadPoolExecutor(1) as pool:
        with AtOnce(engine).transaction() as first:
            first.changed("passage.corpus", corpus="cities", profile="prose")
            ensure_space(first, "cities", MODEL, 2)
            first.connection.execute("lock table embeddings in row exclusive mode")  # it writes vectors
            second = pool.submit(fill, "laws", *LAWS)
            until(lambda: somebody_waits(engine))
            index_space(first, "cities", MODEL, 2)
        second.result()
    assert indexes(engine) == {f"hnsw_{space_id(corpus, MODEL)}" for corpus in ("cities", "laws")}


def somebody_waits(engine: Engine) -> bool:
    with engine.connect() as connection:
        return connection.scalar(text("select exists (select from pg_locks where not granted)"))


def test_dropping_leaves_nothing(engine: Engine, store: PostgresPassages, fill: Callable[..., object]) -> None:
    """A corpus goes with its rows, terms, names, links, vectors and vector index, and nothing of another one does."""
    fill("cities", *CITIES)
    fill("laws", *LAWS)
    kept = {table: count(engine, table, "laws") for table in TABLES}
    assert all(count(engine, table, "cities") for table in TABLES)
    assert all(kept.values())
    assert store.drop("cities") is True
    assert {table: count(engine, table, "cities") for table in TABLES} == dict.fromkeys(TABLES, 0)
    assert {table: count(engine, table, "laws") for table in TABLES} == kept
    assert indexes(engine) == {f"hnsw_{space_id('laws', MODEL)}"}
    assert [held.name for held in store.corpora()] == ["laws"]
    index = PostgresIndex(engine, MODEL, 2, ENCYCLOPEDIA)
    assert index.search(Query("New York", "cities"), EAST) == []
    assert {hit.passage.id for hit in index.search(Query("tax", "laws"), EAST)} == {"law", "rule"}


def test_dropping_takes_the_vectors_of_every_model(engine: Engine, fill: Callable[..., object]) -> None:
    """The indexes that other models made for the corpus go too."""
    fill("cities", *CITIES)
    other = PostgresPassages(engine, "other", 2)
    fill("cities", *CITIES, page("c"), into=other)
    assert len(indexes(engine)) == 2
    assert other.drop("cities") is True
    assert indexes(engine) == set()
    assert count(engine, "embeddings", "cities") == 0


def test_dropping_what_is_not_there(store: PostgresPassages, fill: Callable[..., object]) -> None:
    """An unknown corpus cannot be dropped, and neither can one twice."""
    fill("cities", *CITIES)
    assert store.drop("towns") is False
    assert store.drop("cities") is True
    assert store.drop("cities") is False


def test_a_dropped_corpus_can_be_made_anew(engine: Engine, store: PostgresPassages, fill: Callable[..., object]) -> None:
    """Its name is free again, and the new corpus is found."""
    fill("cities", *CITIES)
    store.drop("cities")
    fill("cities", *CITIES[:1])
    assert [(held.name, held.passages) for held in store.corpora()] == [("cities", 1)]
    hits = PostgresIndex(engine, MODEL, 2).search(Query("angeles", "cities"), EAST)
    assert [hit.passage.id for hit in hits] == ["a#0"]


def test_the_version_grows_with_every_change(engine: Engine, store: PostgresPassages, fill: Callable[..., object]) -> None:
    """Adding, changing, taking away and new metadata each make another version; repeating what is there does not."""
    seen = []
    for pages in (CITIES[:2], CITIES, [*CITIES[:2], replace(CITIES[2], text="Dry.")], CITIES[:2]):
        fill("cities", *pages)
        seen.append(version(engine))
        fill("cities", *pages)
        assert version(engine) == seen[-1]
    with engine.begin() as connection:
        connection.execute(text("update passages set metadata = '{\"seen\": true}' where id = 'a#0'"))
    seen.append(version(engine))
    assert all(earlier < later for earlier, later in pairwise(seen))


def test_reading_makes_no_version(engine: Engine, store: PostgresPassages, fill: Callable[..., object]) -> None:
    """Neither searching, nor listing, nor changing another corpus makes another version."""
    fill("cities", *CITIES)
    before = version(engine)
    PostgresIndex(engine, MODEL, 2, ENCYCLOPEDIA).search(Query("New York", "cities"), EAST)
    store.corpora()
    store.stored("cities")
    store.vectors("cities", ["b"])
    fill("laws", *LAWS)
    store.drop("laws")
    assert version(engine) == before


def test_a_change_that_fails_makes_no_version(engine: Engine, store: PostgresPassages, fill: Callable[..., object]) -> None:
    """What is rolled back leaves the version, as it leaves the passages."""
    fill("cities", *CITIES)
    before, listed = version(engine), store.corpora()
    with pytest.raises(Exception, match="unit_length"):
        store.apply(
            "cities", CorpusChange((WrittenPassage(replace(page("new"), corpus="cities"), "d", [2.0, 0.0], "x"),), frozenset())
        )
    assert (version(engine), store.corpora()) == (before, listed)


def test_a_version_never_returns(engine: Engine, store: PostgresPassages, fill: Callable[..., object]) -> None:
    """What was remembered of a dropped corpus is void for the one made anew under its name."""
    fill("cities", *CITIES)
    before = version(engine)
    store.drop("cities")
    fill("cities", replace(CITIES[0], text="Another text."))
    assert version(engine) != before


def colliding() -> tuple[str, str]:
    """Find two names whose vector spaces get the same number: among 100,000 random ones, one pair is to be expected."""
    seen: dict[int, str] = {}
    source = random.Random(0)
    for _ in range(1_000_000):
        name = f"corpus-{source.getrandbits(64):016x}"
        if (other := seen.setdefault(space_id(name, MODEL), name)) != name:
            return other, name
    raise AssertionError("no two names collide")


def test_names_that_collide_are_refused(engine: Engine, store: PostgresPassages, fill: Callable[..., object]) -> None:
    """A corpus whose number is another's is refused by name with the remedy, and leaves nothing behind."""
    first, second = colliding()
    fill(first, *CITIES)
    with pytest.raises(NameTakenError, match=f"{second} cannot be kept beside {first}: .* Give it another name"):
        fill(second, *LAWS)
    assert [held.name for held in store.corpora()] == [first]
    assert all(count(engine, table, second) == 0 for table in TABLES)
    assert store.drop(first) is True
    fill(second, *LAWS)
    assert [held.name for held in store.corpora()] == [second]


@pytest.mark.parametrize(
    "ask",
    [lambda store: store.corpora(), lambda store: store.drop("cities"), lambda store: store.stored("cities")],
    ids=["list", "drop", "stored"],
)
def test_a_server_that_is_away(ask: Callable[[PostgresPassages], object]) -> None:
    """No server behind the address: an outage, never an empty list."""
    away = open_engine("postgresql://nobody@127.0.0.1:1/none")
    with pytest.raises(CorpusUnavailableError, match="does not answer"):
        ask(PostgresPassages(away, MODEL, 2))
    away.dispose()
