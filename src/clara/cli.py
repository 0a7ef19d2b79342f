"""The command line: `clara`. Each command imports its job when it runs, so that `clara --help` stays instant."""

import json
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Event
from typing import TYPE_CHECKING, Any

import click

from clara import __version__

if TYPE_CHECKING:
    from clara.bootstrap import Services
    from clara.settings import Settings

FOUND, FINDINGS, COULD_NOT_RUN = 0, 1, 2


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__)
def cli() -> None:
    """Clara answers questions about Spanish public procedures, from evidence she can show.

    Exit codes: 0 fine, 1 findings, 2 could not run.
    """


@cli.command()
@click.option("--stand-in", is_flag=True, help="Serve WhatsApp's webhook and show the replies, with a stand-in for Twilio.")
def up(*, stand_in: bool) -> None:
    """Start database, knowledge, web server and worker on this machine."""
    from clara.jobs.up import up as start

    with _running():
        start(_settings(), _say, stand_in=stand_in)


@cli.command()
@click.option("--attached", is_flag=True, hidden=True)
def web(*, attached: bool) -> None:
    """Serve the webhook (or, in the local channel, the chat page)."""
    from clara.jobs.serving import serve

    with _staying(attached=attached) as services:
        serve(services)


@cli.command()
@click.option("--attached", is_flag=True, hidden=True)
def worker(*, attached: bool) -> None:
    """Answer the messages that were taken in."""
    from clara.jobs.working import build_worker

    with _staying(attached=attached) as services:
        build_worker(services).run()


@cli.command()
def migrate() -> None:
    """Bring the database to the newest schema. Safe to repeat."""
    from clara.jobs.preparing import running_services

    with _running(), running_services(_settings(), _say, prepare="nothing") as services:
        click.echo(services.migrate())


@cli.command()
@click.option("--dry-run", is_flag=True, help="Say what would change; write nothing.")
def ingest(*, dry_run: bool) -> None:
    """Make the corpus hold exactly what data/ says; embeds only what changed."""
    from clara.jobs.preparing import fill, running_services

    with _running():
        settings = _settings()
        with (
            running_services(settings, _say, prepare="schema") as services,
            _progress("embedding") as progress,
        ):
            fill(services, click.echo, dry_run=dry_run, progress=progress)


@cli.command()
@click.argument("question")
@click.option("--json", "as_json", is_flag=True, help="Print status, tier, language, text, citations and timings.")
def ask(question: str, *, as_json: bool) -> None:
    """Ask QUESTION as a person would, and print the reply."""
    from clara.jobs.asking import ask as put
    from clara.jobs.preparing import services_or_outage

    with _running(), services_or_outage(_settings(), _say) as services:
        reply = put(services, question)
        click.echo(json.dumps(reply, ensure_ascii=False, indent=2) if as_json else reply["text"])


@cli.command()
@click.argument("query", required=False)
@click.option("-k", "limit", type=click.IntRange(1, 100), default=5, show_default=True, help="How many passages.")
@click.option("--json", "as_json", is_flag=True, help="Print scores and texts as JSON.")
@click.option("--batch", type=click.Path(exists=True, dir_okay=False, path_type=Path), help='JSONL of {"id","query"}.')
@click.option("--out", type=click.Path(dir_okay=False, path_type=Path), help="Where the batch's results go.")
def search(query: str | None, limit: int, batch: Path | None, out: Path | None, *, as_json: bool) -> None:
    """Find passages for QUERY, or for every line of a batch. Exit code 1: nothing found."""
    from clara.jobs.preparing import services_or_outage
    from clara.jobs.searching import search as look
    from clara.jobs.searching import search_batch

    if (query is None) == (batch is None) or (batch is None) != (out is None):
        raise click.UsageError("Give either a QUERY, or --batch FILE together with --out FILE.")
    with _running(), services_or_outage(_settings(), _say) as services:
        if batch is not None and out is not None:
            with _progress("searching") as progress:
                click.echo(f"{search_batch(services, batch, out, limit, progress)} queries -> {out}", err=True)
            return
        found = look(services, str(query), limit)
        click.echo(json.dumps(found, ensure_ascii=False, indent=2) if as_json else _shown(found))
        if not found["hits"]:
            sys.exit(FINDINGS)


