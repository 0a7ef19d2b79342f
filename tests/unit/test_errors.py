"""What errors are: each of one of four kinds; those that somebody can mend become a message, the others stay as they are."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

from clara.errors import MENDABLE, ClaraError, Invalid, NotFound, Refused, Unavailable
from clara.settings import child_environment

# Each in a process of its own, because a module is loaded once.
PROGRAM = """
import sys
from clara.cli.command import running
with running():
    {work}
print("clara.retrieval" not in sys.modules)
"""


def ran(work: str) -> subprocess.CompletedProcess[str]:
    """Do some work as a command does it."""
    program = PROGRAM.format(work=work)
    return subprocess.run(
        [sys.executable, "-c", program], env=child_environment(), capture_output=True, text=True, timeout=200, check=False
    )


SOURCES = Path(__file__).parents[2] / "src"


class BusyStandInError(Refused):
    """Somebody else holds it.

    Wait for it.
    """


def classes() -> dict[str, list[str]]:
    """Read the source: each class that is an error by its name or its bases, with the names of its bases."""
    found: dict[str, list[str]] = {}
    for path in SOURCES.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.ClassDef):
                bases = [ast.unparse(base).rpartition(".")[2] for base in node.bases]
                if node.name.endswith("Error") or any(base.endswith(("Error", "Exception")) for base in bases):
                    found[node.name] = bases
    return found


def test_every_error_is_of_one_of_the_four_kinds() -> None:
    """No error class stands beside the root; one alone is a fault of the program."""
    found = classes()
    kinds = {kind.__name__ for kind in MENDABLE}

    def is_mendable(name: str) -> bool:
        return name in kinds or any(is_mendable(base) for base in found.get(name, ()))

    assert len(found) > 90
    assert {name for name in found if not is_mendable(name)} == {"ClaraError", "JourneyUnfinishedError"}


@pytest.mark.parametrize(("kind", "status"), [(Unavailable, 503), (NotFound, 404), (Refused, 409), (Invalid, 400)])
def test_a_kind_has_its_exit_code_and_its_status(kind: type[ClaraError], status: int) -> None:
    """The command line ends with 2 for each of them; the web tells them apart."""
    assert (kind.exit_code, kind.http_status) == (2, status)


def test_an_error_raised_bare_says_what_its_class_says() -> None:
    """The docstring is the message, without the indentation of the source; a message that is given is the message."""
    assert str(BusyStandInError()) == "Somebody else holds it.\n\nWait for it."
    assert str(BusyStandInError("corpus demo is held")) == "corpus demo is held"


def test_what_goes_well_loads_nothing_for_errors() -> None:
    """Telling an error needs no module that could raise it: `clara --help` stays instant."""
    assert (ran("pass").returncode, ran("pass").stdout) == (0, "True\n")


def test_what_can_be_mended_is_a_message() -> None:
    """One line and exit code 2."""
    done = ran("from clara.settings import SettingsError; raise SettingsError('PORT: unset it')")
    assert (done.returncode, done.stdout, done.stderr) == (2, "", "Error: PORT: unset it\n")


@pytest.mark.parametrize(("work", "code"), [("sys.exit(1)", 1), ("raise KeyboardInterrupt", -2), ("1 / 0", 1)])
def test_all_else_stays_as_it_is(work: str, code: int) -> None:
    """An exit keeps its code; an error that nobody foresaw shows where it came from."""
    done = ran(work)
    assert done.returncode == code
    assert ("Traceback" in done.stderr) == (work != "sys.exit(1)")
