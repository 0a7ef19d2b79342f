"""Clara's own corpus searched by Gemini's vectors: what is asked of whom, what stays here, and what answers without it."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack

import pytest
from sqlalchemy import text
from tests.integration.wired import CommandLine, database, wired

from clara.adapters.postgres.embedded import EmbeddedServer
from clara.container import Container
from clara.processes.commands import build_index_change
from clara.processes.preparation import OutdatedCorpusError, ensure_corpus, fill
from clara.retrieval.passage import Found, Query, Status
from clara_lab.stand_ins.model_server import ModelStandIn
from clara_lab.stand_ins.speech import gemini_refusal

GEMINI = "gemini-embedding-001-768"
QUESTION = "¿Cuánto cuesta el NIE?"
DOWN = gemini_refusal(503, "UNAVAILABLE")
FORGET_ONE = """
delete from embeddings
 where ctid = (select e.ctid from embeddings e join vector_spaces s on s.id = e.space_id where s.model = :model limit 1)
"""
FORGET_NIE = """
delete from embeddings e using vector_spaces s, passages p
 where s.id = e.space_id and s.model = :model and p.pk = e.passage_pk and p.document_id = 'nie'
"""
Opened = Callable[..., Container]


@pytest.fixture(scope="module")
def gemini() -> Iterator[ModelStandIn]:
    served = ModelStandIn("key").serve()
    yield served
    served.close()


@pytest.fixture(scope="module")
def url(server: EmbeddedServer, templates: dict[str, str], gemini: ModelStandIn) -> Iterator[str]:
    """A database whose knowledge is searched by Gemini's vectors."""
    with database(server, templates["knowledge"]) as made, wired(made, **settings_of(gemini)) as services:
        build_index_change(services).build("gemini", [], lambda _said: None, lambda _done, _total: None)
        yield made


def settings_of(gemini: ModelStandIn) -> dict[str, object]:
    return {"gemini_api_key": "key", "gemini_base_url": gemini.url, "gemini_embedding_per_minute": 100_000}


@pytest.fixture
def opened(url: str, gemini: ModelStandIn) -> Iterator[Opened]:
    gemini.requests.clear()
    with ExitStack() as stack:
        yield lambda **settings: stack.enter_context(wired(url, **{**settings_of(gemini), **settings}))
    gemini.standing = None


def ask(services: Container, question: str = QUESTION) -> Found:
    return services.retriever(Query(question, "clara", "es"))


def sent(gemini: ModelStandIn) -> list[str]:
    asked = [part for request in gemini.requests for part in request.document["requests"]]
    return [part["content"]["parts"][0]["text"] for part in asked]


def test_it_is_searched_and_judged_as_before(opened: Opened, gemini: ModelStandIn) -> None:
    """One question to Gemini, none to spare; what is understood and refused does not hang on whose vectors search."""
    services = opened()
    found = ask(services)
    assert (found.status, found.tier, found.hits[0].passage.document_id) == (Status.FOUND, "pgvector", "nie")
    assert sent(gemini) == [QUESTION]
    assert ask(services, "¿quién ganó la liga de fútbol?").status is not Status.FOUND
    plan = services.snapshot().unaided_tools.retrieve(Query(QUESTION, "clara", "es"))
    assert (plan.status, plan.tier) == (Status.FOUND, "json_fallback")
    assert len(gemini.requests) == 2


def test_who_asks_stays_here(opened: Opened, gemini: ModelStandIn) -> None:
    """What says who somebody is does not reach Google with the question."""
    ask(opened(), "Soy María Pérez, mi NIE es X1234567L, ¿cuánto cuesta renovarlo?")
    (question,) = sent(gemini)
    assert "X1234567L" not in question
    assert question.endswith("¿cuánto cuesta renovarlo?")


