"""Asking questions about a folder of programs, and measuring how often the right function or class comes up.

    python -m clara_lab.code_search [--code src/clara] [--questions eval/code/queries.jsonl] [--profile programs]

Loads the folder as the corpus `bench-code` (what did not change is not embedded again) and asks every question; each has the
ids of the units that answer it; what a file says as a whole is not searched. `tuning` are the questions on which weights may
be chosen, the others tell what they are worth.
"""

import json
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import get_args

import click

from clara.container.corpora import Corpora
from clara.data_files import record
from clara.errors import MENDABLE
from clara.ingestion.chunks import Cutting
from clara.ingestion.corpora import Programs, load_programs
from clara.ingestion.programs import UNITS
from clara.processes.commands import build_search
from clara.processes.preparation import running_container
from clara.retrieval.options.policies import Policy
from clara.retrieval.search import CorpusSearch, SearchChoice, found_json
from clara.settings import load_settings, resources
from clara_lab.bench.ranking import first_gold_rank, hit_at, reciprocal_rank
from clara_lab.bench.summary import estimate
from clara_lab.benchmark import BenchmarkError

CORPUS = "bench-code"
# Passages looked at; of one unit several may come, and they count as one.
LIMIT = 20
# An answer below this place is a miss: the goal is hit@3.
SEEN = 3


@dataclass(frozen=True, slots=True)
class CodeQuestion:
    """A question about programs, and the units that answer it; any of them will do."""

    id: str
    question: str
    language: str
    split: str
    gold: frozenset[str]


MEASURES = {"hit@1": hit_at(1), "hit@3": hit_at(3), "MRR": reciprocal_rank}


def read_questions(file: Path) -> list[CodeQuestion]:
    """Read {"id", "question", "language", "split", "gold"} from each line. Raises BenchmarkError."""
    try:
        lines = [json.loads(line) for line in file.read_text("utf-8").split("\n") if line.strip()]
        return [record(CodeQuestion, line, gold=frozenset) for line in lines]
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise BenchmarkError(f"{file}: {type(error).__name__}: {error}; restore the file from the repository") from error


def ask(search: CorpusSearch, corpus: str, wanted: CodeQuestion, policy: Policy) -> list[str]:
    """Give the units that one question finds, best first, each once."""
    found = found_json(search.find(wanted.question, SearchChoice(LIMIT, corpus, (UNITS,), policy=policy)))
    return list(dict.fromkeys(hit["passage_id"].partition("#")[0] for hit in found["hits"]))


def table(questions: Sequence[CodeQuestion], ranked: Sequence[Sequence[str]]) -> list[str]:
    """Give a line a split, and one for all, with each measure and its interval."""
    lines = []
    for split in ("all", *dict.fromkeys(one.split for one in questions)):
        pairs = [(found, one.gold) for one, found in zip(questions, ranked, strict=True) if split in {"all", one.split}]
        told = []
        for name, measure in MEASURES.items():
            value = estimate([measure(found, gold) for found, gold in pairs])
            told.append(f"{name} {value.mean:.3f} ({value.low:.3f}-{value.high:.3f})")
        lines.append(f"{split:10} {len(pairs):3}  {'  '.join(told)}")
    return lines


def missed(questions: Sequence[CodeQuestion], ranked: Sequence[Sequence[str]]) -> list[str]:
    """Name the questions whose answer is not among the first three, with its rank and what stands there."""
    lines = []
    for one, found in zip(questions, ranked, strict=True):
        rank = first_gold_rank(found, one.gold)
        if rank is None or rank > SEEN:
            lines.append(f"{one.id} ({one.split}) at {rank}: {one.question} -> {', '.join(found[:SEEN])}")
    return lines


def measure(corpora: Corpora, search: CorpusSearch, folder: Path, file: Path, *, profile: str, policy: Policy) -> list[str]:
    """Load a folder, ask every question of a file, and give the table and what was missed.

    Raises BenchmarkError when an answer is not in the folder, and what loading raises.
    """
    questions = read_questions(file)
    source, cutting = Programs(folder), Cutting()
    report, survey = load_programs(corpora, CORPUS, source, profile=profile, cutting=cutting, progress=_progress)
    click.echo("\n".join((str(report), *survey.lines())), err=True)
    known = {unit.place for unit in survey.units}
    if gone := sorted({name for one in questions for name in one.gold} - known):
        raise BenchmarkError(f"{file}: {', '.join(gone)} are not in {folder}; name the units that answer now")
    ranked = [ask(search, CORPUS, one, policy) for one in questions]
    return [*table(questions, ranked), *missed(questions, ranked)]


@click.command()
@click.option("--code", type=click.Path(exists=True, file_okay=False, path_type=Path), help="The folder; otherwise our own.")
@click.option("--questions", "file", type=click.Path(dir_okay=False, path_type=Path), help="JSON Lines of questions.")
@click.option("--profile", default="programs", show_default=True, help="How it is searched: a name of data/profiles.json.")
@click.option("--policy", type=click.Choice(get_args(Policy)), default="none", show_default=True)
def main(code: Path | None, file: Path | None, profile: str, policy: Policy) -> None:
    """Load a folder of programs, ask every question, and print how often the first and the first three answer it."""
    folder, asked = code or Path(__file__).parents[1], file or resources() / "eval" / "code" / "queries.jsonl"
    try:
        with running_container(load_settings(), lambda said: click.echo(said, err=True), prepare="schema") as container:
            click.echo("\n".join(measure(container, build_search(container), folder, asked, profile=profile, policy=policy)))
    except MENDABLE as error:
        raise click.ClickException(str(error)) from error


def _progress(done: int, total: int) -> None:
    sys.stderr.write(f"\rembedding {done}/{total} " + "\n" * (done == total))


if __name__ == "__main__":
    main()
