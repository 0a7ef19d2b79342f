"""What every command does around its job: settings, services, errors that people can mend, progress."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import date, datetime
from time import perf_counter
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from clara.bootstrap import Services
    from clara.settings import Settings

FOUND, FINDINGS, COULD_NOT_RUN = 0, 1, 2
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
def staying(*, attached: bool) -> Iterator["Services"]:
    """Give a process that stays its services; `attached`, it ends with its parent."""
    from clara.jobs.children import end_with_parent
    from clara.jobs.preparing import running_services

    with running():
        settings = read_settings()
        settings.require_channel()
        if attached:
            end_with_parent()
        with running_services(settings, say) as services:
            yield services


@contextmanager
def running() -> Iterator[None]:
    """Turn the errors that people can mend into one message and exit code 2."""
    from clara.logs import configure_logs

    configure_logs()
    try:
        yield
    except (SystemExit, KeyboardInterrupt):
        raise
    except _mendable() as error:
        click.echo(f"Error: {error}", err=True)
        sys.exit(COULD_NOT_RUN)


def _mendable() -> "tuple[type[Exception], ...]":
    """Name the errors once there is one: their modules are most of Clara, and no command that goes well needs all of them."""
    from clara.jobs.failures import MENDABLE

    return MENDABLE


@contextmanager
def showing(what: str) -> Iterator[Callable[[int, int], None]]:
    """Show progress on standard error, on one line, only to a person: how many, how many a second, and the time left."""
    shown = sys.stderr.isatty()
    began: list[tuple[float, int]] = []  # when this was first told, and how many were done by then

    def report(done: int, total: int) -> None:
        began[:] = began or [(perf_counter(), done)]
        if shown:
            pace = _pace(done - began[0][1], total - done, perf_counter() - began[0][0])
            click.echo(f"\r{what} {done}/{total}{pace}\x1b[K", err=True, nl=done == total)

    yield report


def _pace(done: int, left: int, seconds: float) -> str:
    """Say how many were done a second, and how long the others take at that rate; nothing before there is a rate."""
    if not done or not seconds:
        return ""
    rest = round(left * seconds / done)
    return f", {done / seconds:.1f} a second, {rest // 60}:{rest % 60:02} left"


def say(message: str) -> None:
    """Tell a person on standard error what is going on."""
    click.echo(message, err=True)
