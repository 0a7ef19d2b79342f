"""Changing the model that corpora are searched by: beside a search that goes on, resumable, whole or not at all, and back."""

import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass, replace
from threading import Event, Thread
from typing import Any

import psycopg
import pytest
from alembic import command
from sqlalchemy import text
from sqlalchemy.exc import DBAPIError
from tests.integration.wired import WordEmbedder, wired
from tests.journeys.talking import until

from clara.adapters.postgres import migrations
from clara.container import Container
from clara.ingestion.corpora import CorpusNameError
from clara.ingestion.index_change import BusyIndexError, IncompleteIndexError, status
from clara.ingestion.journey import ingest
from clara.processes.commands import build_index_change
from clara.retrieval.passage import Found, Passage, Query
from clara.retrieval.ports import EmbedderUnavailableError, ForeignVectorError
from clara.retrieval.profile import Profile
from clara.settings import child_environment, resources
from clara_lab.stand_ins.model_server import ModelStandIn
from clara_lab.stand_ins.server import Delivery, ScriptedReply, StandInRequest
from clara_lab.stand_ins.speech import gemini_refusal

GEMINI = "gemini-embedding-001-768"
Opened = Callable[..., Container]


@dataclass(slots=True)
class Watched(ModelStandIn):
    """A stand-in for Gemini that does something before it answers the request of a number."""

    before: Callable[[int], ScriptedReply | None] = lambda _number: None

    def take(self, request: StandInRequest) -> ScriptedReply | None:
        fault = ModelStandIn.take(self, request)
        return self.before(len(self.requests)) or fault

    def texts(self, task: str) -> list[str]:
        """Give what was embedded for a task."""
        asked = [part for request in self.requests for part in request.document["requests"]]
        return [part["content"]["parts"][0]["text"] for part in asked if part["taskType"] == f"RETRIEVAL_{task}"]


@pytest.fixture
def gemini() -> Iterator[Watched]:
    served = Watched("key")
    served.serve()
    yield served
    served.close()


@pytest.fixture
def opened(empty_url: str, gemini: Watched) -> Iterator[Opened]:
    """Open services, as each process does, on one database; the bundled embedder is one that takes no time."""
    with ExitStack() as stack:

        def make(**settings: object) -> Container:
            wanted = {"gemini_api_key": "key", "gemini_base_url": gemini.url, "gemini_embedding_per_minute": 100_000}
            services = stack.enter_context(wired(empty_url, **{**wanted, **settings}))
            services.embedder = WordEmbedder()
            return services

        yield make


@pytest.fixture
def services(opened: Opened) -> Container:
    return opened()


def passage(number: int, more: str = "", **changes: Any) -> Passage:
    plain = Passage(f"p{number:03}", "towns", "c", f"d{number}", "s", (), f"palabra{number} común {more}", "es")
    return replace(plain, **changes)


def fill(services: Container, passages: Sequence[Passage]) -> None:
    """Ingest as `clara corpus load` does."""
    embedder = services.filling("towns")
    store = services.passages(Profile(name="prose"), embedder)
    ingest("towns", passages, store, services.memorising_embedder(embedder))


def run_build(services: Container, choice: str = "gemini", corpora: Sequence[str] = ("towns",)) -> list[str]:
    said: list[str] = []
    build_index_change(services).build(choice, corpora, said.append, lambda _done, _total: None)
    return said


def run_use(services: Container, choice: str, corpora: Sequence[str] = ("towns",)) -> list[str]:
    said: list[str] = []
    build_index_change(services).use(choice, corpora, said.append)
    return said


def held(services: Container) -> dict[Any, tuple[Any, ...]]:
    """Give vectors, missing ones and whether it serves, by model."""
    return {one.model: (one.vectors, one.missing, one.served) for one in status(services.spaces())}


def ask(services: Container, question: str) -> Found:
    return services.corpus_retriever("towns")(Query(question, "towns", limit=5))


def first(services: Container, question: str) -> str:
    return ask(services, question).hits[0].passage.id


