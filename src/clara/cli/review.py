"""Commands about drift: looking for it, and deciding what was found."""

import json
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

import click

from clara.cli.command import opened, running, showing, silent

if TYPE_CHECKING:
    from clara.editorial.journey import Editorial

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
def drift(
    *,
    every: bool,
    stale: bool,
    source: str | None,
    norms: Path | None,
    as_json: bool,
    webhook: str | None,
    notify: bool,
) -> None:
    """Compare what sources say now with what answers rest on. What changed in substance waits for `clara review`.

    Exit code 1: something waits, could not be reached, or is not held yet; 2: nothing could be reached, or the webhook failed.
    """
    from clara.editorial.intake import SourceChoice
    from clara.processes.editorial_jobs import Telling, check_drift

    if sum((every, stale, source is not None, norms is not None)) != 1:
        raise click.UsageError("Choose one of --all, --stale, --source ID and --norms DIR.")
    chosen = SourceChoice(stale, source, norms)
    telling = Telling(silent if as_json else click.echo, click.echo if as_json else None, webhook or "", notify)
    with opened() as container, showing("looking") as progress:
        sys.exit(check_drift(container, chosen, telling, progress))


@click.group()
def review() -> None:
    """Decide what drift has found: accept it, with the corrections of facts that follow, or reject it."""


@contextmanager
def _editorial() -> Iterator["Editorial"]:
    from clara.processes.editorial import build_editorial

    with opened() as container:
        yield build_editorial(container)


@review.command(name="list")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def list_(*, as_json: bool) -> None:
    """Say what waits."""
    from clara.editorial.pages import queue_lines

    with _editorial() as editorial:
        entries = editorial.waiting()
        click.echo(json.dumps(entries, ensure_ascii=False) if as_json else "\n".join(queue_lines(entries)))


@review.command()
@click.argument("number", type=int)
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.option("--decisions", "to_fill", is_flag=True, help="Print the undecided facts as a file for `review accept`.")
@BASE
def show(*, number: int, as_json: bool, to_fill: bool, bases: tuple[tuple[str, Decimal], ...]) -> None:
    """Show finding NUMBER: old beside new, and each fact as it is told beside what is proposed for it."""
    from clara.editorial.pages import decisions_to_fill, finding_page

    with _editorial() as editorial:
        entry = editorial.finding(number, dict(bases))
        if to_fill:
            click.echo(json.dumps(decisions_to_fill(entry), ensure_ascii=False, indent=1))
        else:
            click.echo(json.dumps(entry, ensure_ascii=False) if as_json else "\n".join(finding_page(entry)))


@review.command()
@click.argument("number", type=int)
@click.option("--corrected", multiple=True, metavar="FACT", help="Says something else now; a --text goes with each.")
@click.option("--text", "texts", multiple=True, metavar="TEXT", help="What it says, for the --corrected of the same place.")
@click.option("--proposed", multiple=True, metavar="FACT", help="Says what is proposed for it; `all`: each that is undecided.")
@click.option("--holds", multiple=True, metavar="FACT", help="Is true as it stands; a --reason goes with each.")
@click.option("--reason", "reasons", multiple=True, metavar="WHY", help="Why, for the --holds of the same place.")
@click.option("--decisions", "file", type=click.File("rb"), help="Decisions as JSON; `review show N --decisions` prints some.")
@BASE
def accept(
    *,
    number: int,
    corrected: tuple[str, ...],
    texts: tuple[str, ...],
    proposed: tuple[str, ...],
    holds: tuple[str, ...],
    reasons: tuple[str, ...],
    file: BinaryIO | None,
    bases: tuple[tuple[str, Decimal], ...],
) -> None:
    """Let finding NUMBER be right, and decide about its facts: corrections become drafts, which `clara publish` serves.

    A fact that nobody decides about stays in doubt. Of a finding that is accepted already, more facts can be decided.
    """
    from clara.editorial.decisions import PROPOSED, read_decisions
    from clara.editorial.review import Decider, Verdicts

    given = [
        *({"fact": fact, "corrected": {"text": text}} for fact, text in _pairs(corrected, "--corrected", texts, "--text")),
        *({"fact": fact, "corrected": PROPOSED} for fact in proposed if fact != EVERY),
        *({"fact": fact, "holds": reason} for fact, reason in _pairs(holds, "--holds", reasons, "--reason")),
    ]
    with running():
        read = _read(file) if file is not None else []
        name = file.name if file is not None else "options"
        decisions = read_decisions([*read, *given] if isinstance(read, list) else read, name)
        with _editorial() as editorial:
            editorial.accept(number, Verdicts(decisions, EVERY in proposed, dict(bases)), Decider(), click.echo)


def _pairs(facts: Sequence[str], option: str, words: Sequence[str], beside: str) -> Iterator[tuple[str, str]]:
    if len(facts) != len(words):
        raise click.UsageError(f"Give one {beside} for each {option}: {len(facts)} and {len(words)}.")
    return zip(facts, words, strict=True)


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
    from clara.editorial.review import Decider

    with _editorial() as editorial:
        editorial.reject(number, reason, Decider(), click.echo)
