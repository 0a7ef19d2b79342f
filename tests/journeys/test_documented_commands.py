"""What the documents name is there, and what can run without anybody else's service runs as it is written."""

import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import click
import pytest
from tests.journeys.documented import ROOT, Line, blocks, commands, documents, fault_of, lines, named

from clara.cli import cli
from clara.settings import child_environment

EXECUTED: Final = ("README.md", "operations.md", "bench.md", "shipping.md", "evaluating-answers.md", "engine.md")
# What is only held against the commands, by its beginning, and why.
ONLY_PARSED: Final = {
    "make": "each sets up an environment of its own; `make -n` shows that its steps are commands",
    "pytest": "it is these tests",
    "docker": "needs a container engine; docs/shipping.md says what was replayed",
    "curl": "posts to a process that runs; tests/journeys/test_readme.py does",
    "pip": "asks a package index",
    "pg_dump": "tests/journeys/test_backup.py runs these lines",
    "pg_restore": "tests/journeys/test_backup.py runs these lines",
    "psql": "needs a database of the operator's; tests/journeys/test_backup.py",
    "grep": "tests/journeys/test_backup.py runs these lines",
    "openssl": "needs the operator's key",
    "printf": "needs the operator's key",
    "jq": "a program of others on a file of the reader's",
    "python": "modules that serve, kill or measure for minutes, or need a data set; tests of their own run them",
    "clara up": "serves until it is stopped; tests/journeys/test_processes.py",
    "clara web": "serves until it is stopped; tests/journeys/test_processes.py",
    "clara worker": "works until it is stopped; tests/journeys/test_processes.py",
    "clara ingest-worker": "works until it is stopped; tests/faults/test_killed_ingestions.py",
    "clara sign": "needs the form; tests/journeys/test_readme.py",
    "clara ingest --all": "reads the gazette and the pages of offices",
    "clara boe --check": "reads the gazette; tests/integration has its days",
    "clara boe seen": "needs an alert",
    "clara drift": "reads the sources",
    "clara review show": "needs a finding",
    "clara review accept": "needs a finding",
    "clara review reject": "needs a finding",
    "clara publish": "judges for minutes; tests/integration publishes small versions",
    "clara explain --turn": "needs a turn that was taken",
    "clara delivery looked-at": "needs a message that was set aside",
    "clara index build": "sends texts to Gemini",
    "clara index use": "needs vectors of another model",
    "clara corpus load handbook": "needs a file of the reader's",
    "clara corpus load mine": "embeds this repository for minutes",
    "clara corpus drop handbook": "needs the reader's corpus",
    "clara corpus drop law": "needs the law",
    "clara index recall handbook": "needs the reader's corpus",
    "clara search --corpus handbook": "needs the reader's corpus",
    "clara eval": "judges for minutes; `make eval`",
    "clara ask --as-of": "copies all that is served; tests/integration",
    "clara audit": "tests of the record of acts",
}
# Exit codes other than 0 that a command as documented may end with.
ALSO_FINE: Final = {
    "clara knowledge check": 1,
    "clara knowledge expiring": 1,
    "clara boe": 1,
    "clara review list": 1,
    "clara delivery": 1,
    "clara index status": 1,
}
WORDS_OF_THE_README: Final = 1_500

DOCUMENTS: Final = [path for path in documents() if path.name in EXECUTED]


def words_of(words: list[str]) -> str:
    """Write a command for looking it up, without the folder of its program."""
    program = re.sub(r"^python3?$", "python", words[0].rsplit("/", 1)[-1])
    return " ".join([program, *words[1:]])


def reason_of(line: str) -> str | None:
    """Say why a line is only parsed; None: it is run."""
    said = [words_of(words) for words in commands(line)]
    return next((why for text in said for begin, why in ONLY_PARSED.items() if f"{text} ".startswith(f"{begin} ")), None)


def complete(line: str) -> bool:
    """Whether a command of running text has all that it needs, rather than being mentioned."""
    words = next(commands(line), [""])
    if words_of(words).split()[:1] != ["clara"] or re.search(r"\.\.\.|\b[A-Z]{2,}\b", line):
        return False
    command, rest = cli, words[1:]
    while isinstance(command, click.Group) and rest and rest[0] in command.commands:
        command, rest = command.commands[rest[0]], rest[1:]
    if "--help" in rest:
        return True
    try:
        given = command.make_context(command.name, list(rest)).params
    except (click.ClickException, click.exceptions.Exit):
        return False
    arguments = [given[param.name] for param in command.params if isinstance(param, click.Argument)]
    return not isinstance(command, click.Group) and (not arguments or any(arguments))


