"""Commands about the official gazette: reading what is missing, and what was found in it."""

import json
import sys
from datetime import datetime

import click

from clara.cli.command import FINDINGS, audited, day_of, opened, say, showing

MOST_DAYS = 366


@click.group(invoke_without_command=True)
@click.option("--check", is_flag=True, help="Read the days that are missing. Without it: list the alerts nobody has looked at.")
@click.option("--date", "day", type=click.DateTime(["%Y-%m-%d"]), help="Only this day, even if it was read.")
@click.option("--days", type=click.IntRange(1, MOST_DAYS), help="The missing ones of the last so many days, today included.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.option("--notify", is_flag=True, help="Post new alerts to the webhook, each once.")
@click.option("--webhook", default="", help="Where to post them, instead of CLARA_ALERT_WEBHOOK.")
@click.pass_context
def boe(
    context: click.Context,
    /,
    *,
    check: bool,
    day: datetime | None,
    days: int | None,
    as_json: bool,
    notify: bool,
    webhook: str,
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
        _list(as_json=as_json)
        return
    from clara.editorial.gazette.watch import DayChoice
    from clara.processes.editorial_jobs import Telling, watch_gazette

    telling = Telling(say if as_json else click.echo, click.echo if as_json else None, webhook, notify)
    with opened() as container, showing("reading the gazette, day") as progress:
        sys.exit(watch_gazette(container, DayChoice(day_of(day), days), telling, progress))


def _list(*, as_json: bool) -> None:
    from clara.adapters.postgres.editorial.gazette import PostgresGazette
    from clara.editorial.gazette.watch import open_alerts
    from clara.editorial.pages import alert_page

    with opened() as container:
        found = open_alerts(PostgresGazette(container.engine))
        click.echo(json.dumps(found, ensure_ascii=False, indent=2) if as_json else alert_page(found) or "No alert is open.")
        if found:
            sys.exit(FINDINGS)


@boe.command()
@click.argument("item")
def seen(item: str) -> None:
    """Take the alert ITEM (such as BOE-A-2026-1) off the list: somebody has looked at it."""
    from clara.adapters.postgres.editorial.gazette import PostgresGazette
    from clara.editorial.gazette.watch import look_at

    with opened() as container:
        look_at(PostgresGazette(container.engine), item)
        audited(container.engine, "boe seen", item)
