"""The command that the schedule starts other commands with."""

import os
from contextlib import suppress
from pathlib import Path

import click

# Below whatever answers people.
NICENESS = 10
# Of 0 to 1,000: when memory runs out the kernel ends this process, and not the one that answers people.
EXPENDABLE = "800"


@click.command(hidden=True, context_settings={"ignore_unknown_options": True, "help_option_names": []})
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED, required=True)
@click.pass_context
def scheduled(context: click.Context, arguments: tuple[str, ...]) -> None:
    """Run another command beside those that answer people: with less claim to the machine, ending when its parent does."""
    from clara.jobs.children import end_with_parent

    os.nice(NICENESS)
    # Where the kernel shares out time by sessions, and this one has its own, only this counts beside the others.
    with suppress(OSError):  # a Linux without autogroups, or no Linux
        Path("/proc/self/autogroup").write_text(str(NICENESS))
    with suppress(OSError):  # Linux only
        Path("/proc/self/oom_score_adj").write_text(EXPENDABLE)
    end_with_parent()
    context.find_root().command.main(list(arguments), prog_name="clara")