@cli.command(name="eval")
@click.option("--tier", type=click.Choice(["chain", "pgvector", "json_fallback", "directory_fallback"]), default="chain")
@click.option("--split", type=click.Choice(["dev", "test"]), help="Only these questions; default: both, each with its table.")
@click.option("--category", help="Only the questions of this category; the gate does not apply then.")
@click.option("--compare", type=click.Path(exists=True, dir_okay=False, path_type=Path), help="Show what changed side since.")
@click.option("--out", type=click.Path(file_okay=False, path_type=Path), help="Folder for the run as JSON, CSV and TREC.")
@click.option("--json", "as_json", is_flag=True, help="Print one row a question as JSON instead of the tables.")
def evaluation(*, compare: Path | None, out: Path | None, as_json: bool, **chosen: Any) -> None:  # noqa: ANN401
    """Ask the questions of eval/clara, print the measures, and hold them against the gate.

    Exit codes: 0 passed, 1 fell short of the gate, 2 could not run.
    """
    from clara.jobs.evaluating import Choice, evaluate, verdict, write_run
    from clara.jobs.preparing import ensure_corpus, running_services

    choice = Choice(**chosen)
    with _running(), running_services(_settings(), _say, prepare="schema") as services, _progress("asking") as progress:
        ensure_corpus(services, _say)
        say = _say if as_json else click.echo
        done = evaluate(services, choice, compare, say, progress)
        if out is not None:
            write_run(out, choice.tier, done.outcomes)
        if as_json:
            click.echo(done.as_json())
        say(verdict(done))
        if done.shortfalls:
            sys.exit(FINDINGS)


@cli.group()
def knowledge() -> None:
    """Look at what Clara knows, and check it."""


@knowledge.command()
def check() -> None:
    """Validate data/ and say, by procedure, what an editor should know. Exit code 1: something must be mended."""
    from clara.jobs.knowing import check as look
    from clara.knowledge.faults import DataError

    with _running():
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
    from clara.jobs.knowing import show as page

    with _running():
        page(procedure, click.echo)


@cli.command(name="stand-in")
@click.option("--port", type=click.IntRange(1, 65535), default=8001, show_default=True)
def stand_in(port: int) -> None:
    """Run a stand-in for Twilio's REST API that prints every message it takes."""
    from clara.adapters.scripted.twilio_server import TwilioStandIn
    from clara.jobs.up import DEMO_ACCOUNT, DEMO_TOKEN

    with _running():
        state = TwilioStandIn(DEMO_ACCOUNT, DEMO_TOKEN, lambda taken: click.echo(f"to {taken.recipient}:\n{taken.body}\n"))
        server = state.serve(port)
        click.echo(f"TWILIO_API_URL=http://127.0.0.1:{port} TWILIO_ACCOUNT_SID={DEMO_ACCOUNT} TWILIO_AUTH_TOKEN={DEMO_TOKEN}")
        try:
            Event().wait()
        except KeyboardInterrupt:
            server.shutdown()


@cli.command()
@click.argument("form")
@click.option("--url", default="http://127.0.0.1:8000/webhook", show_default=True, help="The address Twilio was given.")
def sign(form: str, url: str) -> None:
    """Print the X-Twilio-Signature of FORM ("From=…&Body=…", percent-encoded), for curl.

    Signs with TWILIO_AUTH_TOKEN, or with the stand-in's token when that is not set.
    """
    from urllib.parse import parse_qsl

    from twilio.request_validator import RequestValidator

    from clara.jobs.up import DEMO_TOKEN

    with _running():
        settings = _settings()
        token = settings.twilio_auth_token.get_secret_value() if settings.twilio_auth_token else DEMO_TOKEN
        fields = dict(parse_qsl(form, keep_blank_values=True, strict_parsing=True))
        click.echo(RequestValidator(token).compute_signature(url, fields))


def main() -> None:
    """Run the command line."""
    cli()


def _settings() -> "Settings":
    from clara.settings import load_settings

    return load_settings()


@contextmanager
def _staying(*, attached: bool) -> Iterator["Services"]:
    """Give a process that stays its services; `attached`, it ends with its parent."""
    from clara.jobs.children import end_with_parent
    from clara.jobs.preparing import running_services

    with _running():
        settings = _settings()
        settings.require_channel()
        if attached:
            end_with_parent()
        with running_services(settings, _say) as services:
            yield services


@contextmanager
def _running() -> Iterator[None]:
    """Turn the errors that people can mend into one message and exit code 2."""
    from clara.jobs.failures import MENDABLE
    from clara.logs import configure_logs

    configure_logs()
    try:
        yield
    except MENDABLE as error:
        click.echo(f"Error: {error}", err=True)
        sys.exit(COULD_NOT_RUN)


@contextmanager
def _progress(what: str) -> Iterator[Callable[[int, int], None]]:
    """Show progress on standard error, on one line, only to a person."""
    shown = sys.stderr.isatty()

    def report(done: int, total: int) -> None:
        if shown:
            click.echo(f"\r{what} {done}/{total} ", err=True, nl=done == total)

    yield report


def _say(message: str) -> None:
    click.echo(message, err=True)


def _shown(found: dict[str, Any]) -> str:
    if not found["hits"]:
        return f"Nothing found ({found['status']}, {found['tier']})."
    lines = [f"{found['status']} by {found['tier']}"]
    lines += [
        f"\n{hit['score']:.3f}  {hit['passage_id']}  {' > '.join(hit['heading'])}\n       {hit['text']}"
        for hit in found["hits"]
    ]
    return "\n".join(lines)
