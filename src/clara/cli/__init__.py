"""The command line: `clara`. Each command imports its job when it runs, so that `clara --help` stays instant."""

import click

from clara import __version__
from clara.cli.asking import ask, examples, search
from clara.cli.auditing import audit
from clara.cli.delivering import delivery
from clara.cli.engine import cache, corpus, explain
from clara.cli.evaluating import evaluation
from clara.cli.indexing import index
from clara.cli.ingesting import ingest, ingest_worker
from clara.cli.knowing import knowledge
from clara.cli.publishing import publish
from clara.cli.reviewing import drift, review
from clara.cli.scheduling import scheduled
from clara.cli.serving import migrate, sign, up, web, worker
from clara.cli.watching import boe


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__)
def cli() -> None:
    """Clara answers questions about Spanish public procedures, from evidence she can show.

    Exit codes: 0 fine, 1 findings, 2 could not run.
    """


COMMANDS = (
    up, web, worker, migrate, ingest, ask, examples, search, explain, evaluation, knowledge, corpus, index, cache, delivery,
    sign, scheduled, boe, drift, review, publish, ingest_worker,
    audit,
)  # fmt: skip
for command in COMMANDS:
    cli.add_command(command)


def main() -> None:
    """Run the command line."""
    cli()
