"""Commands that bring what sources say into the index."""

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import click

from clara.cli.command import read_settings, running, say

if TYPE_CHECKING:
    from clara.processes.run_record import Outcome

FOLDER = click.Path(exists=True, file_okay=False, path_type=Path)


@click.command()
@click.option("--all", "everything", is_flag=True, help="data/ and every source of data/sources.yaml.")
@click.option("--source", "sources", multiple=True, metavar="ID", help="This source of data/sources.yaml; may be repeated.")
@click.option(
    "--norms", "norms", is_flag=False, flag_value="", metavar="[DIR]", help="All norms; with DIR, its Markdown files."
)
@click.option("--dry-run", is_flag=True, help="Say what would change; write nothing.")
@click.option("--force", "anew", is_flag=True, help="Embed everything again, whatever is known of it.")
@click.option("--accept", is_flag=True, help="Serve what changed in substance now, instead of leaving it for review.")
@click.option("--workers", type=click.IntRange(0, 64), default=0, help="Processes that embed documents side by side.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def ingest(*, as_json: bool, norms: str | None, **options: object) -> None:
    """Make the index hold exactly what data/ says or, with options, what norms and pages say; embeds only what changed.

    What changed in substance is not served by itself: it waits for `clara review`. Safe to stop and to repeat: each document is
    changed in one transaction. Exit code 1: something waits, or a document failed; 2: nothing could be ingested.
    """
    from clara.editorial.ingestion import Chosen, run
    from clara.processes.preparation import running_services

    folder = FOLDER.convert(norms, None, click.get_current_context()) if norms else None
    chosen = Chosen(norms=norms is not None, folder=folder, **options)  # type: ignore[arg-type]  # click has checked them

    def tell(outcome: "Outcome") -> None:
        if as_json:
            click.echo(json.dumps(outcome.report, ensure_ascii=False))

    with running(), running_services(read_settings(), say, prepare="schema") as services:
        sys.exit(run(services, chosen, say if as_json else click.echo, _progress(), tell))


@click.command(name="ingest-worker")
@click.option("--attached", is_flag=True, hidden=True)
def ingest_worker(*, attached: bool) -> None:
    """Take documents from the queue of `clara ingest --workers`, until told to stop. More machines may do so."""
    from clara.processes.children import end_with_parent
    from clara.processes.ingestion_workers import build_ingestion_worker
    from clara.processes.preparation import running_services

    with running():
        if attached:
            end_with_parent()
        with running_services(read_settings(), say, prepare="schema") as services:
            build_ingestion_worker(services).run()


def _progress() -> Callable[[str, int, int], None]:
    """Show progress on standard error, on one line, only to a person."""
    shown = sys.stderr.isatty()

    def report(what: str, done: int, total: int) -> None:
        if shown:
            click.echo(f"\r\x1b[K{what} {done}/{total} ", err=True, nl=done == total and what == "documents")

    return report
