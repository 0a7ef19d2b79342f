"""Commands that bring what sources say into the index."""

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import click

from clara.cli.command import opened, running, say

if TYPE_CHECKING:
    from clara.editorial.ports import JobOutcome

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
def ingest(
    *,
    everything: bool,
    sources: tuple[str, ...],
    norms: str | None,
    dry_run: bool,
    anew: bool,
    accept: bool,
    workers: int,
    as_json: bool,
) -> None:
    """Make the index hold exactly what data/ says or, with options, what norms and pages say; embeds only what changed.

    What changed in substance is not served by itself: it waits for `clara review`. Safe to stop and to repeat: each document is
    changed in one transaction. Exit code 1: something waits, or a document failed; 2: nothing could be ingested.
    """
    from clara.editorial.source_ingestion import IngestionChoice
    from clara.processes.editorial_jobs import ingest_sources

    folder = FOLDER.convert(norms, None, click.get_current_context()) if norms else None
    chosen = IngestionChoice(everything, sources, norms is not None, folder, dry_run, anew, accept, workers)

    def tell(outcome: "JobOutcome") -> None:
        if as_json:
            click.echo(json.dumps(outcome.report, ensure_ascii=False))

    with opened() as container:
        sys.exit(ingest_sources(container, chosen, say if as_json else click.echo, _progress(), tell))


@click.command(name="ingest-worker")
@click.option("--attached", is_flag=True, hidden=True)
def ingest_worker(*, attached: bool) -> None:
    """Take documents from the queue of `clara ingest --workers`, until told to stop. More machines may do so."""
    from clara.adapters.postgres.editorial.findings import PostgresSnapshots
    from clara.processes.children import end_with_parent
    from clara.processes.editorial import build_norms
    from clara.processes.ingestion_workers import build_ingestion_worker

    with running():
        if attached:
            end_with_parent()
        with opened() as container:
            snapshots = PostgresSnapshots(container.engine)
            build_ingestion_worker(str(container.database_url), build_norms(container), snapshots).run()


def _progress() -> Callable[[str, int, int], None]:
    """Show progress on standard error, on one line, only to a person."""
    shown = sys.stderr.isatty()

    def report(what: str, done: int, total: int) -> None:
        if shown:
            click.echo(f"\r\x1b[K{what} {done}/{total} ", err=True, nl=done == total and what == "documents")

    return report
