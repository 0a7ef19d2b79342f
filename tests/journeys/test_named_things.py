"""Paths, functions, settings, series and modules that the documents name are there."""

import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Final

import pytest
from tests.journeys.documented import ROOT, documents, spans

from clara.settings import Settings

DECISION: Final = re.compile(r"docs/decisions/(\d{4})")
PATH: Final = re.compile(r"[\w.-]+(/[\w.-]+)*/?")
ENDINGS: Final = (".py", ".md", ".json", ".jsonl", ".toml", ".yaml", ".npz", ".sql", ".env", ".lock")
# A path in a document stands for one of these folders' content, whichever page names it.
FOLDERS: Final = ("", "src", "src/clara", "src/clara/adapters", "src/clara_lab", "docs", "data", "eval/clara", "eval/answers")
# What a page names that is not a file of this repository.
MADE: Final = {"build": "made by a run", "var": "a folder of the machine", "srv": "a folder of the reader's"}
# Files that the design named and that were not made: a table of docs/architecture.md says why.
NOT_MADE: Final = {"wsgi.py", "caching/layered.py"}
# Names that begin as settings do and are none, with the reason.
NO_SETTING: Final = {"CLARA_PORT": "what Kubernetes would inject, as docs/shipping.md warns"}
ROW: Final = re.compile(r"(?<!\\)\|")
STATES: Final = {"here", "planned", "dropped"}


@cache
def code() -> str:
    """Give the program's text, its statements and its migrations."""
    files = (file for folder in ("src", "migrations", "tests/integration") for file in (ROOT / folder).rglob("*"))
    return "\n".join(file.read_text("utf-8") for file in files if file.suffix in {".py", ".sql", ".json"})


def is_there(path: str) -> bool:
    """Whether a path is a file or folder of this repository, from the root or from a folder that pages speak of."""
    candidates = [ROOT / folder / name for folder in FOLDERS for name in (path, f"{path}.py")]
    return any(candidate.exists() for candidate in candidates) or any(ROOT.glob(f"src/**/{path.strip('/')}"))


def looks_like_a_path(span: str) -> bool:
    """Whether a span of code is a path: one of a program, or in a folder. Bare names of data may be the reader's."""
    if not PATH.fullmatch(span) or span.startswith("/"):
        return False
    folder, inside, _rest = span.partition("/")
    return span.endswith((*ENDINGS, "/")) or (ROOT / folder).is_dir() if inside else span.endswith(".py")


@pytest.mark.parametrize("name", ["README.md", "CONTRIBUTING.md", "SECURITY.md", "docs/operations.md", "docs/bench.md",
    "docs/shipping.md", "docs/engine.md", "docs/evaluating-answers.md", "docs/architecture.md", "docs/performance.md",
    "docs/settings.md", "docs/third-party.md"])  # fmt: skip
def test_paths_are_there(name: str) -> None:
    """Every path in running text leads to a file or a folder, unless a run or the reader makes it."""
    paths = {span for span in spans(ROOT / name) if looks_like_a_path(span) and span.split("/")[0] not in MADE} - NOT_MADE
    assert sorted(path for path in paths if not is_there(path)) == []


@pytest.mark.parametrize("path", documents(), ids=lambda path: path.name)
def test_settings_are_settings(path: Path) -> None:
    """Every name that begins as a setting of Clara's is one. What other systems called theirs stands in seeds.md alone."""
    if path.name == "seeds.md":
        return
    known = {name.upper() for name in Settings.model_fields} | NO_SETTING.keys()
    found = set(re.findall(r"\b(?:CLARA|RAG)_[A-Z][A-Z0-9_]*[A-Z0-9]\b(?!_?\.\.\.)", path.read_text("utf-8")))
    assert sorted(name for name in found - known if name not in code()) == []


@pytest.mark.parametrize("path", documents(), ids=lambda path: path.name)
def test_series_are_counted(path: Path) -> None:
    """Every name of a series of `/metrics` stands in the program."""
    series = re.findall(r"\bclara_(\w+?)(?:_total|_seconds)\b", path.read_text("utf-8"))
    assert sorted(name for name in set(series) if not re.search(rf"\b(clara_)?{name}(_total|_seconds)?\b", code())) == []


def seeds() -> Iterator[tuple[int, str, str, str]]:
    """Give each row of docs/seeds.md: its line, where the feature lives, its state, and the note."""
    for number, line in enumerate((ROOT / "docs" / "seeds.md").read_text("utf-8").splitlines(), 1):
        cells = [cell.strip() for cell in ROW.split(line)[1:-1]]
        if len(cells) == 4 and cells[2] in STATES:
            yield number, cells[1], cells[2], cells[3]


def absent(where: str, note: str) -> Iterator[str]:
    """Give what a row names that is not there: paths, names of the program, settings and addresses."""
    for span in re.findall(r"`([^`]+)`", where):
        if re.match(r"(clara|make|python3?) ", span):
            continue  # test_documented_commands.py holds commands against the program
        if is_there(span.rstrip("/")) or (span.startswith("/") and f'/{span.rsplit("/", 1)[1]}"' in code()):
            continue
        words = re.findall(r"[A-Za-z_]\w*", span.split("(")[0])
        if "/" in span or span.endswith(ENDINGS) or any(not re.search(rf"\b{word}\b", code(), re.IGNORECASE) for word in words):
            yield span
    for number in DECISION.findall(f"{where} {note}"):
        if not list((ROOT / "docs" / "decisions").glob(f"{number}-*")):
            yield f"decision {number}"
    yield from (path for path in re.findall(r"`([^`]+/[^`]+)`", note) if looks_like_a_path(path) and not is_there(path))


def test_every_row_of_the_seeds_is_true() -> None:
    """Where a feature is said to live, there is something; every row has a place or says why there is none."""
    rows = list(seeds())
    assert len(rows) > 200
    assert [(number, fault) for number, where, _state, note in rows for fault in absent(where, note)] == []
    # What is there is not called planned: neither its script nor its file.
    planned = [(number, where) for number, where, state, _note in rows if state == "planned" and "scripts/" in where]
    assert planned == []
    assert [number for number, where, state, note in rows if not where or (state != "here" and not note)] == []
