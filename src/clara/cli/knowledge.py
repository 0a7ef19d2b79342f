"""Commands about what Clara knows and serves: knowledge check and show, publish and back."""

import json
import sys

import click

from clara.cli.command import FINDINGS, opened, running, say, showing


@click.group()
def knowledge() -> None:
    """Look at what Clara knows, and check it."""


@knowledge.command()
def check() -> None:
    """Validate data/ and say, by procedure, what an editor should know. Exit code 1: something must be mended."""
    from clara.data_files import DataError
    from clara.quality.knowledge_pages import check as look

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
    from clara.quality.knowledge_pages import show as page

    with running():
        page(procedure, click.echo)


@click.command()
@click.option("--dry-run", is_flag=True, help="Say what would change; stage and judge nothing.")
@click.option("--by", default="cli", show_default=True, metavar="NAME", help="Kept with the version. No name of a person.")
@click.option("--undo", is_flag=True, help="Serve the version before again, at once.")
@click.option("--list", "listed", is_flag=True, help="Show the versions there are.")
@click.option("--withdraw", metavar="FACT", help="Take back the corrections of this fact; publish to serve it so.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def publish(*, dry_run: bool, by: str, undo: bool, listed: bool, withdraw: str | None, as_json: bool) -> None:
    """Serve what data/ and the corrections say, if it is no worse than what is served by the evaluation, asked of both now.

    Whoever asks meanwhile is answered from the served version. Exit codes: 0 served, or nothing to publish; 1 refused; 2 could
    not run.
    """
    from clara.processes.editorial_jobs import PublicationChoice, Telling
    from clara.processes.editorial_jobs import publish as serve

    if sum((dry_run, undo, listed, withdraw is not None)) > 1:
        raise click.UsageError("Give one of --undo, --list, --withdraw and --dry-run, or none.")
    if listed:
        _list(as_json=as_json)
        return
    chosen = PublicationChoice(by, dry_run, undo, withdraw)
    with opened() as container, showing("publishing") as progress:
        sys.exit(serve(container, chosen, Telling(say, click.echo if as_json else None), progress))


def _list(*, as_json: bool) -> None:
    from clara.editorial.publication import listing, listing_lines

    with opened() as container:
        rows = listing(container.publications())
        click.echo(json.dumps(rows, ensure_ascii=False, indent=1) if as_json else "\n".join(listing_lines(rows)))