def scripts() -> Iterator[object]:
    """Give what is run, once: the blocks of the documents without what is only parsed, then what stands in their text."""
    seen: set[str] = set()
    for path in DOCUMENTS:
        written: list[str] = []  # the files that earlier blocks of the document made
        for number, block in enumerate(blocks(path, ("sh",))):
            kept = [line for line in lines(block) if reason_of(line) is None]
            if any("clara" in line for line in kept) and not set(kept) <= seen:
                seen.update(kept)
                yield pytest.param([*written, *kept], id=f"{path.name} {number}")
            written += [line for line in kept if line.startswith("echo ")]
    for path in DOCUMENTS:
        for line in named(path):
            text = f".venv/bin/{line.text}" if line.text.startswith("clara ") else line.text
            if text not in seen and reason_of(text) is None and complete(text):
                seen.add(text)
                yield pytest.param([text], id=line.text)


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A folder in which `.venv/bin/clara` is the command under test."""
    script = tmp_path / ".venv" / "bin" / "clara"
    script.parent.mkdir(parents=True)
    script.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m clara "$@"\n')
    script.chmod(0o755)
    return tmp_path


@pytest.mark.parametrize("line", [pytest.param(line, id=str(line)) for path in documents() for line in named(path)])
def test_what_a_document_names_can_be_called(line: Line) -> None:
    """Group, command, options, choices, targets, modules and scripts exist."""
    assert fault_of(line) is None


@pytest.mark.parametrize("script", list(scripts()))
def test_what_needs_nobody_else_runs_as_written(script: list[str], checkout: Path, knowledge_url: str) -> None:
    """Every command ends with 0, or with the code that it has for findings."""
    for line in script:
        done = shell(line, checkout, RAG_DB_URL=knowledge_url, OTHER_DB_URL=knowledge_url)
        fine = {0} | {
            code for begin, code in ALSO_FINE.items() if any(words_of(one).startswith(begin) for one in commands(line))
        }
        assert done.returncode in fine, f"{line}\n{done.stdout[-500:]}{done.stderr[-1500:]}"
    for answers in checkout.glob("re*.jsonl"):
        assert answers.read_text("utf-8").strip()


def shell(line: str, folder: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["/bin/bash", "-euo", "pipefail", "-c", line],
        cwd=folder,
        env=child_environment(CLARA_HOME=str(folder), **environment),
        capture_output=True,
        text=True,
        timeout=280,
        check=False,
    )


@pytest.mark.parametrize("target", re.findall(r"^([a-z-]+):.* ## ", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE))
def test_the_steps_of_a_target_are_commands(target: str) -> None:
    """What `make` would run names commands, modules and options that exist."""
    for settings in ((), ("REAL=1",), ("QUESTIONS=3",)):
        command = [shutil.which("make") or "make", "-n", "--no-print-directory", target, *settings]
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=60, check=True)
        steps = re.findall(r"\.venv/bin/(?:clara|python -m (?:clara|tests))[^&|>;\\\n]*", done.stdout)
        assert [fault for step in steps if (fault := fault_of(Line("Makefile", step.replace("--editable .", ""))))] == []


def test_a_command_that_is_not_there_is_noticed() -> None:
    """A group, a command, an option, a choice, a target, a variable, a module and an argument too many."""
    wrong = (
        "clara indexes recall", "clara index recal", "clara index recall --corpus NAME", "clara eval --tier best",
        "make bench-all", "make load SLOW=1", "python -m clara_lab.nothing", "python -m clara_lab benches",
        "python -m tests.faults.load --never",
        "clara knowledge show imv tie", "RAG_DB_URL=x .venv/bin/clara seek a | cat", "python scripts/run.py",
    )  # fmt: skip
    assert [text for text in wrong if fault_of(Line("", text)) is None] == []
    right = "OTHER=x .venv/bin/clara search 'a | b > c' --json > file; clara index recall NAME && make load REAL=1"
    assert fault_of(Line("", right)) is None


def test_the_readme_is_short() -> None:
    """A newcomer reads it in a few minutes: what is reference stands in docs/."""
    text = (ROOT / "README.md").read_text("utf-8")
    assert len(text.split()) <= WORDS_OF_THE_README
