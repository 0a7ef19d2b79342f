"""Commands about the record of what operators did."""

import sys

import click

from clara.cli.running import FINDINGS, read_settings, running, say


@click.group()
def audit() -> None:
    """Look at the record of what operators did."""


@audit.command()
@click.option("--noted", metavar="DIGEST", default="", help="A digest that an earlier check printed: it must still be there.")
def check(noted: str) -> None:
    """Follow the digests of all acts. Exit code 1: one was changed or removed, or the noted digest is not there."""
    from clara.adapters.postgres.audit import PostgresAudit
    from clara.jobs.preparing import running_services

    with running(), running_services(read_settings(), say, prepare="schema") as services:
        chain = PostgresAudit(services.engine.get()).chain(noted.lower())
        if chain.broken is not None:
            click.echo(f"act {chain.broken} does not fit the {chain.acts} before it: it was changed, or one before it removed.")
            sys.exit(FINDINGS)
        click.echo(f"{chain.acts} acts, unbroken; the last is {chain.last or 'none'}, its digest {chain.head or 'none'}")
        if noted and not chain.noted:
            click.echo("The noted digest is not among them: acts were removed at the end, or all was written anew.")
            sys.exit(FINDINGS)
