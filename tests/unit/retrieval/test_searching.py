"""Tests of searching without writing an answer, on the catalogue alone."""

import json
from pathlib import Path

import pytest
from tests.integration.editing import search

from clara.container import Container
from clara.data_files import BatchError
from clara.processes.commands import build_search
from clara.retrieval.passage import Found, Query, Status
from clara.retrieval.search import SearchChoice
from clara.settings import Settings

GOOD = b'{"id": "a", "query": "el NIE"}\r\n{"id": "b", "query": "\xc2\xbfqui\xc3\xa9n gan\xc3\xb3?"}\n'


@pytest.fixture(scope="module")
def services() -> Container:
    """Container without a database."""
    return Container(Settings(rag_enabled=False), None)


@pytest.fixture
def source(tmp_path: Path) -> Path:
    """Where the questions are."""
    return tmp_path / "questions.jsonl"


@pytest.fixture
def target(tmp_path: Path) -> Path:
    """Where the hits go."""
    return tmp_path / "hits.jsonl"


def run(services: Container, source: Path, target: Path, content: bytes, limit: int = 3) -> list[dict[str, object]]:
    """Search a file and give the lines written."""
    source.write_bytes(content)
    build_search(services).batch(source, target, SearchChoice(limit, "clara"), lambda _done, _total: None)
    return [json.loads(line) for line in target.read_text("utf-8").splitlines()]


def test_batch(services: Container, source: Path, target: Path) -> None:
    """Each question has its line, in order, with what was found."""
    first, second = run(services, source, target, GOOD)
    assert (first["id"], first["status"], first["tier"]) == ("a", "found", "json_fallback")
    assert [hit["document_id"] for hit in first["hits"]] == ["nie"] * 3
    assert (second["id"], second["status"]) == ("b", "not_found")


def test_directory_is_no_evidence(services: Container, source: Path, target: Path) -> None:
    """A question that finds nothing has no hits: the directory of what exists is no evidence."""
    assert run(services, source, target, GOOD)[1]["hits"] == []


@pytest.mark.parametrize("limit", [1, 2, 100])
def test_limit(services: Container, source: Path, target: Path, limit: int) -> None:
    """No question has more hits than were asked for."""
    hits = run(services, source, target, GOOD, limit)[0]["hits"]
    assert 1 <= len(hits) <= limit


def test_progress(services: Container, source: Path, target: Path) -> None:
    """Progress counts the questions up to their number, which is given back."""
    source.write_bytes(GOOD)
    seen: list[tuple[int, int]] = []
    assert (
        build_search(services).batch(source, target, SearchChoice(3, "clara"), lambda done, total: seen.append((done, total)))
        == 2
    )
    assert seen == [(1, 2), (2, 2)]


def test_no_questions(services: Container, source: Path, target: Path) -> None:
    """A file without questions gives a file without lines."""
    assert run(services, source, target, b"") == []


def test_a_bad_line_ends_the_search(services: Container, source: Path, target: Path) -> None:
    """A bad line is named with its number, and nothing is searched or written."""
    with pytest.raises(BatchError, match=r":3: is empty"):
        run(services, source, target, GOOD + b"\n")
    assert not target.exists()


@pytest.mark.parametrize(
    ("line", "name", "status"),
    [
        pytest.param(b'{"id": "\\ud800", "query": "el NIE"}', "\ud800", "found", id="id"),
        pytest.param(b'{"id": "a\\udfffb", "query": "el NIE"}', "a\udfffb", "found", id="inside-an-id"),
        pytest.param(b'{"id": "a", "query": "el NIE \\ud83d"}', "a", "found", id="query"),
        pytest.param(b'{"id": "a", "query": "\\ud83d"}', "a", "not_found", id="query-alone"),
        pytest.param(b'{"id": "a", "query": "NIE\\u0000"}', "a", "found", id="nul"),
    ],
)
def test_lone_surrogate(services: Container, source: Path, target: Path, line: bytes, name: str, status: str) -> None:
    """A lone surrogate, which UTF-8 cannot hold, is searched and written like anything else."""
    (written,) = run(services, source, target, line)
    assert (written["id"], written["status"]) == (name, status)


def test_search(services: Container) -> None:
    """One query gives its hits with text, heading and scores, all of it JSON."""
    found = search(services, "¿cuánto cuesta el NIE?", SearchChoice(2, "clara"))
    assert json.loads(json.dumps(found)) == found
    assert (found["status"], found["tier"], found["outages"], len(found["hits"])) == ("found", "json_fallback", [], 2)
    best = found["hits"][0]
    assert (best["document_id"], best["section"]) == ("nie", "cuantias")
    assert best["text"]
    assert best["heading"][0].startswith("NIE")


def test_search_miss() -> None:
    """A query that finds nothing while the index is out is an outage without hits."""
    found = search(Container(Settings(), None, outage="down"), "¿quién ganó la liga?", SearchChoice(5, "clara"))
    assert (found["status"], found["outages"], found["hits"]) == ("outage", ["pgvector"], [])


def test_language_of_the_question() -> None:
    """A query is asked in the language it is written in, as in a conversation."""
    services, seen = Container(Settings(rag_enabled=False), None), []

    def listen(query: Query) -> Found:
        seen.append((query.text, query.language, query.limit))
        return Found(Status.NOT_FOUND, "t")

    services.retriever = listen
    search(services, "how long does the NIE take", SearchChoice(5, "clara"))
    assert seen == [("how long does the NIE take", "en", 5)]
