"""What the settings put around the search, on the real database: remembering, reranking, searching again, and none of it."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from threading import Barrier, Thread
from typing import Any

import psycopg
import pytest
from psycopg import sql
from redis import Redis
from sqlalchemy import text
from tests.contracts.test_cache import redis_server
from tests.integration.wired import bundled, database, wired
from tests.journeys.talking import until

from clara.adapters.postgres.embedded import EmbeddedServer
from clara.container import Container
from clara.ingestion.ports import CorpusChange, WrittenPassage
from clara.retrieval.metrics import summary
from clara.retrieval.passage import Found, Query, Status
from clara_lab.stand_ins.model_server import ModelStandIn
from clara_lab.stand_ins.server import ScriptedReply
from clara_lab.stand_ins.speech import overlap

QUESTION, SAME, OTHER = "¿Cuánto cuesta el NIE?", "cuanto cuesta el nie", "¿Qué documentos pide el padrón?"
KEY = "c4e81f0a7d3952b6" * 4
Opened = Callable[..., Container]


def asked(question: str, **more: Any) -> Query:
    return Query(question, "clara", "es", **more)


@pytest.fixture(scope="module")
def url(server: EmbeddedServer, templates: dict[str, str]) -> Iterator[str]:
    """A database with the knowledge that no test changes."""
    with database(server, templates["knowledge"]) as made:
        yield made


@pytest.fixture
def opened() -> Iterator[Opened]:
    """Open services on a database; they are closed when the test ends."""
    with ExitStack() as stack:

        def make(url: str | None, **settings: object) -> Container:
            return stack.enter_context(wired(url, **settings))

        yield make


@pytest.fixture
def models() -> Iterator[ModelStandIn]:
    served = ModelStandIn().serve()
    yield served
    served.close()


def found_by(services: Container, question: str = QUESTION, **more: Any) -> Found:
    return services.retriever(asked(question, **more))


def how(found: Found) -> str | None:
    """Tell from where a result came: "exact" or "semantic" when it was remembered."""
    return found.trace.get("cache")


def events(services: Container) -> dict[str, int]:
    """Give what the cache did so far."""
    counted = summary(services.metrics._fresh)["cache_events"]
    assert isinstance(counted, dict)
    return counted


def names_of(found: Found) -> list[str]:
    return [hit.passage.id for hit in found.hits]


def test_what_is_off_is_not_there(url: str, opened: Opened) -> None:
    """With nothing switched on, the chain is not wrapped at all: the same callable comes back."""
    services = opened(url)

    def chain(query: Query) -> Found:
        raise AssertionError

    for wrap in (services.caching, services.policy, services.reranking):
        assert wrap(chain) is chain
    assert opened(None, rag_cache_enabled=True).caching(chain) is chain


def test_nothing_is_remembered_unless_asked_for(url: str, opened: Opened) -> None:
    """With the cache off, the same question is searched for each time, and no event is counted."""
    services = opened(url)
    assert [how(found_by(services)) for _ in range(2)] == [None, None]
    assert events(services) == {}


def test_remembered_results_are_those_that_were_found(url: str, opened: Opened) -> None:
    """The second time a question is known, in the same words or in others, and its hits are the first ones in every field."""
    services = opened(url, rag_cache_enabled=True)
    first, again, other = found_by(services), found_by(services), found_by(services, SAME)
    assert (how(first), how(again), how(other)) == (None, "exact", "semantic")
    assert first.hits == again.hits == other.hits == found_by(opened(url)).hits
    assert (first.status, first.confidence) == (Status.FOUND, again.confidence)
    assert events(services) == {"exact": 1, "miss": 1, "semantic": 1, "stored": 1}


@pytest.mark.parametrize("question", ["¿Cuánto cuesta la TIE?", "¿Cuánto cuesta el NIE en Madrid?", OTHER])
def test_another_question_is_searched_for(url: str, opened: Opened, question: str) -> None:
    """What only resembles a remembered question is never answered with its result."""
    services = opened(url, rag_cache_enabled=True)
    found_by(services)
    assert how(found_by(services, question)) is None


@pytest.mark.parametrize("more", [{"limit": 3}, {"territories": ("ES-MD", "ES")}, {"exact": True}], ids=["k", "place", "exact"])
def test_another_way_of_asking_is_searched_for(url: str, opened: Opened, more: dict[str, Any]) -> None:
    """The same text with another limit, place or manner of search is another question."""
    services = opened(url, rag_cache_enabled=True)
    found_by(services)
    assert how(found_by(services, **more)) is None


def deleted(services: Container, passage_id: str) -> None:
    """Take a passage away as an operator would, in SQL."""
    with services.engine.begin() as connection:
        connection.execute(text("delete from passages where corpus = 'clara' and id = :id"), {"id": passage_id})


def doubled(services: Container, passage_id: str) -> None:
    """Add a passage that says what another one says, as ingestion would."""
    (held,) = [passage for passage in services.snapshot().knowledge.passages if passage.id == passage_id]
    (vector,) = bundled().embed([held.indexed_text], "passage")
    added = WrittenPassage(replace(held, id=f"{passage_id}-twin"), "digest", vector, "digest")
    services.passages().apply("clara", CorpusChange((added,), frozenset()))


@pytest.mark.parametrize("change", [deleted, doubled])
@pytest.mark.parametrize("question", [QUESTION, SAME], ids=["same-words", "other-words"])
def test_a_changed_corpus_voids_what_was_remembered(
    knowledge_url: str, opened: Opened, change: Callable[[Container, str], None], question: str
) -> None:
    """After any change of the corpus, whoever made it, the old result is not given again."""
    services = opened(knowledge_url, rag_cache_enabled=True)
    before = found_by(services)
    change(services, before.hits[0].passage.id)
    after = found_by(services, question)
    assert how(after) is None
    assert names_of(after) != names_of(before)
    assert names_of(after) == names_of(found_by(opened(knowledge_url), question))


@pytest.mark.parametrize("who", ["llámame al 612 345 678", "soy ana@example.org", "me llamo Ana García"])
def test_personal_questions_pass_by(url: str, opened: Opened, who: str) -> None:
    """A question that may say who asks is answered like any other, and is neither stored nor looked up."""
    services = opened(url, rag_cache_enabled=True)
    founds = [found_by(services, f"{who}, ¿cuánto cuesta el NIE?") for _ in range(2)]
    assert [(found.status, how(found)) for found in founds] == [(Status.FOUND, None)] * 2
    assert events(services) == {"bypassed": 2}


def lock(server: EmbeddedServer, url: str, *, out: bool) -> None:
    """Throw everybody out of a database, or let them in again."""
    name = url.partition("?")[0].rpartition("/")[2]
    with psycopg.connect(server.url("postgres"), autocommit=True) as connection:
        allowed = sql.SQL("alter database {} with allow_connections {}")
        connection.execute(allowed.format(sql.Identifier(name), sql.Literal(not out)))
        if out:
            connection.execute("select pg_terminate_backend(pid) from pg_stat_activity where datname = %s", [name])


def test_while_the_database_is_away_nothing_is_remembered(server: EmbeddedServer, knowledge_url: str, opened: Opened) -> None:
    """Without it nobody knows whether a result is current: keywords answer instead, which is not kept for afterwards."""
    services = opened(knowledge_url, rag_cache_enabled=True)
    assert how(found_by(services)) is None
    lock(server, knowledge_url, out=True)
    for question in (QUESTION, QUESTION, OTHER):
        found = found_by(services, question)
        assert (found.tier, found.outages, how(found)) == ("json_fallback", ("pgvector",), None)
    lock(server, knowledge_url, out=False)
    assert events(services) == {"bypassed": 3, "miss": 1, "stored": 1}
    until(lambda: how(found_by(services)) == "exact")
    assert [how(found_by(services, OTHER)) for _ in range(2)] == [None, "exact"]


REDIS: dict[str, object] = {"rag_cache_enabled": True, "rag_cache_backend": "redis", "clara_pseudonym_key": KEY}


def test_processes_share_what_redis_holds(url: str, opened: Opened, tmp_path: Path) -> None:
    """Two processes with one key give each other's results; with another key or other settings they do not."""
    with redis_server(tmp_path) as address:
        first, second = (opened(url, rag_redis_url=address, **REDIS) for _ in range(2))
        stranger = opened(url, rag_redis_url=address, **{**REDIS, "clara_pseudonym_key": KEY[::-1]})
        other = opened(url, rag_redis_url=address, rag_reranker="heuristic", **REDIS)
        assert [how(found_by(services)) for services in (first, second, stranger, other)] == [None, "exact", None, None]
        with Redis.from_url(address) as raw:
            held = [(key, raw.get(key)) for key in raw.keys("*")]
        assert len(held) == 3
        assert all(key.startswith(b"clara:") and b"cuesta el NIE" not in key + value for key, value in held)