def test_a_build_changes_over_and_the_way_back_is_at_once(services: Container, gemini: Watched) -> None:
    """Every passage gets a new vector, then questions are embedded by the new model, and back; each step may be repeated."""
    fill(services, [passage(number) for number in range(130)])
    assert held(services) == {"words": (130, 0, True)}
    assert (first(services, "palabra7"), gemini.requests) == ("p007", [])
    version = services.versions.version_of("towns")
    done = f"towns: 130 new vectors of {GEMINI} for 130 passages; it is searched by it from now on"
    assert run_build(services) == [done]
    assert held(services) == {"words": (130, 0, False), GEMINI: (130, 0, True)}
    assert services.versions.version_of("towns") != version
    assert out_of_line(services) == 0
    assert (first(services, "palabra7"), gemini.texts("QUERY")) == ("p007", ["palabra7"])
    sent = len(gemini.requests)
    assert run_build(services) == [f"towns: 0 new vectors of {GEMINI} for 130 passages; it was searched by it already"]
    assert len(gemini.requests) == sent
    assert run_use(services, "local") == [f"towns: is searched by words instead of {GEMINI}"]
    assert run_use(services, "local") == ["towns: is searched by words already"]
    assert (first(services, "palabra7"), len(gemini.texts("QUERY"))) == ("p007", 1)
    assert run_use(services, "gemini", []) == [f"towns: is searched by {GEMINI} instead of words"]


def out_of_line(services: Container) -> int:
    """Give the bytes of vectors that PostgreSQL moved out of their rows: to scan those takes five times as long."""
    with services.engine.connect() as connection:
        sql = "select pg_relation_size(reltoastrelid) from pg_class where oid = 'embeddings'::regclass"
        return int(connection.execute(text(sql)).scalar_one())


def building(services: Container) -> bool:
    """Say whether a process builds vectors."""
    with services.engine.connect() as connection:
        return bool(connection.scalar(text("select count(*) from pg_locks where locktype = 'advisory'")))


def test_a_killed_build_changes_nothing_and_is_taken_up_where_it_was(
    services: Container, gemini: Watched, empty_url: str
) -> None:
    """The process is killed while Gemini has its third batch: the old model serves, and what was stored is not asked again."""
    fill(services, [passage(number) for number in range(200)])
    gemini.before = lambda number: ScriptedReply(Delivery.HANG) if number == 3 else None
    environment = child_environment(RAG_DB_URL=empty_url, GEMINI_API_KEY="key", GEMINI_BASE_URL=gemini.url)
    line = [sys.executable, "-m", "clara", "index", "build", "--model", "gemini", "--corpus", "towns"]
    with subprocess.Popen(line, env=environment) as process:
        until(lambda: len(gemini.requests) == 3)
        assert first(services, "palabra7") == "p007"
        process.kill()
    assert held(services) == {"words": (200, 0, True), GEMINI: (128, 72, False)}
    until(lambda: not building(services))
    gemini.requests.clear()
    gemini.before = lambda _number: None
    assert run_build(services)[0].startswith(f"towns: 72 new vectors of {GEMINI} for 200 passages")
    assert [len(request.document["requests"]) for request in gemini.requests] == [64, 8]
    assert gemini.texts("QUERY") == []


def test_a_build_that_fails_leaves_the_old_model(services: Container, gemini: Watched) -> None:
    """A provider that refuses in the middle costs nothing but time: the search is as it was, and there is no way over yet."""
    fill(services, [passage(number) for number in range(100)])
    gemini.before = lambda number: gemini_refusal(429, "RESOURCE_EXHAUSTED", "68940s") if number == 2 else None
    with pytest.raises(EmbedderUnavailableError, match="429"):
        run_build(services)
    assert held(services) == {"words": (100, 0, True), GEMINI: (64, 36, False)}
    assert first(services, "palabra7") == "p007"
    with pytest.raises(IncompleteIndexError, match=r"36 passages without a vector.*clara index build --model gemini"):
        run_use(services, "gemini")
    assert run_build(services)[0].startswith("towns: 36 new")


