"""Commands about what Clara knows and serves: knowledge, drift, review, publish, and the official gazette."""

import json
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from datetime import datetime
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

import click

from clara.cli.command import FINDINGS, FOLDER, JSON, TODAY, day_of, opened, opened_or_outage, running, say, showing, silent

if TYPE_CHECKING:
    from clara.editorial.journey import Editorial

# Instead of a fact: every one that is undecided and for which something is proposed.
EVERY = "all"
MOST_DAYS = 366


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


@knowledge.command()
@click.option(
    "--by",
    type=click.DateTime(["%Y-%m-%d"]),
    metavar="DATE",
    help="The last day to look at (2027-01-31); else two months ahead.",
)
@TODAY
@JSON
def expiring(*, by: datetime | None, today: datetime | None, as_json: bool) -> None:
    """Say which facts end, what sets their successors, when that is usually published, and how often they were asked.

    Example: clara knowledge expiring --by 2027-01-31. Exit codes: 0 nothing ends, 1 something does.
    """
    from clara.errors import Unavailable
    from clara.knowledge.procedure import madrid_today
    from clara.processes.editorial import build_editorial
    from clara.quality.renewal_pages import AHEAD, ends_as_json, page_of_ends, what_ends

    now = day_of(today) or madrid_today()
    last = day_of(by) or now + AHEAD
    if last < now:
        raise click.BadParameter(f"{last} is over; give a day from {now} on", param_hint="--by")
    with opened_or_outage() as container:
        desk = build_editorial(container).desk
        ends = what_ends(desk.released().catalogue, now, last)
        answers = None
        with suppress(Unavailable):
            answers = desk.findings.cited([one.fact.id for one in ends])
    if as_json:
        click.echo(json.dumps(ends_as_json(ends, answers), ensure_ascii=False))
    else:
        click.echo("\n".join(page_of_ends(ends, last, answers)))
    sys.exit(FINDINGS if ends else 0)


def _base_figure(value: str) -> tuple[str, Decimal]:
    """Read "iprem=620"."""
    name, sign, number = value.partition("=")
    try:
        figure = Decimal(number.strip())
    except InvalidOperation:
        figure = Decimal(0)
    if not sign or not figure.is_finite() or figure <= 0:
        raise click.BadParameter(f"'{value}' is no base figure; write it like iprem=620 or pnc=9100.50")
    return name.strip(), figure


BASE = click.option(
    "--base", "bases", multiple=True, type=_base_figure, metavar="BASE=EUROS",
    help="A base figure as it is now, like iprem=620, to propose by.",
)  # fmt: skip