def test_damaged_results_are_not_believed(url: str, opened: Opened, tmp_path: Path) -> None:
    """Whoever writes into Redis cannot put a word into an answer: the question is searched for again."""
    with redis_server(tmp_path) as address:
        first, second = (opened(url, rag_redis_url=address, **REDIS) for _ in range(2))
        before = found_by(first)
        with Redis.from_url(address) as raw:
            for key in raw.keys("*"):
                raw.append(key, b" ")
        after = found_by(second)
        assert (how(after), after.hits, events(second)["damaged"]) == (None, before.hits, 1)


def test_without_redis_the_answers_are_the_same(url: str, opened: Opened, tmp_path: Path) -> None:
    """A Redis that goes costs what was remembered, and no answer."""
    with redis_server(tmp_path) as address:
        services = opened(url, rag_redis_url=address, **REDIS)
        before = [found_by(services), found_by(services)]
    after = found_by(services)
    assert [how(found) for found in (*before, after)] == [None, "exact", None]
    assert (after.status, after.hits, after.complete) == (Status.FOUND, before[0].hits, True)
    assert events(services)["unavailable"] > 0


def served_by(models: ModelStandIn) -> dict[str, dict[str, object]]:
    """Give the settings that lead to the server of models."""
    return {
        "endpoint": {"rag_reranker": "endpoint", "reranker_base_url": f"{models.url}/v1", "reranker_model_name": "ranker"},
        "gemini": {"rag_reranker": "gemini", "gemini_api_key": "key", "gemini_base_url": models.url, "gemini_model": "judge"},
    }


