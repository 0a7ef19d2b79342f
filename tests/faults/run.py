"""Break Clara while people write, and count what was lost or doubled: python -m tests.faults.run [--help]."""

import argparse
import secrets
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Final

import click
from tests.faults.crowd import HONEST, perform_crowds
from tests.faults.performing import Performance
from tests.faults.plan import KINDS
from tests.faults.report import Finding, finding, table, write
from tests.faults.scenarios import Options, scenario

OUT: Final = Path("build/faults")


def perform(options: Options, folder: Path) -> Finding:
    """Perform a scenario, with what was seen in `folder`. Raises NotStartedError."""
    performance = Performance(scenario(options), folder, progress())
    performance.run()
    return finding(performance)


def progress() -> Callable[[str], None]:
    """Build what shows how far a run is, on one line, only to a person."""
    shown = sys.stderr.isatty()

    def say(line: str) -> None:
        if shown:
            click.echo(f"\r\033[K{line}", err=True, nl=False)

    return say


def chosen(arguments: list[str]) -> Options:
    """Read the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter, epilog=SCENARIOS
    )
    parser.add_argument(
        "scenario", nargs="?", default="kills", choices=("kills", "down", "order", "flood", "stop", "long", "crowd")
    )
    parser.add_argument("--seed", type=int, help="do what the run with this seed did (it is printed)")
    parser.add_argument("--messages", type=int, help="how many messages")
    parser.add_argument("--kills", type=int, help="how many kills, over all kinds")
    parser.add_argument("--rate", type=float, help="messages a second")
    parser.add_argument("--workers", type=int, help="how many workers")
    parser.add_argument("--answers", choices=("stand-in", "clara"), default="stand-in", help="who writes the replies")
    parser.add_argument("--writer-ms", type=float, help="how long the stand-in takes for a reply")
    parser.add_argument("--database-down", type=float, metavar="SECONDS", help="how long the database stays dead")
    parser.add_argument("--no-faults", dest="faults", action="store_false", help="let the channel make no faults")
    parser.add_argument("--kinds", nargs="+", choices=tuple(KINDS), default=tuple(KINDS), help="kill only these")
    given = vars(parser.parse_args(arguments))
    options = Options(**given | {"kinds": tuple(given["kinds"])})
    return options if options.seed is not None else replace(options, seed=secrets.randbelow(10**6))


SCENARIOS: Final = """scenarios:
  kills   3,000 messages while everything is killed, 60 times (the default)
  down    2,000 messages at both listeners while the database is dead
  order   10,000 messages of few people, eight workers, kills
  flood   one person floods under the limits of production; do the others notice?
  long    eight people write 4,096 characters each: who waits? (Clara herself answers; two minutes)
  stop    every process is asked to end, one after the other, under load
  crowd   strangers hold 1,200 idle connections, then 1,000 half forms; are the others acknowledged?

Exit code 0: everything holds; 1: something does not. build/faults/<seed> keeps logs and journals.
"""


def main() -> None:
    """Perform what the command line says; print the table, write the JSON."""
    options = chosen(sys.argv[1:])
    if options.scenario == "crowd":
        told, holds = perform_crowds(options.messages or HONEST, OUT / "crowd.json")
        click.echo(told)
        sys.exit(0 if holds else 1)
    click.echo(f"seed {options.seed}", err=True)
    found = perform(options, OUT / str(options.seed))
    write(found, OUT / f"{options.seed}.json")
    click.echo(f"\r\033[K{table(found)}")
    sys.exit(1 if found.broken else 0)


if __name__ == "__main__":
    main()
