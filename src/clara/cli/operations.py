"""Commands that run Clara, and for whoever keeps it running: processes, messages on their way, the record of acts."""

import json
import os
import sys
from contextlib import suppress
from pathlib import Path

import click

from clara.cli.command import FINDINGS, JSON, opened, read_settings, running, say, starting, staying


@click.group()
def audit() -> None:
    """Look at the record of what operators did."""


@audit.command()
@click.option("--noted", metavar="DIGEST", default="", help="A digest that an earlier check printed: it must still be there.")
def check(noted: str) -> None:
    """Follow the digests of all acts. Exit code 1: one was changed or removed, or the noted digest is not there."""
    from clara.adapters.postgres.operations.audit import PostgresAudit

    with opened() as container:
        chain = PostgresAudit(container.engine).chain(noted.lower())
        if chain.broken is not None:
            click.echo(f"act {chain.broken} does not fit the {chain.acts} before it: it was changed, or one before it removed.")
            sys.exit(FINDINGS)
        click.echo(f"{chain.acts} acts, unbroken; the last is {chain.last or 'none'}, its digest {chain.head or 'none'}")
        if noted and not chain.noted:
            click.echo("The noted digest is not among them: acts were removed at the end, or all was written anew.")
            sys.exit(FINDINGS)


@click.group()
def delivery() -> None:
    """Look at the messages on their way."""


@delivery.command()
@JSON
def status(*, as_json: bool) -> None:
    """Count what waits. Exit code 1: messages are overdue, or some were set aside for a person."""
    from dataclasses import asdict

    from clara.adapters.postgres.delivery.overview import PostgresOverview
    from clara.adapters.spool.spool import records_in
    from clara.delivery.overview import overview_lines, wants_attention

    with opened() as container:
        found = asdict(PostgresOverview(container.engine).status())
        found["spooled"] = records_in(container.settings.spool)
        click.echo(json.dumps(found) if as_json else "\n".join(overview_lines(found)))
        if wants_attention(found):
            sys.exit(FINDINGS)


@delivery.command()
@click.option("--text", "with_text", is_flag=True, help="Print what the person wrote, too.")
def aside(*, with_text: bool) -> None:
    """List the messages that broke their worker twice. They were answered the simple way."""
    from clara.adapters.postgres.delivery.overview import PostgresOverview

    with opened() as container:
        found = PostgresOverview(container.engine).set_aside()
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
    from clara.adapters.postgres.delivery.overview import PostgresOverview
    from clara.errors import NotFound

    with opened() as container:
        if not PostgresOverview(container.engine).looked_at(number):
            raise NotFound(f"no message {number} is set aside. `clara delivery aside` lists them.")


# Below whatever answers people.
NICENESS = 10
# Of 0 to 1,000: when memory runs out the kernel ends this process, and not the one that answers people.
EXPENDABLE = "800"


@click.command(hidden=True, context_settings={"ignore_unknown_options": True, "help_option_names": []})
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED, required=True)
@click.pass_context
def scheduled(context: click.Context, arguments: tuple[str, ...]) -> None:
    """Run another command beside those that answer people: with less claim to the machine, ending when its parent does."""
    from clara.processes.children import end_with_parent

    os.nice(NICENESS)
    # Where the kernel shares out time by sessions, and this one has its own, only this counts beside the others.
    with suppress(OSError):  # a Linux without autogroups, or no Linux
        Path("/proc/self/autogroup").write_text(str(NICENESS))
    with suppress(OSError):  # Linux only
        Path("/proc/self/oom_score_adj").write_text(EXPENDABLE)
    end_with_parent()
    context.find_root().command.main(list(arguments), prog_name="clara")


@click.command()
def up() -> None:
    """Start database, knowledge, web server and worker on this machine."""
    from clara.processes.supervisor import up as start

    with running():
        start(read_settings(), say)


@click.command()
@click.option("--attached", is_flag=True, hidden=True)
def web(*, attached: bool) -> None:
    """Serve the webhook (or, in the local channel, the chat page)."""
    from clara.processes.web import serve

    with starting(attached=attached) as settings:
        serve(settings, say)


@click.command()
@click.option("--attached", is_flag=True, hidden=True)
def worker(*, attached: bool) -> None:
    """Answer the messages that were taken in, and run what is due by itself."""
    from clara.processes.schedule import scheduling
    from clara.processes.worker import build_worker

    with staying(attached=attached) as container:
        worker = build_worker(container)  # first who answers people, then what can wait
        with scheduling(container):
            worker.run()


@click.command()
def migrate() -> None:
    """Bring the database to the newest schema. Safe to repeat."""
    with opened("nothing") as container:
        click.echo(container.migrate())


@click.command()
@click.argument("form")
@click.option("--url", default="http://127.0.0.1:8000/webhook", show_default=True, help="The address Twilio was given.")
def sign(form: str, url: str) -> None:
    """Print the X-Twilio-Signature of FORM ("From=…&Body=…", percent-encoded), for curl.

    Signs with TWILIO_AUTH_TOKEN, or with the stand-in's token when that is not set.
    """
    from urllib.parse import parse_qsl

    from twilio.request_validator import RequestValidator

    from clara.settings import DEMO_TOKEN

    with running():
        settings = read_settings()
        token = settings.twilio_auth_token.get_secret_value() if settings.twilio_auth_token else DEMO_TOKEN
        fields = dict(parse_qsl(form, keep_blank_values=True, strict_parsing=True))
        click.echo(RequestValidator(token).compute_signature(url, fields))
