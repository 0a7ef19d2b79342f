"""Commands that fill the index: what sources say, one's own corpora, their vectors, and what is remembered."""

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import click

from clara.adapters.models.registry import EMBEDDERS
from clara.cli.command import FILE, FINDINGS, FOLDER, JSON, opened, running, say, showing

if TYPE_CHECKING:
    from clara.editorial.ports import JobOutcome
    from clara.ingestion.chunks import Strategy

# The languages that are cut; held against ingestion.programs by a test.
PROGRAMS = ["python", "javascript", "typescript", "go", "java", "rust"]


@click.group()
def corpus() -> None:
    """Load documents of your own, and search them with the same engine."""


@corpus.command()
@click.argument("name")
@click.option("--jsonl", type=FILE, help="A document a line.")
@click.option("--code", type=click.Path(path_type=Path), help="A folder of programs, instead of a file of documents.")
@click.option("--language", "languages", multiple=True, type=click.Choice(PROGRAMS), help="Of --code, only this; repeatable.")
@click.option("--profile", help="How it is searched: a name of data/profiles.json.  [default: prose; programs with --code]")
@click.option("--chunking", type=click.Choice(["recursive", "fixed", "none"]), default="recursive", show_default=True)
@click.option("--size", type=int, default=512, show_default=True, help="Tokens in a passage, at most.")
@click.option("--overlap", type=int, default=50, show_default=True, help="Tokens that neighbours share, at most.")
@click.option("-v", "--verbose", is_flag=True, help="Name every file of --code that was left out, and why.")
def load(
    *,
    name: str,
    jsonl: Path | None,
    code: Path | None,
    languages: tuple[str, ...],
    profile: str | None,
    chunking: "Strategy",
    size: int,
    overlap: int,
    verbose: bool,
) -> None:
    """Make the corpus NAME hold exactly the documents of a file, or the functions and classes of a folder of programs.

    Each line of a file is {"id", "title", "text", "collection"?, "language"?, "metadata"?}. Safe to repeat: what did not
    change stays.
    """
    from clara.ingestion.chunks import Cutting
    from clara.ingestion.corpora import Programs, load_programs
    from clara.ingestion.corpora import load as fill

    if (jsonl is None) == (code is None) or (jsonl is not None and (languages or verbose)):
        raise click.UsageError("Give either --jsonl FILE or --code DIR; --language and -v belong to --code.")
    with opened() as container, showing("embedding") as progress:
        cutting = Cutting(chunking, size, overlap)
        if jsonl is not None:
            report = fill(container, name, jsonl, profile=profile or "prose", cutting=cutting, progress=progress)
            click.echo(str(report))
        if code is not None:
            with showing("reading") as looked:
                source = Programs(code, languages, looked)
                report, survey = load_programs(
                    container, name, source, profile=profile or "programs", cutting=cutting, progress=progress
                )
            click.echo("\n".join((str(report), *survey.lines(every=verbose))))


@corpus.command(name="list")
def listing() -> None:
    """Say which corpora there are."""
    from clara.ingestion.corpora import corpora_lines

    with opened() as container:
        click.echo("\n".join(corpora_lines(container.passages().corpora())))


@corpus.command()
@click.argument("name")
def drop(name: str) -> None:
    """Remove the corpus NAME with everything made for it."""
    from clara.ingestion.corpora import drop as remove

    with opened() as container:
        remove(container, name)
        click.echo(f"{name}: dropped")


@click.group()
def index() -> None:
    """Look at the search index, and change the model that it is searched by."""


@index.command()
@click.argument("name", default="clara")
@click.option("--sample", type=click.IntRange(1, 10_000), default=200, show_default=True, help="Passages asked for.")
def recall(*, name: str, sample: int) -> None:
    """Compare the approximate index of the corpus NAME with an exact search. Exit code 1: recall@10 is below .99."""
    from clara.processes.commands import measure_recall
    from clara.retrieval.search import ENOUGH

    with opened("all") as container, showing("comparing") as progress:
        measured = measure_recall(container, name, progress, sample=sample)
        click.echo(f"recall@10 {measured.at_10:.4f} over {measured.asked} passages of {name}")
        if measured.at_10 < ENOUGH:
            sys.exit(FINDINGS)


@click.group()
def cache() -> None:
    """Look at what is remembered."""


@cache.command()
@JSON
def stats(*, as_json: bool) -> None:
    """Say what the memory of embeddings holds and what it saved."""
    from clara.adapters.postgres.corpus.embedding_memory import PostgresEmbeddingMemory
    from clara.adapters.postgres.operations.metrics import PostgresMetrics
    from clara.retrieval.embedding_memory import statistics, statistics_page

    with opened() as container:
        engine = container.engine
        counters = PostgresMetrics(engine).read()
        figures = statistics(PostgresEmbeddingMemory(engine).statistics(), counters)
        click.echo(json.dumps(figures, ensure_ascii=False, indent=2) if as_json else statistics_page(figures))


MODEL = click.option("--model", "choice", required=True, type=click.Choice(["local", *EMBEDDERS]), help="Whose vectors.")
CORPUS = click.option("--corpus", "corpora", multiple=True, help="Only this corpus; may be repeated. Otherwise all.")


@index.command()
@MODEL
@CORPUS
def build(*, choice: str, corpora: tuple[str, ...]) -> None:
    """Embed every passage for another model while Clara goes on answering, then search by it.

    Safe to stop and to repeat: it goes on where it ended. Until it has finished, nothing changes for anybody. With `gemini`,
    the texts of the corpora go to Google now, and people's questions from then on.
    """
    from clara.processes.commands import build_index_change

    with opened("all") as container, showing("embedding") as progress:
        build_index_change(container).build(choice, corpora, click.echo, progress)


@index.command()
@MODEL
@CORPUS
def use(*, choice: str, corpora: tuple[str, ...]) -> None:
    """Search by vectors that are there already: the way back, at once. Exit code 2: some are missing."""
    from clara.processes.commands import build_index_change

    with opened() as container:
        build_index_change(container).use(choice, corpora, click.echo)


@index.command()
@JSON
def status(*, as_json: bool) -> None:
    """Say which vectors there are and which are searched. Exit code 1: some are missing that are searched."""
    from dataclasses import asdict

    from clara.ingestion.index_change import status as look
    from clara.ingestion.index_change import status_lines

    with opened() as container:
        found = look(container.spaces())
        click.echo(json.dumps([asdict(one) for one in found]) if as_json else "\n".join(status_lines(found)))
        if any(one.missing and one.served for one in found):
            sys.exit(FINDINGS)


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
@JSON
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
