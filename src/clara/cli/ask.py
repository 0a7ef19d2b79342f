"""Commands that ask: ask, search, examples, and why an answer is so."""

import json
import sys
from collections.abc import Mapping
from datetime import date, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from clara.cli.command import FILE, FINDINGS, JSON, OUT, TODAY, day_of, opened, opened_or_outage, say, showing

if TYPE_CHECKING:
    from clara.retrieval.options.policies import Policy

# How people call the policies, and their names in RAG_POLICY.
POLICIES: "Mapping[str, Policy]" = {
    "none": "none",
    "self": "self_reflective",
    "corrective": "corrective",
    "adaptive": "adaptive",
    "by-length": "by_length",
}
BOUNDS = ("measured", "default", "lenient", "strict")
TEMPLATES = ("simple", "detailed", "conversational", "structured", "grounded")


@click.command()
@click.argument("question", required=False)
@click.option("--as-of", "day", type=click.DateTime(["%Y-%m-%d"]), help="Answer as at the end of this day (2026-04-25).")
@TODAY
@click.option("--json", "as_json", is_flag=True, help="Print status, tier, language, text, citations and timings.")
@click.option("--batch", type=FILE, help='JSONL of {"id","query","turns"}.')
@click.option("--out", type=OUT, help="Where the replies to the batch go.")
def ask(
    question: str | None, *, day: datetime | None, today: datetime | None, as_json: bool, batch: Path | None, out: Path | None
) -> None:
    r"""Ask QUESTION as a person would, and print the reply; or every line of a batch.

    A line of a batch is {"id", "query", "turns"}: "turns", which may be left out, are messages that the same person wrote
    before. A line of the replies is {"id", "status", "tier", "language", "text", "citations", "timings_ms", "offers",
    "danger", "act"}. A batch that was stopped goes on where it was.

    \b
    Example: clara ask --batch questions.jsonl --out replies.jsonl
    """
    if (question is None) == (batch is None) or (batch is None) != (out is None):
        raise click.UsageError("Give either a QUESTION, or --batch FILE together with --out FILE.")
    if batch is not None and out is not None:
        if day is not None or as_json:
            raise click.UsageError("--as-of and --json are for one QUESTION.")
        _ask_batch(batch, out, day_of(today))
        return
    if day is not None and today is not None:
        raise click.UsageError("Give either --as-of DAY or --today DATE.")
    reply = _asked(str(question), day_of(today)) if day is None else _asked_as_of(str(question), day.date())
    click.echo(json.dumps(reply, ensure_ascii=False, indent=2) if as_json else reply["text"])


def _asked(question: str, today: date | None) -> dict[str, Any]:
    from clara.answering.questions import ask as put

    with opened_or_outage() as container:
        return put(container.snapshot(today).tools, question)


def _ask_batch(batch: Path, out: Path, today: date | None) -> None:
    from clara import __version__
    from clara.answering.questions import ask_batch
    from clara.knowledge.knowledge_base import digest_of_release
    from clara.knowledge.procedure import madrid_today

    with opened_or_outage() as container, showing("asking") as progress:
        snapshot = container.snapshot(today)
        asked_of = "\n".join([__version__, digest_of_release(container.data), (today or madrid_today()).isoformat()])
        replies = ask_batch(snapshot.tools, snapshot.knowledge.names, batch, out, asked_of, progress)
        say(f"{replies} replies -> {out}")


def _asked_as_of(question: str, day: date) -> dict[str, Any]:
    from clara.answering.questions import ask as put
    from clara.editorial.as_of import end_of, recorded_since
    from clara.knowledge.procedure import madrid_today
    from clara.processes.editorial import speaking_as_of

    if day > madrid_today():
        raise click.UsageError(f"--as-of {day} is a day to come; give one up to today.")
    with opened("all") as container:
        since = recorded_since(container.evidence())
        say(f"as of {day.day} {day:%B %Y}; versions are recorded from {since.day} {since:%B %Y} on")
        if since.date() > day:
            say("What was recorded later counts as it was recorded first, where it says that it held on that day.")
        with speaking_as_of(container, end_of(day)) as then:
            return put(then.tools, question)


@click.command()
@click.option("--out", type=OUT, help="Write the page there instead of printing it.")
def examples(*, out: Path | None) -> None:
    """Hold ten conversations, and print them as a page: what people wrote, and what Clara replied."""
    from clara.quality.examples import examples as hold

    with opened_or_outage() as container:
        page = hold(container.snapshot().tools, "clara examples --out docs/answers.md")
        if out is None:
            click.echo(page, nl=False)
        else:
            out.write_text(page, "utf-8")


