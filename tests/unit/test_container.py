"""Tests of building things once, and of which tiers the flags ask for."""

from collections.abc import Iterator
from threading import Barrier, Thread

import pytest
from structlog.testing import capture_logs

from clara.adapters.models.local import LocalEmbedder
from clara.adapters.postgres.connections import UnsuitableServerError
from clara.answering.journey import converse
from clara.answering.message import Message, ReplyStatus
from clara.container import Container, get_retriever, reset_retriever
from clara.knowledge.keyword_tier import DIRECTORY, KEYWORD
from clara.knowledge.knowledge_base import read_knowledge
from clara.knowledge.questions import GENERAL, OUTSIDE
from clara.retrieval.calibration import features_of, read_calibration
from clara.retrieval.hybrid import TIER as HYBRID
from clara.retrieval.metrics import summary
from clara.retrieval.passage import Query, Retrieve, Status
from clara.retrieval.ports import IndexUnavailableError
from clara.settings import Settings, child_environment, resources

NAMED, UNNAMED = Query("el NIE", "clara"), Query("¿quién ganó la liga?", "clara")
OUT = ("pgvector",)
FOUND, NOT_FOUND, OUTAGE = Status
NOWHERE = "postgresql://clara@127.0.0.1:1/clara"  # nothing listens there
DATA = resources() / "data"


