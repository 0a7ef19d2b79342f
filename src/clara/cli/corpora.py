"""Commands about the retrieval engine: one's own corpora, their vectors, what is remembered, why an answer is so."""

import json
import sys
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

import click

from clara.adapters.models.registry import EMBEDDERS
from clara.cli.command import FINDINGS, TODAY, day_of, opened, opened_or_outage, showing

if TYPE_CHECKING:
    from clara.ingestion.chunks import Strategy

# The languages that are cut; held against ingestion.programs by a test.
PROGRAMS = ["python", "javascript", "typescript", "go", "java", "rust"]


@click.group()
def corpus() -> None:
    """Load documents of your own, and search them with the same engine."""


@corpus.command()
@click.argument("name")
@click.option("--jsonl", type=click.Path(exists=True, dir_okay=False, path_type=Path), help="A document a line.")
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
    from clara.ingestion.corpora import Cutting, Programs, load_programs
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
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
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


@click.command()
@click.argument("question", required=False)
@click.option("--corpus", "name", default="clara", show_default=True, help="The corpus to search.")
@click.option("--turn", type=int, help="Show the stored trace of this turn, and what the same message would find now.")
@click.option("--replay", "again", is_flag=True, help="With --turn: answer its message again on the evidence of its time.")
@click.option("--plan", is_flag=True, help="Add PostgreSQL's plan of the statement.")
@TODAY
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def explain(
    *,
    question: str | None,
    name: str,
    turn: int | None,
    again: bool,
    plan: bool,
    today: datetime | None,
    as_json: bool,
) -> None:
    """Say why QUESTION is answered as it is, or not: each leg's rank and score, filters, thresholds, confidence."""
    from clara.processes.commands import build_explainer
    from clara.quality.explanation import page

    if (question is None) == (turn is None):
        raise click.UsageError("Give either a QUESTION or --turn ID.")
    if again and turn is None:
        raise click.UsageError("--replay needs --turn ID.")
    if today is not None and turn is not None:
        raise click.UsageError("--today is for a QUESTION; a turn has the day on which it was.")
    with opened_or_outage() as container:
        explainer = build_explainer(container)
        if turn is not None:
            told = explainer.replay(turn, again=again)
        else:
            told = explainer.explain(str(question), name, plan=plan, today=day_of(today))
        click.echo(json.dumps(told, ensure_ascii=False, indent=2, default=str) if as_json else page(told))


__all__ = ["index"]

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
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def status(*, as_json: bool) -> None:
    """Say which vectors there are and which are searched. Exit code 1: some are missing that are searched."""
    from clara.ingestion.index_change import status as look
    from clara.ingestion.index_change import status_json, status_lines

    with opened() as container:
        found = look(container.spaces())
        click.echo(json.dumps(status_json(found)) if as_json else "\n".join(status_lines(found)))
        if any(one.lacking and one.space.served for one in found):
            sys.exit(FINDINGS)