@pytest.mark.parametrize("choice", ["endpoint", "gemini"])
def test_the_reranker_orders_what_was_found(url: str, opened: Opened, models: ModelStandIn, choice: str) -> None:
    """The hits are the best of twenty candidates by the served model's scores; what decides to show them is as without it."""
    plain = found_by(opened(url), limit=20)
    scored = sorted(plain.hits, key=lambda hit: -overlap(QUESTION, hit.passage.indexed_text))
    found = found_by(opened(url, **served_by(models)[choice]))
    assert names_of(found) == [hit.passage.id for hit in scored[:5]] != names_of(plain)[:5]
    assert (found.status, found.confidence, found.failures) == (plain.status, plain.confidence, ())


@pytest.mark.parametrize(("choice", "name"), [("endpoint", "ranker"), ("gemini", "judge")])
def test_a_reranker_that_fails_changes_nothing(url: str, opened: Opened, models: ModelStandIn, choice: str, name: str) -> None:
    """The order stays, the failure is named, and the result is not remembered; the next one is reranked and is."""
    plain = found_by(opened(url), limit=20)
    services = opened(url, rag_cache_enabled=True, **served_by(models)[choice])
    models.faults.append(ScriptedReply(status=503))
    found = found_by(services)
    assert names_of(found) == names_of(plain)[:5]
    assert [failure.split(": ")[0] for failure in found.failures] == [name]
    later = [found_by(services), found_by(services)]
    assert [(how(each), each.failures) for each in later] == [(None, ()), ("exact", ())]
    assert names_of(later[1]) == names_of(later[0]) != names_of(found)


@pytest.mark.parametrize("policy", ["self_reflective", "corrective", "adaptive"])
def test_policies_answer_and_refuse(url: str, opened: Opened, policy: str) -> None:
    """Under each policy what is known is found, what is not is refused, and courtesies find nothing."""
    services = opened(url, rag_policy=policy)
    known, unknown, greeting = (found_by(services, question) for question in (QUESTION, "¿Quién ganó la liga?", "hola"))
    assert (known.status, known.hits[0].passage.document_id) == (Status.FOUND, "nie")
    assert (unknown.status, greeting.status) == (Status.NOT_FOUND, Status.NOT_FOUND)
    assert ("rounds" in unknown.trace) is (policy != "self_reflective")
    assert (greeting.tier == "none") is (policy != "corrective")


MIXED = [QUESTION, OTHER, "¿Quién ganó la liga?", "hola", "pensión no contributiva en Sevilla", "paro"]


def test_threads_get_what_one_alone_gets(url: str, opened: Opened) -> None:
    """Eight threads on fresh services build one retriever, and each of their 1,600 results is the one of a single thread."""
    wanted = {question: found_by(opened(url), question) for question in MIXED}
    personal = "soy ana@example.org, ¿qué es el padrón?"
    wanted[personal] = found_by(opened(url), personal)
    services, start = opened(url, rag_cache_enabled=True), Barrier(8)
    retrievers, wrong, done = set[int](), list[str](), list[int]()

    def work(number: int) -> None:
        start.wait()
        for turn in range(200):
            question = personal if turn % 50 == number else MIXED[(turn + number) % len(MIXED)]
            retrieve = services.retriever
            retrievers.add(id(retrieve))
            found = retrieve(asked(question))
            same = (found.status, found.tier, found.hits) == (
                wanted[question].status,
                wanted[question].tier,
                wanted[question].hits,
            )
            wrong.extend([] if same else [question])
            done.append(turn)

    threads = [Thread(target=work, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (len(done), wrong, len(retrievers)) == (1_600, [], 1)
