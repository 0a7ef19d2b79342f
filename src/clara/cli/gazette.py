"""Commands about the official gazette: reading what is missing, and what was found in it."""

import json
import sys
from typing import TYPE_CHECKING, Any

import click

from clara.cli.command import FINDINGS, read_settings, running, say, showing

if TYPE_CHECKING:
    from clara.editorial.gazette_watch import Chosen
    from clara.processes.run_record import Outcome

MOST_DAYS = 366
JOB = "boe"


@click.group(invoke_without_command=True)
@click.option("--check", is_flag=True, help="Read the days that are missing. Without it: list the alerts nobody has looked at.")
@click.option("--date", "day", type=click.DateTime(["%Y-%m-%d"]), help="Only this day, even if it was read.")
@click.option("--days", type=click.IntRange(1, MOST_DAYS), help="The missing ones of the last so many days, today included.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.option("--notify", is_flag=True, help="Post new alerts to the webhook, each once.")
@click.option("--webhook", default="", help="Where to post them, instead of CLARA_ALERT_WEBHOOK.")
@click.pass_context
def boe(context: click.Context, /, **chosen: Any) -> None:  # noqa: ANN401  options by name
    """Watch the official gazette (BOE) for what changes the norms that facts rest on.

    Exit codes: 0 nothing new, 1 new alerts, 2 a day could not be read; it is tried again by the next run.
    """
    if context.invoked_subcommand:
        if chosen["check"]:
            raise click.UsageError(f"Give either --check or {context.invoked_subcommand}.")
        return
    if chosen["day"] and chosen["days"]:
        raise click.UsageError("Give either --date or --days.")
    if chosen["check"]:
        _check(**chosen)
    else:
        _list(as_json=chosen["as_json"])


def _check(**chosen: Any) -> None:  # noqa: ANN401  options by name
    from clara.editorial.gazette_watch import Chosen, check
    from clara.processes.preparation import running_services
    from clara.processes.run_record import recorded

    wanted = Chosen(chosen["day"] and chosen["day"].date(), chosen["days"], chosen["notify"], chosen["webhook"])
    as_json: bool = chosen["as_json"]
    with (
        running(),
        running_services(read_settings(), say, prepare="schema") as services,
        showing("reading the gazette, day") as progress,
    ):

        def work() -> "Outcome":
            outcome = check(services, wanted, say if as_json else click.echo, progress)
            if as_json:
                click.echo(json.dumps(outcome.report, ensure_ascii=False, indent=2))
            return outcome

        sys.exit(recorded(services, JOB, _arguments(wanted), work, say=say))


def _arguments(wanted: "Chosen") -> str:
    """Write what was chosen as the command takes it; the address of a webhook, which may be a secret, stays out."""
    day = f" --date {wanted.day}" if wanted.day else ""
    days = f" --days {wanted.days}" if wanted.days else ""
    return f"--check{day}{days}{' --notify' if wanted.notify else ''}"


def _list(*, as_json: bool) -> None:
    from clara.editorial.gazette_report import listed
    from clara.editorial.gazette_watch import open_alerts
    from clara.processes.preparation import running_services

    with running(), running_services(read_settings(), say, prepare="schema") as services:
        found = open_alerts(services)
        click.echo(json.dumps(found, ensure_ascii=False, indent=2) if as_json else listed(found) or "No alert is open.")
        if found:
            sys.exit(FINDINGS)


@boe.command()
@click.argument("item")
def seen(item: str) -> None:
    """Take the alert ITEM (such as BOE-A-2026-1) off the list: somebody has looked at it."""
    from clara.editorial.gazette_watch import seen as record
    from clara.processes.preparation import running_services

    with running(), running_services(read_settings(), say, prepare="schema") as services:
        record(services, item)