def test_what_is_ingested_meanwhile_is_not_lost(services: Container, opened: Opened, gemini: Watched) -> None:
    """A text that changes, one that comes and one that goes while a build runs: all are right when it changes over."""
    start = [passage(number) for number in range(130)]
    after = [passage(0, "cambiada"), *start[1:129], passage(500)]
    other = opened()
    fill(services, start)
    gemini.before = lambda number: fill(other, after) if number in {2, 3} else None
    assert run_build(services)[0].startswith("towns: ")
    assert held(services) == {"words": (130, 0, False), GEMINI: (130, 0, True)}
    gemini.before = lambda _number: None
    assert (first(services, "palabra0 cambiada"), first(services, "palabra500")) == ("p000", "p500")
    vectors = services.passages(embedder=services.embedders.asking(GEMINI)).vectors("towns", ["p000"])
    (expected,) = services.embedders.asking(GEMINI).embed([after[0].indexed_text], "passage")
    assert vectors["p000"] == pytest.approx(expected, abs=1e-6)


def test_after_the_change_ingestion_embeds_for_the_model_that_serves(services: Container, gemini: Watched) -> None:
    """New texts are embedded by it alone; texts that stay keep their vectors of both; the way back says what it needs."""
    start = [passage(number) for number in range(20)]
    fill(services, start)
    run_build(services)
    gemini.requests.clear()
    moved = [replace(one, metadata={"seen": "2026"}) for one in start[2:]]
    fill(services, [passage(0, "cambiada"), start[1], *moved, passage(500)])
    assert sorted(gemini.texts("DOCUMENT")) == ["palabra0 común cambiada", "palabra500 común"]
    assert held(services) == {"words": (19, 2, False), GEMINI: (21, 0, True)}
    with pytest.raises(IncompleteIndexError, match="2 passages without a vector of words"):
        run_use(services, "local")
    assert first(services, "palabra500") == "p500"
    assert run_build(services, "local") == ["towns: 2 new vectors of words for 21 passages; it is searched by it from now on"]


def test_two_vector_spaces_never_meet(services: Container) -> None:
    """A foreign vector is refused by the search, by the store and by the schema; nothing serves that was not built."""
    fill(services, [passage(number) for number in range(5)])
    run_build(services)
    local, foreign = services.embedders.asking("words"), services.embedders.asking(GEMINI)
    (mine,), (theirs,) = local.embed(["palabra1"], "query"), foreign.embed(["palabra1"], "query")
    tagged = Query("palabra1", "towns", vector=tuple(theirs), model=GEMINI)
    index = services.index(Profile(), local)
    with pytest.raises(ForeignVectorError, match=f"a vector of {GEMINI} is not compared with those of words"):
        index.search(tagged, theirs)
    with pytest.raises(DBAPIError, match="expected 384 dimensions, not 768"):
        index.search(replace(tagged, model=""), theirs)
    forgotten = forget(services, "p001")
    with pytest.raises(psycopg.DataError, match="expected 768 dimensions, not 384"):
        services.spaces().add("towns", GEMINI, {forgotten: mine})
    with pytest.raises(psycopg.IntegrityError, match="fk_corpora_model"):
        services.spaces().serve("towns", "never-built", blank=keys(services))
    assert held(services) == {"words": (5, 0, False), GEMINI: (4, 1, True)}


def keys(services: Container) -> list[int]:
    with services.engine.connect() as connection:
        return list(connection.execute(text("select pk from passages")).scalars())


def forget(services: Container, name: str) -> int:
    """Remove Gemini's vector of a passage; give the passage's key."""
    sql = """delete from embeddings e using vector_spaces s, passages p
              where s.id = e.space_id and s.model = :model and p.pk = e.passage_pk and p.id = :name returning p.pk"""
    with services.engine.begin() as connection:
        return int(connection.execute(text(sql), {"model": GEMINI, "name": name}).scalar_one())


def test_questions_asked_while_models_change_are_answered_by_one_of_them(services: Container, opened: Opened) -> None:
    """However often it is changed over, every cosine is that of a question and a passage of the same model."""
    passages = [passage(number) for number in range(30)]
    fill(services, passages)
    run_build(services)
    expected = {model: cosine(services, model, "palabra7", passages[7]) for model in ("words", GEMINI)}
    retrieve = services.corpus_retriever("towns")
    stopped, seen = Event(), []

    def go_on() -> None:
        while not stopped.is_set():
            seen.append(retrieve(Query("palabra7", "towns")).hits[0].cosine)

    threads = [Thread(target=go_on) for _ in range(3)]
    for thread in threads:
        thread.start()
    other = opened()
    for choice in ("local", "gemini") * 15:
        run_use(other, choice)
        so_far = len(seen)
        until(lambda so_far=so_far: len(seen) >= so_far + 4)
    stopped.set()
    for thread in threads:
        thread.join()
    near = {model: sum(abs(value - one) < 1e-4 for one in seen) for model, value in expected.items()}
    assert sum(near.values()) == len(seen) >= 120
    assert min(near.values()) > 20


