"""What every command does around its job: settings, services, errors that people can mend, progress."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import date, datetime
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING

import click

from clara.errors import MENDABLE

if TYPE_CHECKING:
    from clara.container import Container
    from clara.processes.preparation import Preparation
    from clara.settings import Settings

FINDINGS = 1
# Seconds between two lines of progress in a log: often enough to see that it goes on, seldom enough to be read past.
LOG_SECONDS = 30.0
MINUTE = 60.0
# Characters: the longest line of progress, so that a shorter one leaves nothing of it.
LINE = 72
JSON = click.option("--json", "as_json", is_flag=True, help="Print JSON.")
FILE = click.Path(exists=True, dir_okay=False, path_type=Path)
FOLDER = click.Path(exists=True, file_okay=False, path_type=Path)
OUT = click.Path(dir_okay=False, path_type=Path)
TODAY = click.option(
    "--today",
    metavar="DATE",
    type=click.DateTime(["%Y-%m-%d"]),
    help="Let it be this day (2027-01-15): what holds then, of what is known.",
)


def day_of(moment: datetime | None) -> date | None:
    """Give the day of a date that click has read."""
    return moment and moment.date()


def read_settings() -> "Settings":
    """Read the environment."""
    from clara.settings import load_settings

    return load_settings()


@contextmanager
def opened(prepare: "Preparation" = "schema") -> Iterator["Container"]:
    """Give a command its container, closed at the end; an error that somebody can mend is one message and its exit code."""
    from clara.processes.preparation import running_container

    with running(), running_container(read_settings(), say, prepare=prepare) as container:
        yield container


@contextmanager
def opened_or_outage() -> Iterator["Container"]:
    """Give the same even when there is no database: then the search index counts as out, and the rest answers."""
    from clara.processes.preparation import container_or_outage

    with running(), container_or_outage(read_settings(), say) as container:
        yield container


@contextmanager
def starting(*, attached: bool) -> Iterator["Settings"]:
    """Give a process that stays its settings; `attached`, it ends with its parent."""
    from clara.processes.children import end_with_parent

    with running():
        settings = read_settings()
        settings.require_channel()
        if attached:
            end_with_parent()
        yield settings


@contextmanager
def staying(*, attached: bool) -> Iterator["Container"]:
    """Give a process that stays its container; `attached`, it ends with its parent."""
    from clara.processes.preparation import running_container

    with starting(attached=attached) as settings, running_container(settings, say) as container:
        yield container


@contextmanager
def running() -> Iterator[None]:
    """Turn an error that somebody can mend into one message and its exit code; a fault of the program keeps its traceback."""
    from clara.logs import configure_logs

    configure_logs()
    try:
        yield
    except MENDABLE as error:
        click.echo(f"Error: {error}", err=True)
        sys.exit(error.exit_code)


@contextmanager
def showing(what: str, clock: Callable[[], float] = monotonic) -> Iterator[Callable[[int, int], None]]:
    """Show progress on standard error: to a person on one line, to a log a line from time to time."""
    person = sys.stderr.isatty()
    began = told = clock()

    def report(done: int, total: int) -> None:
        nonlocal told
        line = f"{what} {paced(done, total, clock() - began)}"
        if person:
            click.echo(f"\r{line:<{LINE}}", err=True, nl=done == total)
        elif clock() - told >= LOG_SECONDS:
            told = clock()
            click.echo(line, err=True)

    yield report


def paced(done: int, total: int, seconds: float) -> str:
    """Tell how much is done, how fast it goes, and how long the rest takes so: "12/80, 4 a minute, 17 min left"."""
    if not 0 < done < total or seconds <= 0:
        return f"{done}/{total}"
    rate, left = done / seconds, seconds * (total - done) / done
    speed = f"{rate:.3g} a second" if rate >= 1 else f"{rate * 60:.3g} a minute"
    return f"{done}/{total}, {speed}, {f'{left:.0f} s' if left < 2 * MINUTE else f'{left / MINUTE:.0f} min'} left"


def say(message: str) -> None:
    """Tell a person on standard error what is going on."""
    click.echo(message, err=True)


def silent(_line: str) -> None:
    """Say nothing."""
