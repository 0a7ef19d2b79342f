"""Commands about drift: looking for it, and deciding what was found."""

import json
import sys
from pathlib import Path
from typing import Any

import click

from clara.cli.running import read_settings, running, say, showing


@click.command()
@click.option("--all", "every", is_flag=True, help="Every source of data/sources.yaml.")
@click.option("--stale", is_flag=True, help="Only those that have not answered for longer than the registry allows.")
@click.option("--source", help="One source by its id, such as BOE-A-2015-11724.")
@click.option(
    "--norms", type=click.Path(exists=True, file_okay=False, path_type=Path), help="Markdown norms as the live state."
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.option("--webhook", help="Post the same JSON to this address.")
@click.option("--notify", is_flag=True, help="Post it to CLARA_ALERT_WEBHOOK when something waits or could not be reached.")
def drift(*, every: bool, stale: bool, source: str | None, norms: Path | None, as_json: bool, **posting: Any) -> None:  # noqa: ANN401
    """Compare what sources say now with what answers rest on. What changed in substance waits for `clara review`.

    Exit code 1: something waits, could not be reached, or is not held yet; 2: nothing could be reached, or the webhook failed.
    """
    from clara.jobs.drifting import Choice, Telling, run
    from clara.jobs.preparing import running_services

    if sum((every, stale, source is not None, norms is not None)) != 1:
        raise click.UsageError("Choose one of --all, --stale, --source ID and --norms DIR.")
    with running(), running_services(read_settings(), say, prepare="schema") as services, showing("looking") as progress:
        chosen = Choice(stale=stale, source=source, norms=norms)
        sys.exit(run(services, chosen, click.echo, progress, Telling(as_json, **posting)))


@click.group()
def review() -> None:
    """Decide what drift has found: accept it, with the corrections of facts that follow, or reject it."""


@review.command(name="list")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def list_(*, as_json: bool) -> None:
    """Say what waits."""
    from clara.jobs.preparing import running_services
    from clara.jobs.reviewing import table, waiting

    with running(), running_services(read_settings(), say, prepare="schema") as services:
        entries = waiting(services)
        click.echo(json.dumps(entries, ensure_ascii=False) if as_json else "\n".join(table(entries)))


@review.command()
@click.argument("number", type=int)
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def show(*, number: int, as_json: bool) -> None:
    """Show finding NUMBER: old beside new, the facts that it touches, and what is proposed for them."""
    from clara.jobs.preparing import running_services
    from clara.jobs.reviewing import one, page

    with running(), running_services(read_settings(), say, prepare="schema") as services:
        entry = one(services, number)
        click.echo(json.dumps(entry, ensure_ascii=False) if as_json else "\n".join(page(entry)))


@review.command()
@click.argument("number", type=int)
@click.option("--keep-facts", is_flag=True, help="The facts hold as they are, whatever is proposed.")
def accept(*, number: int, keep_facts: bool) -> None:
    """Let finding NUMBER be right. What is proposed for facts becomes a draft, which `clara publish` serves."""
    from clara.jobs.preparing import running_services
    from clara.jobs.reviewing import accept as decide

    with running(), running_services(read_settings(), say, prepare="schema") as services:
        decide(services, number, keep_facts=keep_facts, say=click.echo)


@review.command()
@click.argument("number", type=int)
@click.option("--reason", required=True, help="Why: the same wording is not found again.")
def reject(*, number: int, reason: str) -> None:
    """Let finding NUMBER be wrong: its source is held as it was."""
    from clara.jobs.preparing import running_services
    from clara.jobs.reviewing import reject as decide

    with running(), running_services(read_settings(), say, prepare="schema") as services:
        decide(services, number, reason, click.echo)