def cosine(services: Container, model: str, question: str, of: Passage) -> float:
    embedder = services.embedders.asking(model)
    (asked,), (held_,) = embedder.embed([question], "query"), embedder.embed([of.indexed_text], "passage")
    return sum(a * b for a, b in zip(asked, held_, strict=True))


def test_blank_passages_do_not_stand_in_the_way(services: Container) -> None:
    """A text with nothing to embed has no vector of any model, and is not missed."""
    fill(services, [passage(0), passage(1, text="\u200b \t")])
    assert held(services) == {"words": (1, 0, True)}
    assert run_build(services)[0].startswith("towns: 1 new")
    assert held(services)[GEMINI] == (1, 0, True)
    run_use(services, "local")


def test_one_build_at_a_time(services: Container, opened: Opened, gemini: Watched) -> None:
    """A second build of a corpus is refused while the first one runs, and so is one of a corpus that is not there."""
    fill(services, [passage(0)])
    refusals: list[str] = []

    def again(_number: int) -> None:
        with suppress(BusyIndexError):
            run_build(opened())
            refusals.append("none")

    gemini.before = again
    run_build(services)
    assert (refusals, len(gemini.requests)) == ([], 1)
    for act in (run_build, run_use):
        with pytest.raises(CorpusNameError, match="there is no corpus 'cities'"):
            act(services, "gemini", ["towns", "cities"])
    drop_space(services, "words")
    with pytest.raises(IncompleteIndexError, match="no vectors of words"):
        run_use(services, "local")


def drop_space(services: Container, model: str) -> None:
    with services.engine.begin() as connection:
        connection.execute(text("delete from vector_spaces where model = :model"), {"model": model})


def test_without_a_key_a_build_says_what_it_needs(services: Container, opened: Opened) -> None:
    """Neither a build nor a search goes anywhere without the key; a corpus that is dropped goes with all of its vectors."""
    fill(services, [passage(0)])
    bare = opened(gemini_api_key=None)
    with pytest.raises(EmbedderUnavailableError, match="needs GEMINI_API_KEY"):
        run_build(bare)
    assert held(services) == {"words": (1, 0, True)}
    run_build(services)
    with pytest.raises(EmbedderUnavailableError, match="clara index build --model local"):
        ask(bare, "palabra0")
    assert run_build(bare, "local") == ["towns: 0 new vectors of words for 1 passages; it is searched by it from now on"]
    services.passages().drop("towns")
    with services.engine.connect() as connection:
        assert connection.scalar(text("select count(*) from embeddings")) == 0
        assert connection.scalar(text("select count(*) from pg_indexes where indexname like 'hnsw%'")) == 0


def test_a_model_of_another_release_gives_way_to_the_bundled_one(services: Container, opened: Opened) -> None:
    """A release that bundles another model ingests for its own, and searches by it from then on."""
    fill(services, [passage(0)])
    later = opened()
    later.embedder = Later()
    fill(later, [passage(0)])
    later.adopt("towns", later.filling("towns"))
    assert held(services) == {"words": (1, 0, False), "later-words": (1, 0, True)}
    assert first(later, "palabra0") == "p000"


class Later(WordEmbedder):
    """The bundled embedder of a later release."""

    model = "later-words"


def test_the_migration_finds_the_model_of_what_is_there(services: Container) -> None:
    """A corpus of the release before is searched by the one model that it has vectors of."""
    fill(services, [passage(0)])
    scripts = resources() / "migrations"
    with services.engine.begin() as connection:
        command.downgrade(migrations._config(scripts, connection), "0005")
    with services.engine.begin() as connection:
        migrations.upgrade(connection, scripts)
    assert held(services) == {"words": (1, 0, True)}
