"""Tests of answering a file of questions: what a row tells, and that a stopped run goes on without asking twice."""

import json
from collections.abc import Mapping
from datetime import date
from pathlib import Path

import pytest
from click.testing import CliRunner

from clara.answering.journey import Tools
from clara.answering.questions import ask_batch
from clara.cli import cli
from clara.container import Container
from clara.data_files import BatchError
from clara.settings import Settings

DAY = date(2026, 11, 23)


@pytest.fixture(scope="module")
def services() -> Container:
    """Container without a database: keywords answer."""
    return Container(Settings(rag_enabled=False), None)


def voice(services: Container) -> tuple[Tools, Mapping[str, object]]:
    return services.snapshot().tools, services.snapshot().knowledge.names


def run(services: Container, tmp_path: Path, lines: list[dict[str, object]], day: date = DAY) -> list[dict[str, object]]:
    """Answer these lines, and give the rows."""
    source, target = tmp_path / "in.jsonl", tmp_path / "out.jsonl"
    source.write_text("".join(f"{json.dumps(line)}\n" for line in lines), "utf-8")
    assert ask_batch(*voice(services), source, target, str(day), lambda _done, _total: None) == len(lines)
    return [json.loads(line) for line in target.read_text("utf-8").splitlines()]


def test_a_row(services: Container, tmp_path: Path) -> None:
    """A row has the reply as a person gets it, and what is to be measured."""
    [row] = run(services, tmp_path, [{"id": "a", "query": "¿Cuánto cuesta el TIE?", "expected_procedures": ["tie"]}])
    assert list(row) == [
        "id", "status", "tier", "language", "text", "citations", "timings_ms", "offers", "danger", "act",
    ]  # fmt: skip
    assert (row["status"], row["language"], row["danger"], row["act"]) == ("answered", "es", [], None)
    assert {citation["document_id"] for citation in row["citations"]} == {"tie"}


@pytest.mark.parametrize(
    ("query", "act"),
    [
        ("borra mis datos", "erase"),
        ("qué sabes de mí", "export"),
        ("quiero hablar con una persona", "person"),
        ("menú", "menu"),
        ("no me ha servido", "feedback"),
        ("¿cuánto cuesta el TIE?", None),
    ],
)
def test_acts(services: Container, tmp_path: Path, query: str, act: str | None) -> None:
    """What was done or asked about beside an answer is named."""
    [row] = run(services, tmp_path, [{"id": "a", "query": query}])
    assert row["act"] == act


def test_danger_first_first(services: Container, tmp_path: Path) -> None:
    """The kinds of danger are told, the first first."""
    [row] = run(services, tmp_path, [{"id": "a", "query": "quiero morir"}])
    assert (row["status"], row["danger"]) == ("urgent", ["suicide"])


def test_offers_are_procedures(services: Container, tmp_path: Path) -> None:
    """What a topic of the menu offers is told as procedures; the topics are none."""
    menu, topic = run(services, tmp_path, [{"id": "a", "query": "menú"}, {"id": "b", "query": "1", "turns": ["menú"]}])
    assert menu["offers"] == []
    assert {"nie", "tie"} <= set(topic["offers"])


def test_turns_are_what_was_said_before(services: Container, tmp_path: Path) -> None:
    """A question hangs on the messages before it, and on those of its own line only."""
    rows = run(
        services,
        tmp_path,
        [
            {"id": "a", "query": "¿y cuánto cuesta?", "turns": ["¿Cómo se pide el TIE?"]},
            {"id": "b", "query": "¿y cuánto cuesta?"},
        ],
    )
    assert [{citation["document_id"] for citation in row["citations"]} for row in rows] == [{"tie"}, set()]


class StoppedError(Exception):
    """A run ends in the middle, as when it is interrupted."""


def test_a_stopped_run_goes_on(services: Container, tmp_path: Path) -> None:
    """What was answered before a stop is not asked again, half a line is, and nothing stands in the target before the end."""
    source, target = tmp_path / "in.jsonl", tmp_path / "out.jsonl"
    source.write_text("".join(f'{{"id": "{number}", "query": "el NIE"}}\n' for number in range(6)), "utf-8")

    def stop(done: int, _total: int) -> None:
        if done == 3:
            raise StoppedError

    with pytest.raises(StoppedError):
        ask_batch(*voice(services), source, target, str(DAY), stop)
    assert not target.exists()
    [partial] = tmp_path.glob("out.jsonl.*.part")
    partial.write_bytes(partial.read_bytes() + b'{"id": "3", "sta')
    seen: list[int] = []
    ask_batch(*voice(services), source, target, str(DAY), lambda done, _total: seen.append(done))
    assert seen == [3, 4, 5, 6]
    assert [json.loads(line)["id"] for line in target.read_text("utf-8").splitlines()] == list("012345")
    assert list(tmp_path.glob("*.part")) == []


def test_other_questions_or_another_day_begin_anew(services: Container, tmp_path: Path) -> None:
    """What a stopped run left is not taken for answers to other questions, or of another day."""
    source, target = tmp_path / "in.jsonl", tmp_path / "out.jsonl"

    def stop(_done: int, _total: int) -> None:
        if _done:
            raise StoppedError

    for query, day in (("el NIE", DAY), ("el TIE", DAY), ("el TIE", date(2027, 1, 15))):
        source.write_text(f'{{"id": "a", "query": "{query}"}}\n' * 1, "utf-8")
        with pytest.raises(StoppedError):
            ask_batch(*voice(services), source, target, str(day), stop)
    assert len(list(tmp_path.glob("*.part"))) == 3


def test_faults_leave_nothing_behind(services: Container, tmp_path: Path) -> None:
    """A bad line, or a folder that is not there, ends the run before anything is asked or written."""
    source = tmp_path / "in.jsonl"
    source.write_text('{"id": "a", "query": "el NIE"}\n\n', "utf-8")
    with pytest.raises(BatchError, match=":2: is empty"):
        ask_batch(*voice(services), source, tmp_path / "out.jsonl", str(DAY), lambda _done, _total: None)
    source.write_text('{"id": "a", "query": "el NIE"}\n', "utf-8")
    with pytest.raises(BatchError, match="folder does not exist"):
        ask_batch(*voice(services), source, tmp_path / "none" / "out.jsonl", str(DAY), lambda _done, _total: None)
    assert list(tmp_path.iterdir()) == [source]


@pytest.mark.parametrize(
    "arguments",
    [[], ["x", "--batch", "{file}"], ["--batch", "{file}"], ["--batch", "{file}", "--out", "o", "--json"]],
    ids=["nothing", "both", "no-out", "json"],
)
def test_usage(tmp_path: Path, arguments: list[str]) -> None:
    """What does not go together is refused with exit code 2."""
    file = tmp_path / "in.jsonl"
    file.write_text("", "utf-8")
    done = CliRunner().invoke(cli, ["ask", *(argument.format(file=file) for argument in arguments)])
    assert done.exit_code == 2
