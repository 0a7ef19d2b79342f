"""The command line of the laboratory: `python -m clara_lab`. Each command imports its work when it runs."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path

import click

from clara.cli.command import FINDINGS, read_settings, running, say

# What the extra `lab` brings and the bench imports.
LIBRARIES = ("matplotlib", "pyarrow", "scipy")
ENV = click.option("--env", "env", type=click.Path(dir_okay=False, path_type=Path), help="A .env or TOML file of variables.")
OUT = click.option(
    "--out",
    default="build/bench",
    show_default=True,
    type=click.Path(file_okay=False, path_type=Path),
    help="Folder of reports.",
)


@click.group()
def bench() -> None:
    """Measure strategies of retrieval and generation on a data set, and report what was found."""
    if missing := [name for name in LIBRARIES if find_spec(name) is None]:
        raise click.UsageError(f"the bench needs {', '.join(missing)}; run `pip install 'clara-tramites[lab]'`")


@bench.command("run")
@ENV
@OUT
@click.option("--dry-run", is_flag=True, help="Check everything, show the plan, its sizes and its cost; ask nobody.")
@click.option("--resume", default="", metavar="RUN", help="Take up a run that was ended, by its id.")
@click.option("-v", "--verbose", is_flag=True, help="Say what is done as it is done.")
def run_(*, env: Path | None, out: Path, dry_run: bool, resume: str, verbose: bool) -> None:
    """Run the bench as the variables say, and write JSON, CSV, TREC, events and a page that opens without a network.

    The environment has the last word over the file. Exit codes: 0 done, 1 done with failures that the report counts, 2 could
    not run: then every fault is named.
    """
    from clara.processes.preparation import running_container
    from clara_lab.bench.plan import read_plan
    from clara_lab.runner.data import estimates, read_data, sizes
    from clara_lab.runner.run import Output, run, told

    with running():
        plan = read_plan(env)
        if dry_run or verbose:
            click.echo("\n".join(f"{name}={value}" for name, value in plan.shown().items()))
        if dry_run:
            data = read_data(plan)
            click.echo("\n".join(["", sizes(data), *estimates(plan, data)]))
            return
        with running_container(read_settings(), say, prepare="schema") as services, _phases(verbose=verbose) as progress:
            record = run(services, plan, Output(out, resume), say, progress)
        click.echo(told(record))
        if record.totals["questions_with_failures"] or record.totals["unenriched"]:
            sys.exit(FINDINGS)


@bench.command()
@ENV
def variables(*, env: Path | None) -> None:
    """Write a .env with every variable, what it means, and its value: the usual one, or that of --env."""
    from clara_lab.bench.plan import RunPlan, as_environment, read_plan

    with running():
        click.echo(as_environment(read_plan(env) if env else RunPlan()), nl=False)


@bench.command()
@click.argument("source", type=click.Path(exists=True, path_type=Path))
@click.argument("target")
@ENV
@click.option("--name", default="", help="Name of the data set; usually that of the source.")
@click.option("--where", default="", help="Only questions with this field, as split=open.")
@click.option("--force", is_flag=True, help="Write over a data set that is there.")
def pack(*, source: Path, target: str, env: Path | None, name: str, where: str, force: bool) -> None:
    """Write a data set (BEIR, JSON Lines, HotpotQA, Parquet) as Parquet into a folder or to s3://BUCKET/PREFIX.

    The address and keys of the storage are those of MINIO_*, in --env or the environment.
    """
    from clara_lab.bench.plan import read_storage
    from clara_lab.runner.data import pack as write
    from clara_lab.runner.data import read_source

    with running():
        data = read_source(source, name or source.stem, where)
        place = write(data, target, read_storage(env), overwrite=force)
        click.echo(f"{place}: {len(data.documents)} documents, {len(data.questions)} questions, digest {data.digest[:12]}")


@bench.command()
@click.argument("first", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.argument("second", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.option("--html", type=click.Path(dir_okay=False, path_type=Path), help="Write a page, too.")
@click.option("--force", is_flag=True, help="Compare runs over different data, by the questions that both have.")
def compare(*, first: Path, second: Path, as_json: bool, html: Path | None, force: bool) -> None:
    """Say which questions changed side from one run to another, and whether the difference is more than chance."""
    from clara_lab.runner.run import compared

    with running():
        click.echo(compared(first, second, as_json=as_json, page=html, force=force))


@bench.command()
@ENV
@OUT
@click.option("--only", multiple=True, metavar="NAME", help="Only this one; may be given again.")
@click.option(
    "--environments",
    default="build/peers",
    show_default=True,
    type=click.Path(file_okay=False, path_type=Path),
    help="Folder of the frameworks' own virtual environments.",
)
@click.option("--seconds", default=3600.0, show_default=True, type=click.FloatRange(min=1), help="Seconds for each.")
def peers(*, env: Path | None, out: Path, only: tuple[str, ...], environments: Path, seconds: float) -> None:
    """Search with what an engineer would pick instead, beside Clara's strategies: one table as Markdown, CSV and JSON.

    Exit codes: 0 all measured, 1 some could not be (their rows say why), 2 could not run.
    """
    from clara.processes.preparation import running_container
    from clara_lab.bench.peers_table import peers_markdown
    from clara_lab.bench.plan import read_plan
    from clara_lab.runner.peers import PeerOptions, compare_peers

    with running():
        plan = read_plan(env)
        manner = PeerOptions(out, only, environments, seconds)
        with running_container(read_settings(), say, prepare="schema") as services, _phases(verbose=False) as progress:
            table = compare_peers(services, plan, manner, say, progress)
        click.echo(peers_markdown(table), nl=False)
        if any(outcome.timed is None for outcome in table.outcomes):
            sys.exit(FINDINGS)


@contextmanager
def _phases(*, verbose: bool) -> Iterator[Callable[[str, int, int], None]]:
    """Show progress on standard error: on one line to a person, a line a phase with -v."""
    shown, last = sys.stderr.isatty(), ""

    def report(what: str, done: int, total: int) -> None:
        nonlocal last
        if shown:
            click.echo(f"\r{what} {done}/{total} ", err=True, nl=done == total)
        elif verbose and (what != last or done == total):
            click.echo(f"{what} {done}/{total}", err=True)
        last = what

    yield report


@click.command()
def demo() -> None:
    """Start Clara as on WhatsApp, with a stand-in for Twilio that shows every reply."""
    from clara.processes.supervisor import up
    from clara.settings import DEMO_ACCOUNT, DEMO_TOKEN, SAMPLE_KEY
    from clara_lab.stand_ins.twilio_server import TakenMessage, TwilioStandIn

    def show(message: TakenMessage) -> None:
        say(f"\n── to {message.recipient} ─────────────────────────\n{message.body}\n")

    with running():
        settings = read_settings()
        environment = {
            "CLARA_CHANNEL": "twilio",
            "CLARA_PUBLIC_URL": f"http://{settings.clara_host}:{settings.port}",
            "TWILIO_ACCOUNT_SID": DEMO_ACCOUNT,
            "TWILIO_AUTH_TOKEN": DEMO_TOKEN,
            "CLARA_PSEUDONYM_KEY": SAMPLE_KEY,
            "CLARA_ADDRESS_KEY": SAMPLE_KEY,
        }
        serve = TwilioStandIn(DEMO_ACCOUNT, DEMO_TOKEN, show).serve
        up(settings, say, stand_in=lambda: {**environment, "TWILIO_API_URL": serve().url})


@click.command(name="stand-in")
@click.option("--port", type=click.IntRange(1, 65535), default=8001, show_default=True)
def stand_in_(port: int) -> None:
    """Run a stand-in for Twilio's REST API that prints every message it takes."""
    from clara.settings import DEMO_ACCOUNT, DEMO_TOKEN
    from clara_lab.stand_ins.twilio_server import TwilioStandIn

    with running():
        stand_in = TwilioStandIn(DEMO_ACCOUNT, DEMO_TOKEN, lambda taken: click.echo(f"to {taken.recipient}:\n{taken.body}\n"))
        said = f"TWILIO_API_URL={{url}} TWILIO_ACCOUNT_SID={DEMO_ACCOUNT} TWILIO_AUTH_TOKEN={DEMO_TOKEN}"
        stand_in.serve_until_interrupted(port, said)


@click.group(name="clara_lab", context_settings={"help_option_names": ["-h", "--help"]})
def cli() -> None:
    """Measure Clara, train her models, and imitate what she talks to.

    Exit codes: 0 fine, 1 findings, 2 could not run.
    """


for command in (bench, demo, stand_in_):
    cli.add_command(command)


def main() -> None:
    """Run the command line."""
    cli(prog_name="python -m clara_lab")
