"""Commands about drift: looking for it, and deciding what was found."""

import json
import sys
from collections.abc import Sequence
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

import click

from clara.cli.command import read_settings, running, say, showing

if TYPE_CHECKING:
    from clara.editorial.decisions import Decision

# Instead of a fact: every one that is undecided and for which something is proposed.
EVERY = "all"


class _BaseFigure(click.ParamType[tuple[str, Decimal]]):
    name = "base=euros"

    def convert(self, value: str, param: click.Parameter | None, ctx: click.Context | None) -> tuple[str, Decimal]:
        """Read "iprem=620"."""
        name, sign, number = value.partition("=")
        try:
            figure = Decimal(number.strip())
        except InvalidOperation:
            figure = Decimal(0)
        if not sign or not figure.is_finite() or figure <= 0:
            self.fail(f"'{value}' is no base figure; write it like iprem=620 or pnc=9100.50", param, ctx)
        return name.strip(), figure


BASE = click.option(
    "--base", "bases", multiple=True, type=_BaseFigure(), help="A base figure as it is now, like iprem=620, to propose by."
)


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
    from clara.editorial.drift_check import Choice, Telling, run
    from clara.processes.preparation import running_services

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
    from clara.editorial.review import waiting
    from clara.editorial.review_page import table
    from clara.processes.preparation import running_services

    with running(), running_services(read_settings(), say, prepare="schema") as services:
        entries = waiting(services)
        click.echo(json.dumps(entries, ensure_ascii=False) if as_json else "\n".join(table(entries)))


@review.command()
@click.argument("number", type=int)
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.option("--decisions", "to_fill", is_flag=True, help="Print the undecided facts as a file for `review accept`.")
@BASE
def show(*, number: int, as_json: bool, to_fill: bool, bases: tuple[tuple[str, Decimal], ...]) -> None:
    """Show finding NUMBER: old beside new, and each fact as it is told beside what is proposed for it."""
    from clara.editorial.review import one
    from clara.editorial.review_page import decisions_to_fill, page
    from clara.processes.preparation import running_services

    with running(), running_services(read_settings(), say, prepare="schema") as services:
        entry = one(services, number, dict(bases))
        if to_fill:
            click.echo(json.dumps(decisions_to_fill(entry), ensure_ascii=False, indent=1))
        else:
            click.echo(json.dumps(entry, ensure_ascii=False) if as_json else "\n".join(page(entry)))


@review.command()
@click.argument("number", type=int)
@click.option("--corrected", multiple=True, metavar="FACT", help="Says something else now; a --text goes with each.")
@click.option("--text", "texts", multiple=True, metavar="TEXT", help="What it says, for the --corrected of the same place.")
@click.option("--proposed", multiple=True, metavar="FACT", help="Says what is proposed for it; `all`: each that is undecided.")
@click.option("--holds", multiple=True, metavar="FACT", help="Is true as it stands; a --reason goes with each.")
@click.option("--reason", "reasons", multiple=True, metavar="WHY", help="Why, for the --holds of the same place.")
@click.option("--decisions", "file", type=click.File("rb"), help="Decisions as JSON; `review show N --decisions` prints some.")
@BASE
def accept(*, number: int, file: BinaryIO | None, **given: Any) -> None:  # noqa: ANN401
    """Let finding NUMBER be right, and decide about its facts: corrections become drafts, which `clara publish` serves.

    A fact that nobody decides about stays in doubt. Of a finding that is accepted already, more facts can be decided.
    """
    from clara.editorial.review import Verdicts
    from clara.editorial.review import accept as decide
    from clara.processes.preparation import running_services

    with running():
        decisions = _decisions(file, **{name: given[name] for name in ("corrected", "texts", "proposed", "holds", "reasons")})
        verdicts = Verdicts(decisions, EVERY in given["proposed"], dict(given["bases"]))
        with running_services(read_settings(), say, prepare="schema") as services:
            decide(services, number, verdicts, say=click.echo)


def _decisions(file: BinaryIO | None, **options: Sequence[str]) -> "list[Decision]":
    """Read the decisions of a file and those of options, as if all of them stood in one."""
    from clara.editorial.decisions import PROPOSED, read_decisions

    for facts, words, what in (("corrected", "texts", "--text"), ("holds", "reasons", "--reason")):
        if len(options[facts]) != len(options[words]):
            raise click.UsageError(f"Give one {what} for each --{facts}: {len(options[facts])} and {len(options[words])}.")
    given = [
        *(
            {"fact": fact, "corrected": {"text": text}}
            for fact, text in zip(options["corrected"], options["texts"], strict=True)
        ),
        *({"fact": fact, "corrected": PROPOSED} for fact in options["proposed"] if fact != EVERY),
        *({"fact": fact, "holds": reason} for fact, reason in zip(options["holds"], options["reasons"], strict=True)),
    ]
    read = _read(file) if file is not None else []
    return read_decisions([*read, *given] if isinstance(read, list) else read, file.name if file is not None else "options")


def _read(file: BinaryIO) -> object:
    from clara.data_files import DataError, Fault

    try:
        document = json.loads(file.read().decode("utf-8-sig"))
    except (ValueError, RecursionError) as error:
        raise DataError([Fault(file.name, "file", f"is no JSON that can be read ({error}); correct it")]) from error
    return document.get("decisions", document) if isinstance(document, dict) else document


@review.command()
@click.argument("number", type=int)
@click.option("--reason", required=True, help="Why: the same wording is not found again.")
def reject(*, number: int, reason: str) -> None:
    """Let finding NUMBER be wrong: its source is held as it was."""
    from clara.editorial.review import reject as decide
    from clara.processes.preparation import running_services

    with running(), running_services(read_settings(), say, prepare="schema") as services:
        decide(services, number, reason, click.echo)
