"""The commands of the README, run as they are written."""

import re
import subprocess
import sys
from pathlib import Path

import pytest
from tests.journeys.talking import until
from tests.journeys.test_processes import Running, demo

from clara.settings import Settings, child_environment

ROOT = Path(__file__).parents[2]
BLOCKS = re.findall(r"^```sh\n(.*?)^```", (ROOT / "README.md").read_text("utf-8"), re.MULTILINE | re.DOTALL)

EXAMPLES = re.findall(r"^```python\n(.*?)^```", (ROOT / "docs" / "engine.md").read_text("utf-8"), re.MULTILINE | re.DOTALL)

__all__ = ["demo"]


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A folder in which `.venv/bin/clara` is the command under test."""
    (tmp_path / ".venv" / "bin").mkdir(parents=True)
    script = tmp_path / ".venv" / "bin" / "clara"
    script.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m clara "$@"\n')
    script.chmod(0o755)
    return tmp_path


def run(block: str, folder: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["/bin/bash", "-euo", "pipefail", "-c", block],
        cwd=folder,
        env=child_environment(**environment),
        capture_output=True,
        text=True,
        timeout=280,
        check=False,
    )


def test_the_readme_starts_with_the_two_commands() -> None:
    """A newcomer finds `make run` and `make test` first, and both exist."""
    assert [block.strip() for block in BLOCKS[:2]] == ["make run", "make test"]
    targets = (ROOT / "Makefile").read_text("utf-8")
    for block in BLOCKS:
        for line in block.splitlines():
            if line.startswith("make "):
                assert re.search(rf"^{line.split()[1]}:", targets, re.MULTILINE), line


@pytest.mark.parametrize("example", EXAMPLES)
def test_the_engine_alone_works_as_written(example: str, empty_url: str) -> None:
    """The example of the engine prints what its comment says."""
    command = [sys.executable, "-c", example]
    environment = child_environment(RAG_DB_URL=empty_url)
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=280, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == re.findall(r"# (.*)$", example, re.MULTILINE)[-1]


def test_the_signed_forms_are_answered(checkout: Path, demo: Running) -> None:
    """The curl lines, one in Spanish and one in Arabic, bring two replies with citations."""
    (block,) = [block for block in BLOCKS if "curl" in block]
    address = f"http://127.0.0.1:{demo.port}/webhook"
    block = block.replace("http://127.0.0.1:8000/webhook", address).replace("clara sign", f"clara sign --url {address}")
    done = run(block, checkout)
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("<Response/>") == 2
    until(lambda: sum("[C1] " in line for line in list(demo.lines)) >= 2)


def test_every_setting_is_in_its_table() -> None:
    """The table of variables is complete."""
    text = (ROOT / "docs" / "settings.md").read_text("utf-8")
    assert [name.upper() for name in Settings.model_fields if f"`{name.upper()}`" not in text] == []
