"""Why a question is answered as it is: what is told of a search, of a remembered one, and of a turn that was recorded."""

import json
import re
from collections.abc import Iterator
from uuid import uuid4

import psycopg
import pytest
from psycopg import sql
from sqlalchemy import text
from tests.integration.editing import explain, replay
from tests.integration.wired import CommandLine, database, wired

from clara.adapters.postgres.delivery.inbox import PostgresInbox, TurnTask
from clara.adapters.postgres.embedded import EmbeddedServer
from clara.adapters.procrastinate.engine import QUEUE, TASK
from clara.container import Container
from clara.delivery.message import Incoming, split
from clara.ingestion.corpora import Cutting, load
from clara.processes.worker import answer
from clara.quality.explanation import UnknownTurnError, page

QUESTION, PLACED, FOREIGN = "¿Cuánto cuesta el NIE?", "¿Cuánto cuesta el NIE en Alcobendas?", "¿Quién ganó la liga?"
CELLS = "Solar cells turn light into electricity."


@pytest.fixture(scope="module")
def url(server: EmbeddedServer, templates: dict[str, str], tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A database with the knowledge and one small corpus of somebody's own."""
    file = tmp_path_factory.mktemp("own") / "cells.jsonl"
    file.write_text(json.dumps({"id": "cells", "title": "Solar power", "text": CELLS, "language": "en"}))
    with database(server, templates["knowledge"]) as made, wired(made) as services:
        load(
            services,
            "energy",
            file,
            profile="prose",
            cutting=Cutting(),
            progress=lambda _done, _total: None,
        )
        yield made


@pytest.fixture(scope="module")
def services(url: str) -> Iterator[Container]:
    with wired(url, clara_channel="local") as made:
        yield made


@pytest.fixture(scope="module")
def commands(url: str) -> Iterator[CommandLine]:
    line = CommandLine(url)
    yield line
    line.close()


def test_a_found_question(services: Container) -> None:
    """Its confidence stands beside the threshold, with the evidence it was read off and each leg's rank and score."""
    told = explain(services, QUESTION, "clara", plan=False)
    judged, shown = told["trace"]["judged"], page(told)
    assert told["confidence"] == judged["confidence"] > judged["threshold"]
    assert shown.startswith("found by pgvector\n")
    assert f"confidence {judged['confidence']:.3f}, shown from {judged['threshold']:.3f} on, judged by: " in shown
    assert all(f"{name} {value:.3f}" in shown for name, value in judged["evidence"].items())
    assert "probably about: nie +" in shown
    rows = [line.split() for line in shown.splitlines() if line.startswith("nie-")]
    assert rows[0][0] == told["trace"]["hits"][0]["id"]
    assert len(rows[0]) == len(["passage", "score", "dense", "cosine", "lexical", "bm25", "linked", "coverage"])


def test_a_refused_question(services: Container) -> None:
    """It is told how far the best passages were from being shown, and which those were."""
    told = explain(services, FOREIGN, "clara", plan=False)
    judged, shown = told["trace"]["judged"], page(told)
    assert told["status"] == "not_found"
    assert judged["confidence"] < judged["threshold"]
    assert f"confidence {judged['confidence']:.3f}, shown from {judged['threshold']:.3f} on" in shown
    assert told["trace"]["hits"]
    assert told["trace"]["hits"][0]["id"] in shown


def test_a_place(services: Container) -> None:
    """A place that is named shows as the filter it became: itself and all around it."""
    told = explain(services, PLACED, "clara", plan=False)
    territories = told["trace"]["filters"]["territories"]
    assert territories[-1] == "ES"
    assert f"only where territories is {' or '.join(territories)}" in page(told)
    assert "only where" not in page(explain(services, QUESTION, "clara", plan=False))


def test_the_plan_is_that_of_the_search(knowledge_url: str) -> None:
    """The plan uses the vector index, looks at the documents that were understood, and holds no vector."""
    with psycopg.connect(knowledge_url, autocommit=True) as connection:
        # With a thousand passages sorting all of them is about as cheap as the index: which one is planned may change.
        name = sql.Identifier(connection.info.dbname)
        connection.execute(sql.SQL("alter database {} set enable_sort = off").format(name))
    with wired(knowledge_url) as services:
        plan = "\n".join(explain(services, QUESTION, "clara", plan=True)["plan"])
    assert "hnsw" in plan
    assert "'[…]'" in plan
    assert not re.search(r"\[-?\d\.\d+,", plan)
    assert re.search(r"document_id = \w+\.document_id\)\)\n\s+Filter: .*\n\s+Index Searches: 1", plan)
    assert "territory" not in plan


def test_the_plan_of_a_place(services: Container) -> None:
    """The plan keeps to the place that was named and what is around it, as the search did."""
    told = explain(services, PLACED, "clara", plan=True)
    assert f"territory = ANY ('{{{','.join(told['trace']['filters']['territories'])}}}'" in "\n".join(told["plan"])


def test_a_corpus_of_ones_own(services: Container) -> None:
    """Nobody calibrated it, so nothing is judged; its hits and its plan are told all the same."""
    told = explain(services, "light to electricity", "energy", plan=True)
    shown = page(told)
    assert (told["status"], told["confidence"], [hit["id"] for hit in told["trace"]["hits"]]) == ("found", None, ["cells"])
    assert "confidence" not in shown
    assert "hnsw" in shown or "space_id" in shown


def test_a_remembered_result(url: str) -> None:
    """A result that was remembered says so, and tells how it was found then."""
    with wired(url, rag_cache_enabled=True) as services:
        first, again = (page(explain(services, QUESTION, "clara", plan=False)) for _ in range(2))
    assert "remembered" not in first
    assert "remembered: exact; what follows is how it was found then" in again
    assert next(line for line in first.splitlines() if line.startswith("nie-")) in again


def test_an_outage() -> None:
    """Without a database the tiers that were out are named, and what answered instead."""
    with wired(None) as services:
        told = explain(services, QUESTION, "clara", plan=False)
    assert page(told).startswith("found by json_fallback\noutages: ['pgvector']\n")


def record(services: Container, said: str | None) -> int:
    """Take a message in, answer it and record its turn; give its number."""
    engine, desk = services.engine, services.desk()
    sid = f"SM{uuid4().hex}"
    inbox = PostgresInbox(engine, services.settings.pseudonym_key, services.sealer, TurnTask(QUEUE, TASK))
    inbox.accept(Incoming(sid, "local", "a", "b", said))
    with engine.connect() as connection:
        number = connection.scalar(text("select id from inbox where message_sid = :sid"), {"sid": sid})
    case = desk.begin(number)
    assert case is not None
    reply = answer(services, case)
    desk.reply(case, reply, split(reply.text, 1_600))
    return int(number)


def stored_trace(services: Container, turn: int) -> str:
    with services.engine.connect() as connection:
        return str(connection.scalar(text("select trace::text from turns where inbox_id = :turn"), {"turn": turn}))


def test_a_turn_is_replayed(services: Container) -> None:
    """What was recorded stands beside what the same message finds now: the same, as nothing changed."""
    turn = record(services, QUESTION)
    told = replay(services, turn)
    assert told["then"]["status"] == "answered"
    assert told["then"]["trace"]["hits"] == told["now"]["trace"]["hits"]
    shown = page(told)
    assert shown.startswith(f"turn {turn}, then: answered by pgvector\n")
    assert shown.count("probably about: nie +") == 2


@pytest.mark.parametrize(
    "settings",
    [{}, {"rag_policy": "adaptive", "rag_reranker": "heuristic", "rag_cache_enabled": True}],
    ids=["plain", "everything-on"],
)
@pytest.mark.parametrize(
    ("said", "status"),
    [
        pytest.param("¿Cuánto vale conseguir el NIE, vecina Gumersinda?", "answered", id="answered"),
        pytest.param("Gumersinda olvidó aquella paellera roja", "out_of_scope", id="refused"),
    ],
)
def test_a_stored_trace_repeats_no_word(url: str, settings: dict[str, object], said: str, status: str) -> None:
    """The recorded trace says how it was found or refused, without a word of the message."""
    with wired(url, clara_channel="local", **settings) as services:
        turn = record(services, said)
        then, stored = replay(services, turn)["then"], stored_trace(services, turn).casefold()
    assert then["status"] == status
    assert then["trace"]["judged"]["evidence"]
    assert [word for word in re.findall(r"\w{4,}", said.casefold()) if word in stored] == []


@pytest.mark.parametrize(
    ("said", "status"),
    [
        pytest.param(None, "unreadable", id="voice-note"),
        pytest.param("\u200b 🙂 ", "unreadable", id="no-words"),
        pytest.param(f"{QUESTION} " * 95, "answered", id="longer-than-is-read"),
    ],
)
def test_turns_of_odd_messages(services: Container, said: str | None, status: str) -> None:
    """A turn is replayed whatever its message was: read as it was read then, and not searched for where there are no words."""
    told = replay(services, record(services, said))
    assert told["then"]["status"] == status
    assert ("now" in told) is (status == "answered")
    assert page(told).startswith("turn ")


def test_an_erased_message(services: Container) -> None:
    """A turn whose message was erased has no second half; one that went with it is unknown."""
    turn = record(services, "¿Qué es el padrón?")
    with services.engine.begin() as connection:
        connection.execute(text("update inbox set body = null where id = :turn"), {"turn": turn})
    assert set(replay(services, turn)) == {"turn", "then", "citations"}
    with services.engine.begin() as connection:
        connection.execute(text("delete from inbox where id = :turn"), {"turn": turn})
    with pytest.raises(UnknownTurnError, match=f"there is no turn {turn};"):
        replay(services, turn)


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        pytest.param(["--turn", "123456789"], 2, "there is no turn 123456789", id="unknown-turn"),
        pytest.param(["--turn", str(10**20)], 2, f"there is no turn {10**20}", id="a-turn-beyond-all-numbers"),
        pytest.param(["x", "--corpus", "towns"], 2, "there is no corpus 'towns'", id="unknown-corpus"),
        pytest.param([" "], 2, "text is blank", id="blank"),
        pytest.param([], 2, "Give either a QUESTION or --turn ID", id="nothing"),
        pytest.param([QUESTION, "--turn", "1"], 2, "Give either a QUESTION or --turn ID", id="both"),
    ],
)
def test_what_cannot_be_explained(commands: CommandLine, arguments: list[str], code: int, said: str) -> None:
    """Exit code 2 and a sentence, never a stack trace."""
    ran = commands("explain", *arguments)
    assert (ran.code, ran.raised) == (code, None)
    assert said in ran.err


def test_a_turn_while_the_database_is_away() -> None:
    """A turn cannot be looked up then, which is said in a sentence."""
    commands = CommandLine("postgresql://clara@127.0.0.1:1/clara")
    ran = commands("explain", "--turn", "1")
    commands.close()
    assert (ran.code, ran.raised) == (2, None)
    assert "PostgreSQL does not answer" in ran.err.splitlines()[-1]


def test_the_command_prints_what_the_job_tells(services: Container, commands: CommandLine) -> None:
    """As a page for a person, or as JSON; a turn by its number too."""
    turn = record(services, "¿cuánto cuesta el nie?")
    told, shown, replayed = (
        commands("explain", *arguments) for arguments in ([QUESTION, "--json"], [PLACED, "--plan"], ["--turn", turn, "--json"])
    )
    assert [ran.code for ran in (told, shown, replayed)] == [0, 0, 0]
    assert json.loads(told.out)["trace"]["hits"][0]["id"].startswith("nie-")
    assert "only where territories is" in shown.out
    assert "Execution Time" in shown.out
    assert json.loads(replayed.out)["then"]["status"] == "answered"