@pytest.mark.parametrize("without", ["provider", "key"])
def test_without_gemini_keywords_answer(opened: Opened, gemini: ModelStandIn, without: str) -> None:
    """An outage, or a key that was taken away, costs the search by vectors and not the answer."""
    gemini.standing = DOWN if without == "provider" else None
    services = opened(gemini_api_key=None if without == "key" else "key")
    found = ask(services)
    assert (found.status, found.tier, found.outages) == (Status.FOUND, "json_fallback", ("pgvector",))


def test_remembered_results_do_not_outlive_their_model(opened: Opened) -> None:
    """A result that was remembered under one model is not given under the other, and each is given again under its own."""
    services = opened(rag_cache_enabled=True)
    ask(services)
    assert ask(services).trace.get("cache") == "exact"
    model, local = services.served_model("clara"), services.embedder.model
    for other in (local, model):
        services.spaces().serve("clara", other)
        assert ask(services).trace.get("cache") is None
        assert ask(services).trace.get("cache") == "exact"


def test_new_figures_are_told_while_gemini_is_out(opened: Opened, gemini: ModelStandIn) -> None:
    """An ingestion without Gemini writes what is new, without vectors; it serves, and the next one makes them."""
    gemini.standing = DOWN
    services = opened(gemini_api_key=None)
    with services.engine.begin() as connection:
        connection.execute(text("delete from remembered_embeddings"))
        connection.execute(text("update passages set digest = 'of another release' where document_id = 'nie'"))
        connection.execute(text(FORGET_NIE), {"model": GEMINI})
    with pytest.raises(OutdatedCorpusError):
        ensure_corpus(services, lambda _said: None)
    said: list[str] = []
    report = fill(services, said.append)
    assert report.written == report.embedded > 10
    assert said[0].startswith(f"Texts that are new have no vectors yet: {GEMINI} needs GEMINI_API_KEY")
    ensure_corpus(services, lambda _said: None)
    gemini.standing = None
    again = opened()
    assert fill(again, said.append).embedded == report.embedded
    assert fill(again, said.append).written == 0
    assert ask(again).tier == "pgvector"


@pytest.fixture
def commands(url: str, gemini: ModelStandIn) -> Iterator[CommandLine]:
    line = CommandLine(url, GEMINI_API_KEY="key", GEMINI_BASE_URL=gemini.url)
    yield line
    line.close()


def test_the_commands(commands: CommandLine, opened: Opened) -> None:
    """Status, back, over again: what is said and with which exit code."""
    services = opened()
    services.spaces().serve("clara", GEMINI)
    heading, *lines = [line.split() for line in commands("index", "status").out.splitlines()]
    assert heading == ["corpus", "model", "size", "passages", "vectors", "missing", "served"]
    assert [(line[1], line[2], line[-1]) for line in lines] == [
        (GEMINI, "768", "yes"),
        ("multilingual-e5-small-q4", "384", "0"),
    ]
    for choice, model in (("local", "multilingual-e5-small-q4"), ("gemini", GEMINI)):
        ran = commands("index", "build", "--model", choice)
        assert (ran.code, ran.raised) == (0, None)
        assert f"of {model} for" in ran.out
        assert commands("index", "use", "--model", choice).out == f"clara: is searched by {model} already\n"
    assert commands("index", "status", "--json").code == 0
    with services.engine.begin() as connection:
        connection.execute(text(FORGET_ONE), {"model": GEMINI})
    assert commands("index", "status").code == 1
    refused_ = commands("index", "use", "--model", "gemini")
    assert (refused_.code, "clara has 1 passages without a vector" in refused_.err) == (2, True)
    assert commands("index", "use", "--model", "gemini", "--corpus", "towns").code == 2
    assert commands("index", "build", "--model", "other").code == 2
    for command in ("build", "use", "status"):
        assert commands("index", command, "--help").code == 0
    assert commands("index", "build", "--model", "gemini").out.startswith(f"clara: 1 new vectors of {GEMINI}")
