"""Commands about messages on their way: how many wait, and which ones a person should look at."""

import json
import sys

import click

from clara.cli.running import FINDINGS, read_settings, running, say


@click.group()
def delivery() -> None:
    """Look at the messages on their way."""


@delivery.command()
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def status(*, as_json: bool) -> None:
    """Count what waits. Exit code 1: messages are overdue, or some were set aside for a person."""
    from clara.jobs.delivering import status as counted
    from clara.jobs.delivering import tell
    from clara.jobs.preparing import running_services

    with running(), running_services(read_settings(), say, prepare="schema") as services:
        found = counted(services)
        wanting = tell(found, (lambda _line: None) if as_json else click.echo)
        if as_json:
            click.echo(json.dumps(found))
        if wanting:
            sys.exit(FINDINGS)


@delivery.command()
@click.option("--text", "with_text", is_flag=True, help="Print what the person wrote, too.")
def aside(*, with_text: bool) -> None:
    """List the messages that broke their worker twice. They were answered the simple way."""
    from clara.jobs.delivering import aside as listed
    from clara.jobs.preparing import running_services

    with running(), running_services(read_settings(), say, prepare="schema") as services:
        found = listed(services)
        for message in found:
            click.echo(
                f"{message.inbox_id}  since {message.since:%Y-%m-%d %H:%M}  {message.tries} tries  "
                f"answered: {message.answered or 'not yet'}  delivery: {message.delivery or 'none'}"
            )
            if with_text:
                click.echo(f"    {message.text or '(no text)'}")
        say("Find out why: clara explain --turn NUMBER. Then: clara delivery looked-at NUMBER" if found else "None.")
        if found:
            sys.exit(FINDINGS)


@delivery.command(name="looked-at")
@click.argument("number", type=click.IntRange(1, 2**63 - 1))
def looked_at(number: int) -> None:
    """Take message NUMBER off the list of `aside`."""
    from clara.jobs.delivering import looked_at as done
    from clara.jobs.preparing import running_services

    with running(), running_services(read_settings(), say, prepare="schema") as services:
        done(services, number)