@click.command()
@click.option("--all", "every", is_flag=True, help="Every source of data/sources.yaml.")
@click.option("--stale", is_flag=True, help="Only those that have not answered for longer than the registry allows.")
@click.option("--source", help="One source by its id, such as BOE-A-2015-11724.")
@click.option("--norms", type=FOLDER, help="Markdown norms as the live state.")
@JSON
@click.option("--webhook", help="Post the same JSON to this address.")
@click.option("--notify", is_flag=True, help="Post it to CLARA_ALERT_WEBHOOK when something waits or could not be reached.")
def drift(
    *, every: bool, stale: bool, source: str | None, norms: Path | None, as_json: bool, webhook: str | None, notify: bool
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
@JSON
def list_(*, as_json: bool) -> None:
    """Say what waits."""
    from clara.editorial.pages import page

    with _editorial() as editorial:
        entries = editorial.waiting()
        click.echo(json.dumps(entries, ensure_ascii=False) if as_json else page("queue", entries))


@review.command(name="show")
@click.argument("number", type=int)
@JSON
@click.option("--decisions", "to_fill", is_flag=True, help="Print the undecided facts as a file for `review accept`.")
@BASE
def show_finding(*, number: int, as_json: bool, to_fill: bool, bases: tuple[tuple[str, Decimal], ...]) -> None:
    """Show finding NUMBER: old beside new, and each fact as it is told beside what is proposed for it."""
    from clara.editorial.pages import decisions_to_fill, page

    with _editorial() as editorial:
        entry = editorial.finding(number, dict(bases))
        if to_fill:
            click.echo(json.dumps(decisions_to_fill(entry), ensure_ascii=False, indent=1))
        else:
            click.echo(json.dumps(entry, ensure_ascii=False) if as_json else page("finding", entry))


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
    from clara.editorial.review import PROPOSED, Decider, Verdicts, read_decisions

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


@click.command()
@click.option("--dry-run", is_flag=True, help="Say what would change; stage and judge nothing.")
@click.option("--by", default="cli", show_default=True, metavar="NAME", help="Kept with the version. No name of a person.")
@click.option("--undo", is_flag=True, help="Serve the version before again, at once.")
@click.option("--list", "listed", is_flag=True, help="Show the versions there are.")
@click.option("--withdraw", metavar="FACT", help="Take back the corrections of this fact; publish to serve it so.")
@JSON
def publish(*, dry_run: bool, by: str, undo: bool, listed: bool, withdraw: str | None, as_json: bool) -> None:
    """Serve what data/ and the corrections say, if it is no worse than what is served by the evaluation, asked of both now.

    Whoever asks meanwhile is answered from the served version. Exit codes: 0 served, or nothing to publish; 1 refused; 2 could
    not run.
    """
    from clara.editorial.publication import listing, listing_lines
    from clara.processes.editorial_jobs import PublicationChoice, Telling
    from clara.processes.editorial_jobs import publish as serve

    if sum((dry_run, undo, listed, withdraw is not None)) > 1:
        raise click.UsageError("Give one of --undo, --list, --withdraw and --dry-run, or none.")
    if listed:
        with opened() as container:
            rows = listing(container.publications())
            click.echo(json.dumps(rows, ensure_ascii=False, indent=1) if as_json else "\n".join(listing_lines(rows)))
        return
    chosen = PublicationChoice(by, dry_run, undo, withdraw)
    with opened() as container, showing("publishing") as progress:
        sys.exit(serve(container, chosen, Telling(say, click.echo if as_json else None), progress))


@click.group(invoke_without_command=True)
@click.option("--check", is_flag=True, help="Read the days that are missing. Without it: list the alerts nobody has looked at.")
@click.option("--date", "day", type=click.DateTime(["%Y-%m-%d"]), help="Only this day, even if it was read.")
@click.option("--days", type=click.IntRange(1, MOST_DAYS), help="The missing ones of the last so many days, today included.")
@JSON
@click.option("--notify", is_flag=True, help="Post new alerts to the webhook, each once.")
@click.option("--webhook", default="", help="Where to post them, instead of CLARA_ALERT_WEBHOOK.")
@click.pass_context
def boe(
    context: click.Context, /, *, check: bool, day: datetime | None, days: int | None, as_json: bool, notify: bool, webhook: str
) -> None:
    """Watch the official gazette (BOE) for what changes the norms that facts rest on.

    Exit codes: 0 nothing new, 1 new alerts, 2 a day could not be read; it is tried again by the next run.
    """
    if context.invoked_subcommand:
        if check:
            raise click.UsageError(f"Give either --check or {context.invoked_subcommand}.")
        return
    if day and days:
        raise click.UsageError("Give either --date or --days.")
    if not check:
        _alerts(as_json=as_json)
        return
    from clara.editorial.gazette.watch import DayChoice
    from clara.processes.editorial_jobs import Telling, watch_gazette

    telling = Telling(say if as_json else click.echo, click.echo if as_json else None, webhook, notify)
    with opened() as container, showing("reading the gazette, day") as progress:
        sys.exit(watch_gazette(container, DayChoice(day_of(day), days), telling, progress))


def _alerts(*, as_json: bool) -> None:
    from clara.adapters.postgres.editorial.gazette import PostgresGazette
    from clara.editorial.gazette.watch import open_alerts
    from clara.editorial.pages import page

    with opened() as container:
        found = open_alerts(PostgresGazette(container.engine))
        click.echo(json.dumps(found, ensure_ascii=False, indent=2) if as_json else page("alerts", found) or "No alert is open.")
        if found:
            sys.exit(FINDINGS)


@boe.command()
@click.argument("item")
def seen(item: str) -> None:
    """Take the alert ITEM (such as BOE-A-2026-1) off the list: somebody has looked at it."""
    from clara.adapters.postgres.editorial.gazette import PostgresGazette
    from clara.adapters.postgres.operations.audit import PostgresAudit
    from clara.editorial.gazette.watch import look_at

    with opened() as container:
        look_at(PostgresGazette(container.engine), item)
        PostgresAudit(container.engine).record("cli", "boe seen", item)
