"""The command that measures: eval."""

import sys
from pathlib import Path

import click

from clara.cli.command import FILE, FINDINGS, opened, say, showing


@click.command(name="eval")
@click.option("--answers", is_flag=True, help="Judge whole answers by the suites of eval/answers instead of the search.")
@click.option("--suite", "suites", multiple=True, metavar="NAME", help="With --answers: only this suite; may be repeated.")
@click.option("--cases", type=FILE, help="With one --suite: judge this file.")
@click.option("--tier", type=click.Choice(["chain", "pgvector", "json_fallback", "directory_fallback"]), help="Default: chain.")
@click.option(
    "--split", type=click.Choice(["dev", "test", "all"]), default="all", show_default=True, help="Each has its own table."
)
@click.option("--category", help="Only the questions of this category; the gate does not apply then.")
@click.option("--compare", type=FILE, help="Show what changed side since.")
@click.option("--out", type=click.Path(file_okay=False, path_type=Path), help="Folder for the run: JSON, and CSV and TREC.")
@click.option("--json", "as_json", is_flag=True, help="Print one row a question or case as JSON instead of the tables.")
def evaluation(
    *,
    answers: bool,
    suites: tuple[str, ...],
    cases: Path | None,
    tier: str | None,
    split: str,
    category: str | None,
    compare: Path | None,
    out: Path | None,
    as_json: bool,
) -> None:
    r"""Ask the questions of eval/clara, print the measures, and hold them against the gate.

    With --answers, run the suites of eval/answers on the real journey instead, and hold each group against its goal and its
    baseline. With --cases, run one suite (danger, near_miss, erasure, hostile, injections, pii or questions) over a file of
    your own, one JSON object a line, and name every case that failed. Exit codes: 0 passed, 1 fell short of the gate or of a
    goal, 2 could not run.

    \b
    Example: clara eval --answers --suite danger --cases danger.jsonl
    """
    if not answers:
        if suites or cases:
            raise click.UsageError("--suite and --cases need --answers.")
        _questions(tier, split, category, compare, out, as_json=as_json)
        return
    of_questions = {"--tier": tier, "--category": category, "--compare": compare}
    if strangers := [option for option, value in of_questions.items() if value is not None]:
        raise click.UsageError(f"{', '.join(strangers)} cannot be used with --answers.")
    if cases is not None and (len(suites) != 1 or split != "all"):
        raise click.UsageError("--cases needs one --suite, and has no splits.")
    _answers(suites, cases or split, out, as_json=as_json)


def _questions(
    tier: str | None, split: str, category: str | None, compare: Path | None, out: Path | None, *, as_json: bool
) -> None:
    from clara.processes.preparation import ensure_corpus
    from clara.quality.release import CHAIN, EvaluationChoice, gated, verdict, write_run

    choice = EvaluationChoice(tier or CHAIN, None if split == "all" else split, category)
    with opened() as container, showing("asking") as progress:
        ensure_corpus(container, say)
        tell = say if as_json else click.echo
        done = gated(container.snapshot(), choice, compare, tell, progress)
        if out is not None:
            write_run(out, choice.tier, done.outcomes)
        if as_json:
            click.echo(done.as_json())
        tell(verdict(done))
        if done.shortfalls:
            sys.exit(FINDINGS)


def _answers(suites: tuple[str, ...], asked: str | Path, out: Path | None, *, as_json: bool) -> None:
    from clara.processes.preparation import ensure_corpus
    from clara.quality.answers import answers_verdict, judge, write_answers
    from clara.quality.own_suites import judge_own

    with opened() as container, showing("judging") as progress:
        ensure_corpus(container, say)
        tell = say if as_json else click.echo
        if isinstance(asked, Path):
            done = judge_own(container.snapshot(), suites[0], asked, tell, progress)
        else:
            done = judge(container.snapshot(), suites, asked, tell, progress)
        if out is not None:
            write_answers(out, done)
        if as_json:
            click.echo(done.as_json())
        tell(answers_verdict(done))
        if done.shortfalls:
            sys.exit(FINDINGS)
