"""Which Python the Makefile builds the environment with."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from clara.settings import child_environment

ROOT = Path(__file__).parents[2]


def chosen(path: str, *given: str) -> str:
    make = shutil.which("make")
    assert make is not None
    command = [make, "--no-print-directory", *given, "--eval", "chosen:;@echo $(PYTHON)", "chosen"]
    done = subprocess.run(
        command, cwd=ROOT, env=child_environment(PATH=path), capture_output=True, text=True, timeout=60, check=True
    )
    assert done.stderr == ""
    return done.stdout.strip()


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A folder that holds what make needs and no Python."""
    for name in ("sh", "echo"):
        found = shutil.which(name)
        assert found is not None
        (tmp_path / name).symlink_to(found)
    return tmp_path


def put_python(path: Path, exit_code: int) -> None:
    """Put a python3 there that says whether it was optimised."""
    (path / "python3").write_text(f"#!/bin/sh\nexit {exit_code}\n")
    (path / "python3").chmod(0o755)


def test_an_optimised_python_of_the_path_is_taken(path: Path) -> None:
    """Whoever chose one for this folder gets it."""
    put_python(path, 0)
    assert chosen(str(path)) == "python3"


@pytest.mark.parametrize("there", [True, False])
def test_otherwise_the_systems_own_is_taken(path: Path, *, there: bool) -> None:
    """One that is slow, or none; and it is the only one again where the system's cannot make environments."""
    if there:
        put_python(path, 1)
    asked = ["/usr/bin/python3", "-c", "import ensurepip, sys; sys.exit(sys.version_info < (3, 11))"]
    usable = os.access(asked[0], os.X_OK) and subprocess.run(asked, capture_output=True, check=False).returncode == 0
    assert chosen(str(path)) == ("/usr/bin/python3" if usable else "python3")


def test_what_is_given_is_taken(path: Path) -> None:
    """`make PYTHON=python3.12`."""
    put_python(path, 0)
    assert chosen(str(path), "PYTHON=python3.12") == "python3.12"


def test_a_run_has_what_the_demonstration_needs() -> None:
    """`make demo` installs nothing that is for development alone; its stand-in for Twilio takes two libraries."""
    pinned = (ROOT / "requirements.lock").read_text("utf-8")
    needed = set()
    for module in sorted((ROOT / "src" / "clara_lab" / "stand_ins").glob("twilio_*.py")):
        needed |= set(re.findall(r"^(?:from|import) (\w+)", module.read_text("utf-8"), re.MULTILINE))
    foreign = needed - sys.stdlib_module_names - {"clara", "clara_lab"}
    assert foreign == {"aiohttp", "twilio"}
    assert [name for name in foreign if f"\n{name}==" not in pinned] == []