@pytest.fixture
def clean_environment(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Take Clara's variables out of the environment, and forget what was built."""
    for name in child_environment():
        if name.startswith(("CLARA_", "RAG_", "TWILIO_")) or name == "PORT":
            monkeypatch.delenv(name)
    reset_retriever()
    yield
    reset_retriever()


@pytest.mark.usefixtures("clean_environment")
def test_one_retriever(monkeypatch: pytest.MonkeyPatch) -> None:
    """A process has one retriever however many threads ask for the first; after a reset it is another."""
    monkeypatch.setenv("RAG_DB_URL", NOWHERE)  # otherwise a server of our own would start
    start, got = Barrier(8), []

    def work() -> None:
        start.wait()
        got.append(get_retriever())

    threads = [Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(got) == 8
    assert len(set(map(id, got))) == 1
    reset_retriever()
    assert get_retriever() is not got[0]


def outcomes(retrieve: Retrieve) -> list[tuple[Status, str, tuple[str, ...]]]:
    """Give what becomes of a question that names a procedure, and of one that does not."""
    return [(found.status, found.tier, found.outages) for found in (retrieve(NAMED), retrieve(UNNAMED))]


@pytest.mark.usefixtures("clean_environment")
@pytest.mark.parametrize(
    ("flags", "expected"),
    [
        pytest.param({}, [(FOUND, "json_fallback", OUT), (OUTAGE, "directory_fallback", OUT)], id="everything-on"),
        pytest.param(
            {"rag_enabled": False}, [(FOUND, "json_fallback", ()), (NOT_FOUND, "directory_fallback", ())], id="search-off"
        ),
        pytest.param({"rag_fallback_chain": False}, [(OUTAGE, "pgvector", OUT)] * 2, id="no-fallback"),
        pytest.param(
            {"rag_fallback_chain": False, "rag_enabled": False},
            [(FOUND, "json_fallback", ()), (NOT_FOUND, "json_fallback", ())],
            id="keywords-only",
        ),
    ],
)
def test_chain(flags: dict[str, bool], expected: list[tuple[Status, str, tuple[str, ...]]]) -> None:
    """The flags decide which tiers are asked, and a database that is missing is passed over but not forgotten."""
    assert outcomes(Container(Settings(**flags), None).retriever) == expected


@pytest.mark.usefixtures("clean_environment")
@pytest.mark.parametrize(
    ("reason", "said"),
    [
        pytest.param({}, "no database is configured", id="no-database"),
        pytest.param({"outage": "the server did not start"}, "the server did not start", id="outage"),
    ],
)
def test_reason_of_the_outage(reason: dict[str, str], said: str) -> None:
    """Why the search is out is written to the log, not swallowed."""
    with capture_logs() as logs:
        Container(Settings(rag_fallback_chain=False), None, **reason).retriever(NAMED)
    assert [(entry["tier"], entry["error"]) for entry in logs] == [("pgvector", said)]


@pytest.mark.usefixtures("clean_environment")
@pytest.mark.parametrize(
    ("flags", "url"),
    [
        pytest.param({}, NOWHERE, id="database"),
        pytest.param({}, None, id="no-database"),
        pytest.param({"rag_enabled": False}, NOWHERE, id="search-off"),
        pytest.param({"rag_fallback_chain": False}, NOWHERE, id="no-fallback"),
    ],
)
def test_safe_chain(flags: dict[str, bool], url: str | None) -> None:
    """The search that the safe chain leaves out counts as an outage: what it would have found is unknown."""
    expected = [(FOUND, "json_fallback", OUT), (OUTAGE, "directory_fallback", OUT)]
    assert outcomes(Container(Settings(**flags), url).snapshot().safe_retriever) == expected


@pytest.mark.usefixtures("clean_environment")
def test_safe_chain_builds_nothing_dangerous() -> None:
    """The safe chain answers without opening the database and without loading the model."""
    services = Container(Settings(), NOWHERE)
    services.snapshot().safe_retriever(UNNAMED)
    assert not {"engine", "local", "embedder"} & vars(services).keys()


@pytest.mark.usefixtures("clean_environment")
def test_no_database_to_open() -> None:
    """Whoever needs the database itself is told how to get one."""
    with pytest.raises(UnsuitableServerError, match="RAG_DB_URL"):
        _ = Container(Settings(), None).engine


class FakeServer:
    """Counts how often it is left."""

    def __init__(self) -> None:
        self.left = 0

    def stop(self) -> None:
        """Leave."""
        self.left += 1


@pytest.mark.usefixtures("clean_environment")
def test_close_leaves_the_server() -> None:
    """Closing gives back what was opened, the youngest first, and then leaves the server that came with the container."""
    server = FakeServer()
    left: list[object] = []
    with Container(Settings(), NOWHERE, server=server) as container:
        pool = container.engine.pool
        container.closing.callback(lambda: left.append((container.engine.pool is pool, server.left)))
    assert (left, container.engine.pool is pool, server.left) == ([(True, 0)], False, 1)


@pytest.mark.usefixtures("clean_environment")
@pytest.mark.parametrize(("enabled", "counted"), [(True, 1), (False, 0)], ids=["on", "off"])
def test_metrics_flag(enabled: bool, counted: int) -> None:
    """Retrievals are counted unless that is switched off."""
    services = Container(Settings(rag_metrics_enabled=enabled), None)
    services.retriever(NAMED)
    assert summary(services.metrics.take_fresh())["retrievals"] == counted


@pytest.mark.usefixtures("clean_environment")
@pytest.mark.parametrize("chain", ["tools", "safe_tools"])
def test_conversation_in_an_outage(chain: str) -> None:
    """With the database out, a named procedure is answered with a note, and other questions are told of the outage."""
    services = Container(Settings(), None, outage="the server did not start")
    tools = getattr(services.snapshot(), chain)
    named = converse(Message("¿Cuánto cuesta el NIE?"), tools)
    other = converse(Message("¿quién ganó la liga?"), tools)
    assert named.status is ReplyStatus.ANSWERED
    assert named.text.startswith(tools.say("es", "degraded"))
    assert (other.status, other.text) == (ReplyStatus.OUTAGE, tools.say("es", "outage"))


@pytest.mark.parametrize("tier", [HYBRID, KEYWORD])
def test_calibration(tier: str) -> None:
    """The stored models use features that are measured and no others, and their thresholds can be reached and missed."""
    model = read_calibration(DATA, tier)
    hit = Container(Settings(), None).retriever(NAMED).hits[0]
    assert model.weights
    assert set(model.weights) <= set(features_of(NAMED, [hit]))
    assert 0 < model.threshold < 1


def test_calibration_measures_what_the_tier_measures() -> None:
    """The keyword tier, which has no vectors, is not judged by them."""
    assert not {"cosine", "coverage"} & set(read_calibration(DATA, KEYWORD).weights)


@pytest.mark.usefixtures("clean_environment")
@pytest.mark.parametrize(
    ("tier", "query", "expected"),
    [
        pytest.param(KEYWORD, NAMED, (FOUND, KEYWORD), id="keyword-found"),
        pytest.param(KEYWORD, UNNAMED, (NOT_FOUND, KEYWORD), id="keyword-miss"),
        pytest.param(DIRECTORY, NAMED, (NOT_FOUND, DIRECTORY), id="directory"),
    ],
)
def test_one_tier(tier: str, query: Query, expected: tuple[Status, str]) -> None:
    """A tier of the chain can be asked alone."""
    found = Container(Settings(), None).snapshot().chains.tier(tier)(query)
    assert (found.status, found.tier) == expected


@pytest.mark.usefixtures("clean_environment")
def test_hybrid_tier_alone() -> None:
    """The hybrid tier alone passes an outage on: there is nothing to fall back to."""
    with pytest.raises(IndexUnavailableError):
        Container(Settings(), NOWHERE).snapshot().chains.tier(HYBRID)(NAMED)


def test_intent_model_fits() -> None:
    """The stored model knows every procedure and section that the catalogue has questions on, and nothing that it has not."""
    knowledge = read_knowledge(DATA)
    intent = knowledge.intent.intent("", [0.0] * LocalEmbedder.dimensions)
    assert knowledge.intent.embedder == LocalEmbedder.model
    assert set(intent.documents) == {*knowledge.catalogue.procedures, OUTSIDE}
    sections = {
        (name, section.id) for name, procedure in knowledge.catalogue.procedures.items() for section in procedure.sections
    }
    assert {pair for pair in intent.sections if pair[1] != GENERAL} <= sections


@pytest.mark.parametrize("place", ["", "Barcelona", "Alcoy", "Cataluña"])
def test_only_what_holds_there(place: str) -> None:
    """A question that names a place finds only what holds in it or around it; another finds anything."""
    knowledge = read_knowledge(DATA)
    found = Container(Settings(), None).retriever(Query(f"certificado de discapacidad en {place}", "clara", limit=100))
    territories = {hit.passage.territory for hit in found.hits}
    named = knowledge.catalogue.places.territory_of(f"en {place}")
    around = set(knowledge.catalogue.places.around(named.code)) if named else set(knowledge.catalogue.places.by_code)
    assert found.status is FOUND
    assert territories <= around
    assert (len(territories) > 2) is (not place)
