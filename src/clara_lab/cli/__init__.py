"""The command line of the laboratory: `python -m clara_lab`. Each command imports its work when it runs."""

import click

from clara_lab.cli.benching import bench
from clara_lab.cli.standing_in import demo, stand_in


@click.group(name="clara_lab", context_settings={"help_option_names": ["-h", "--help"]})
def cli() -> None:
    """Measure Clara, train her models, and imitate what she talks to.

    Exit codes: 0 fine, 1 findings, 2 could not run.
    """


for command in (bench, demo, stand_in):
    cli.add_command(command)


def main() -> None:
    """Run the command line."""
    cli(prog_name="python -m clara_lab")
