"""What every command does with errors: those that a person can mend become a message, the others stay as they are."""

import subprocess
import sys

import pytest

from clara.settings import child_environment

# Each in a process of its own, because a module is loaded once.
PROGRAM = """
import sys
from clara.cli.command import running
with running():
    {work}
print("clara.jobs.failures" in sys.modules)
"""


def ran(work: str) -> subprocess.CompletedProcess[str]:
    """Do some work as a command does it."""
    program = PROGRAM.format(work=work)
    return subprocess.run(
        [sys.executable, "-c", program], env=child_environment(), capture_output=True, text=True, timeout=200, check=False
    )


def test_what_goes_well_loads_no_list_of_errors() -> None:
    """The modules of all errors are most of Clara."""
    assert (ran("pass").returncode, ran("pass").stdout) == (0, "False\n")


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
