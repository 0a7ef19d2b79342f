"""The command line: `clara`. Each command imports its job when it runs, so that `clara --help` stays instant."""

import click

from clara import __version__
from clara.cli.ask import ask, examples, explain, search
from clara.cli.corpora import cache, corpus, index, ingest, ingest_worker
from clara.cli.editorial import boe, drift, knowledge, publish, review
from clara.cli.evaluation import evaluation
from clara.cli.facts import fact
from clara.cli.operations import audit, delivery, migrate, scheduled, sign, up, web, worker


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__)
def cli() -> None:
    """Clara answers questions about Spanish public procedures, from evidence she can show.

    Exit codes: 0 fine, 1 findings, 2 could not run.
    """


COMMANDS = (
    up, web, worker, migrate, ingest, ask, examples, search, explain, evaluation, knowledge, corpus, index, cache, delivery,
    sign, scheduled, boe, drift, review, publish, ingest_worker,
    audit, fact,
)  # fmt: skip
for command in COMMANDS:
    cli.add_command(command)


def main() -> None:
    """Run the command line."""
    cli()
