"""Commands about the vectors of corpora: building those of another model, changing over and back, and what there is."""

import json
import sys

import click

from clara.cli.engine import index
from clara.cli.running import FINDINGS, read_settings, running, say, showing

__all__ = ["index"]

MODEL = click.option("--model", "choice", required=True, type=click.Choice(["local", "gemini"]), help="Whose vectors.")
CORPUS = click.option("--corpus", "corpora", multiple=True, help="Only this corpus; may be repeated. Otherwise all.")


@index.command()
@MODEL
@CORPUS
def build(*, choice: str, corpora: tuple[str, ...]) -> None:
    """Embed every passage for another model while Clara goes on answering, then search by it.

    Safe to stop and to repeat: it goes on where it ended. Until it has finished, nothing changes for anybody. With `gemini`,
    the texts of the corpora go to Google now, and people's questions from then on.
    """
    from clara.jobs.indexing import build as fill
    from clara.jobs.preparing import running_services

    with running(), running_services(read_settings(), say) as services, showing("embedding") as progress:
        fill(services, choice, corpora, click.echo, progress)


@index.command()
@MODEL
@CORPUS
def use(*, choice: str, corpora: tuple[str, ...]) -> None:
    """Search by vectors that are there already: the way back, at once. Exit code 2: some are missing."""
    from clara.jobs.indexing import use as change
    from clara.jobs.preparing import running_services

    with running(), running_services(read_settings(), say, prepare="schema") as services:
        change(services, choice, corpora, click.echo)


@index.command()
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def status(*, as_json: bool) -> None:
    """Say which vectors there are and which are searched. Exit code 1: some are missing that are searched."""
    from clara.jobs.indexing import as_json as document
    from clara.jobs.indexing import status as look
    from clara.jobs.indexing import table
    from clara.jobs.preparing import running_services

    with running(), running_services(read_settings(), say, prepare="schema") as services:
        found = look(services)
        click.echo(json.dumps(document(found)) if as_json else "\n".join(table(found)))
        if any(one.lacking and one.space.served for one in found):
            sys.exit(FINDINGS)
