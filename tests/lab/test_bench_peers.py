"""The comparison with peers on a real PostgreSQL; frameworks take part where they are installed."""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from uuid import uuid4

import numpy as np
import psycopg
import pytest
from tests.integration.wired import WordEmbedder

from clara.container import Container
from clara_lab.bench.peers import PeerOutcome, PeerSetting
from clara_lab.bench.peers_table import PeersTable
from clara_lab.bench.plan import planned
from clara_lab.runner.data import read_source
from clara_lab.runner.peer import Work, write_work
from clara_lab.runner.peers import (
    DATABASE,
    ENVIRONMENTS,
    PEERS,
    Contender,
    PeerOptions,
    borrowed_database,
    compare_peers,
    outcome_of,
)

TOWNS = ("Almansa", "Baeza", "Calahorra", "Denia", "Estepona", "Fraga", "Guadix", "Huesca", "Igualada", "Jaca", "Lorca", "Mula")
PLAIN = PEERS[0]
NOWHERE = Path("no-such-folder")
CHECKOUT = Path(__file__).parents[2]


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """A town a document, one without text, and a question about each town."""
    folder = tmp_path / "towns"
    folder.mkdir()
    documents = [
        {"id": f"d{at}", "title": town, "text": f"The river of {town} is the Rio{at}."} for at, town in enumerate(TOWNS)
    ]
    documents.append({"id": "blank", "title": "Nothing", "text": ""})
    questions = [{"id": f"q{at}", "question": f"Which river has {town}?", "gold": [f"d{at}"]} for at, town in enumerate(TOWNS)]
    for name, rows in (("corpus", documents), ("queries", questions)):
        (folder / f"{name}.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows), "utf-8")
    return folder


@pytest.fixture
def compare(empty_url: str, services_on: Callable[..., Container], data: Path, tmp_path: Path) -> Callable[..., PeersTable]:
    """Compares some of the contenders, with words for vectors."""
    services = services_on(empty_url)
    services.embedder = WordEmbedder()

    def compared(*only: str, environments: Path = NOWHERE) -> PeersTable:
        plan = planned(
            {
                "BENCH_DATA": str(data),
                "MTEB_DATASET_NAME": "towns",
                "RETRIEVAL_STRATEGY": "PROFILE:encyclopedia",
                "RETRIEVAL_K": 5,
                "GENERATION_ENABLED": False,
            }
        )
        manner = PeerOptions(tmp_path / "out", only, environments, 100)
        return compare_peers(services, plan, manner, lambda _said: None, lambda *_: None)

    return compared


@pytest.fixture
def run(empty_url: str, data: Path, tmp_path: Path) -> Callable[..., PeerOutcome]:
    """Runs one contender in a database of its own."""
    documents = read_source(data, "towns").documents[: len(TOWNS)]
    embedder = WordEmbedder()
    vectors = embedder.embed([f"{document.title}\n{document.text}" for document in documents], "passage")
    folder = tmp_path / "work"
    folder.mkdir()
    asked = embedder.embed([TOWNS[3]], "query")
    work = Work(documents, [("q", f"river {TOWNS[3]}")], np.array(vectors, np.float32), np.array(asked, np.float32))
    write_work(folder, work)

    def ran(contender: Contender, environments: Path = NOWHERE, seconds: float = 100) -> PeerOutcome:
        with borrowed_database(empty_url, f"{DATABASE}{uuid4().hex}") as url:
            setting = PeerSetting(url, embedder.dimensions, "english", contender.way, contender.options)
            return outcome_of(contender, setting, 5, folder, PeerOptions(tmp_path, (), environments, seconds))

    return ran


def test_everybody_finds_what_words_find(compare: Callable[..., PeersTable], tmp_path: Path) -> None:
    """Clara's three strategies and the plain peer rank the right town first, each timed and weighed, in three files."""
    names = ("SIMPLE_VECTOR", "CONTEXTUAL_HYBRID", "PROFILE:encyclopedia", "plain")
    table = compare(*names)
    assert [(outcome.name, outcome.failure) for outcome in table.outcomes] == [(name, "") for name in names]
    for outcome in table.outcomes:
        assert outcome.timed is not None
        assert {question: ids[0] for question, ids in outcome.timed.ranked.items()} == {f"q{at}": f"d{at}" for at in range(12)}
        assert all(len(ids) == len(set(ids)) <= 5 for ids in outcome.timed.ranked.values())
        assert outcome.timed.index_seconds > 0
        assert outcome.timed.questions_per_second > 0
        assert outcome.timed.peak_bytes > 10_000_000
        assert outcome.timed.installed_bytes > 1_000_000
    written = sorted(file.suffix for file in (tmp_path / "out").glob("peers_towns_*"))
    assert written == [".csv", ".json", ".md"]


def test_a_peer_that_is_not_installed_is_a_row_with_the_command(run: Callable[..., PeerOutcome], tmp_path: Path) -> None:
    """LangChain is not among Clara's own packages: without an environment of its own the row says how to make one."""
    langchain = PEERS[1]
    outcome = run(langchain, tmp_path / "environments")
    assert outcome.timed is None
    assert outcome.failure == "langchain_core is not installed"
    assert outcome.remedy == langchain.remedy(tmp_path / "environments")


def test_a_peer_that_fails_is_a_row_with_its_last_line(run: Callable[..., PeerOutcome], tmp_path: Path) -> None:
    """What a process says last is the reason, all that it said is in its log; nothing is left of another."""
    assert run(PLAIN).timed is not None
    outcome = run(replace(PLAIN, name="broken", target="clara_lab.peers.plain:Nobody"))
    assert (outcome.timed, "AttributeError" in outcome.failure) == (None, True)
    assert "Traceback" in (tmp_path / "peers-broken.log").read_text("utf-8")
    assert "peers-broken.log" in outcome.remedy


def test_a_peer_that_takes_too_long_is_ended(run: Callable[..., PeerOutcome]) -> None:
    """Nobody waits longer than was said."""
    outcome = run(PLAIN, seconds=0.01)
    assert outcome.failure == "took more than 0 s"
    assert "--seconds" in outcome.remedy


def test_the_database_of_a_peer_is_gone_afterwards(empty_url: str) -> None:
    """A borrowed database is empty at first, even if an earlier one was left, and is dropped though somebody is connected."""
    name = f"borrowed_{empty_url.partition('test_')[2][:12]}"
    with borrowed_database(empty_url, name) as url, psycopg.connect(url) as left:
        left.execute("create table leftover ()")
        left.commit()
        with borrowed_database(empty_url, name) as again, psycopg.connect(again) as connection:
            found = connection.execute("select count(*) from pg_tables where schemaname = 'public'").fetchone()
            assert found == (0,)
    with psycopg.connect(empty_url) as connection:
        assert connection.execute("select 1 from pg_database where datname = %s", [name]).fetchone() is None


@pytest.mark.parametrize("contender", PEERS[1:], ids=lambda contender: contender.name)
def test_each_framework_that_is_installed_finds_what_words_find(run: Callable[..., PeerOutcome], contender: Contender) -> None:
    """A framework's search, by vectors and hybrid, ranks the right town first."""
    environments = CHECKOUT / ENVIRONMENTS
    if contender.python(environments) is None:
        pytest.skip(f"{contender.environment} is not installed: {contender.remedy(ENVIRONMENTS)}")
    outcome = run(contender, environments)
    assert outcome.failure == ""
    assert outcome.timed is not None
    assert outcome.timed.ranked["q"][0] == "d3"
    assert 1 <= len(outcome.timed.ranked["q"]) <= 5
    assert outcome.timed.version