@click.command()
@click.argument("query", required=False)
@click.option("-k", "limit", type=click.IntRange(1, 100), default=5, show_default=True, help="How many passages.")
@click.option("--corpus", default="clara", show_default=True, help="The corpus to search.")
@click.option("--collection", "collections", multiple=True, help="Only passages of this collection; may be repeated.")
@click.option("--filter", "filters", multiple=True, metavar="KEY=VALUE", help="Only with this metadata; may be repeated.")
@click.option("--policy", type=click.Choice(list(POLICIES)), default="none", show_default=True, help="Whether to ask again.")
@click.option("--bounds", type=click.Choice(BOUNDS), default="measured", show_default=True, help="What it calls relevant.")
@click.option("--context", "template", type=click.Choice(TEMPLATES), help="Print a page for a model to read.")
@click.option("--budget", type=click.IntRange(100, 200_000), default=2_000, show_default=True, help="Tokens of that page.")
@click.option("--exact", is_flag=True, help="Compare every vector instead of asking the approximate index.")
@TODAY
@click.option("--json", "as_json", is_flag=True, help="Print scores and texts as JSON.")
@click.option("--batch", type=FILE, help='JSONL of {"id","query"}.')
@click.option("--out", type=OUT, help="Where the batch's results go.")
def search(
    *,
    query: str | None,
    limit: int,
    corpus: str,
    collections: tuple[str, ...],
    filters: tuple[str, ...],
    policy: str,
    bounds: str,
    template: str | None,
    budget: int,
    exact: bool,
    today: datetime | None,
    as_json: bool,
    batch: Path | None,
    out: Path | None,
) -> None:
    """Find passages for QUERY, or for every line of a batch. Exit code 1: nothing found."""
    from clara.processes.commands import build_search, context_page
    from clara.retrieval.search import SearchChoice, found_json

    if (query is None) == (batch is None) or (batch is None) != (out is None):
        raise click.UsageError("Give either a QUERY, or --batch FILE together with --out FILE.")
    if template is not None and (batch is not None or as_json):
        raise click.UsageError("--context prints one page: give a QUERY, without --batch and --json.")
    if policy != "none" and corpus == "clara":
        raise click.UsageError("--policy is for a corpus of your own; RAG_POLICY sets the one of Clara's.")
    chosen = SearchChoice(limit, corpus, collections, _filters(filters), exact, POLICIES[policy], bounds, day_of(today))
    with opened_or_outage() as container:
        searching = build_search(container)
        if batch is not None and out is not None:
            with showing("searching") as progress:
                click.echo(f"{searching.batch(batch, out, chosen, progress)} queries -> {out}", err=True)
            return
        if template is not None:
            page = context_page(container, searching.find(str(query), chosen), str(query), template, budget)
            click.echo(page.text)
            sys.exit(0 if page.used else FINDINGS)
        found = found_json(searching.find(str(query), chosen))
        click.echo(json.dumps(found, ensure_ascii=False, indent=2) if as_json else _shown(found))
        if not found["hits"]:
            sys.exit(FINDINGS)


def _filters(given: tuple[str, ...]) -> dict[str, tuple[str, ...]]:
    accepted: dict[str, tuple[str, ...]] = {}
    for one in given:
        key, equals, value = one.partition("=")
        if not equals:
            raise click.UsageError(f"--filter {one}: write it as KEY=VALUE.")
        accepted[key] = (*accepted.get(key, ()), value)
    return accepted


def _shown(found: dict[str, Any]) -> str:
    if not found["hits"]:
        return f"Nothing found ({found['status']}, {found['tier']})."
    lines = [f"{found['status']} by {found['tier']}"]
    lines += [f"held until {ended['until']}: {ended['passage_id']}" for ended in found["ended"]]
    lines += [
        f"\n{hit['score']:.3f}  {hit['passage_id']}  {' > '.join(hit['heading'])}\n       {hit['text']}"
        for hit in found["hits"]
    ]
    return "\n".join(lines)


@click.command()
@click.argument("question", required=False)
@click.option("--corpus", "name", default="clara", show_default=True, help="The corpus to search.")
@click.option("--turn", type=int, help="Show the stored trace of this turn, and what the same message would find now.")
@click.option("--replay", "again", is_flag=True, help="With --turn: answer its message again on the evidence of its time.")
@click.option("--plan", is_flag=True, help="Add PostgreSQL's plan of the statement.")
@TODAY
@JSON
def explain(
    *, question: str | None, name: str, turn: int | None, again: bool, plan: bool, today: datetime | None, as_json: bool
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
