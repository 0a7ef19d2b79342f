"""Commands about what Clara knows and serves: knowledge check and show, publish and back."""

import json
import sys
from typing import TYPE_CHECKING, Any

import click

from clara.cli.command import FINDINGS, read_settings, running, say, showing

if TYPE_CHECKING:
    from clara.container import Container
    from clara.editorial.publication import Choosing
    from clara.processes.run_record import Outcome


@click.group()
def knowledge() -> None:
    """Look at what Clara knows, and check it."""


@knowledge.command()
def check() -> None:
    """Validate data/ and say, by procedure, what an editor should know. Exit code 1: something must be mended."""
    from clara.data_files import DataError
    from clara.editorial.knowledge_pages import check as look

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
    from clara.editorial.knowledge_pages import show as page

    with running():
        page(procedure, click.echo)


# What became of an act, for the audit log; where nothing was to do there is none.
OUTCOMES = {"served": "done", "withdrawn": "done", "refused": "refused"}
ALONE = "Give one of --undo, --list, --withdraw and --dry-run, or none."


@click.command()
@click.option("--dry-run", is_flag=True, help="Say what would change; stage and judge nothing.")
@click.option("--by", default="cli", show_default=True, metavar="NAME", help="Kept with the version. No name of a person.")
@click.option("--undo", "back", is_flag=True, help="Serve the version before again, at once.")
@click.option("--list", "listed", is_flag=True, help="Show the versions there are.")
@click.option("--withdraw", metavar="FACT", help="Take back the corrections of this fact; publish to serve it so.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def publish(*, back: bool, listed: bool, withdraw: str | None, as_json: bool, **chosen: Any) -> None:  # noqa: ANN401
    """Serve what data/ and the corrections say, if it is no worse than what is served by the evaluation, asked of both now.

    Whoever asks meanwhile is answered from the served version. Exit codes: 0 served, or nothing to publish; 1 refused; 2 could
    not run.
    """
    from clara.adapters.postgres.operations.audit import PostgresAudit
    from clara.editorial.publication import Choosing
    from clara.processes.preparation import running_services
    from clara.processes.run_record import recorded

    if sum((chosen["dry_run"], back, listed, withdraw is not None)) > 1:
        raise click.UsageError(ALONE)
    with running(), running_services(read_settings(), say, prepare="schema") as services:
        if listed:
            _list(services, as_json=as_json)
            return

        # Each way back has a name of its own, so that it fails while a publication goes on instead of being taken for its twin.
        job = "undo" if back else "withdraw" if withdraw else "publish"

        def work() -> "Outcome":
            done = _acted(services, Choosing(**chosen), withdraw, back=back)
            if as_json:
                click.echo(json.dumps(done.report, ensure_ascii=False, indent=1))
            if not chosen["dry_run"] and (outcome := OUTCOMES.get(done.report["state"])):
                subject = f"fact {withdraw}" if withdraw else f"publication {done.report['publication']}"
                PostgresAudit(services.engine).record("cli", job, subject, outcome)
            return done

        sys.exit(work().exit_code if chosen["dry_run"] else recorded(services, job, withdraw or "", work, say=say))


def _list(services: "Container", *, as_json: bool) -> None:
    from clara.editorial.publication import listing, table

    rows = listing(services)
    click.echo(json.dumps(rows, ensure_ascii=False, indent=1) if as_json else "\n".join(table(rows)))


def _acted(services: "Container", chosen: "Choosing", withdrawn: str | None, *, back: bool) -> "Outcome":
    from clara.editorial.publication import publish as serve
    from clara.editorial.publication import undo
    from clara.editorial.publication import withdraw as take_back

    if back:
        return undo(services, say)
    if withdrawn is not None:
        return take_back(services, withdrawn, say)
    with showing("publishing") as progress:
        return serve(services, chosen, say, progress)
