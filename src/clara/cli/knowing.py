"""Commands about what Clara knows: knowledge check and show."""

import sys

import click

from clara.cli.running import FINDINGS, running


@click.group()
def knowledge() -> None:
    """Look at what Clara knows, and check it."""


@knowledge.command()
def check() -> None:
    """Validate data/ and say, by procedure, what an editor should know. Exit code 1: something must be mended."""
    from clara.jobs.knowing import check as look
    from clara.knowledge.faults import DataError

    with running():
        try:
            clean = look(click.echo)
        except DataError as error:
            click.echo(str(error), err=True)
            clean = False
        if not clean:
            sys.exit(FINDINGS)


@knowledge.command()
@click.argument("procedure")
def show(procedure: str) -> None:
    """Print PROCEDURE (such as "imv") as a person would want to read it, with its evidence."""
    from clara.jobs.knowing import show as page

    with running():
        page(procedure, click.echo)
