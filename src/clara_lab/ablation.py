"""Comparing strategies, fusions, rerankers and policies on benchmarks: `make ablation`.

    python -m clara_lab.ablation --data FOLDER [--only BENCHMARK] [--variant NAME] [--out build/ablation]

Loads each benchmark's corpus (its vectors are remembered in the database, so a second run embeds nothing), asks every question
of every variant, and writes one table as Markdown and as a plot. Latencies leave out the embedding, which is the same for all.
"""

import resource
import sys
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import groupby
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import Any

import click
from matplotlib.figure import Figure

from clara.answering.snapshot import KnowledgeSnapshot
from clara.cli.command import running
from clara.container.corpora import Corpora
from clara.ingestion.journey import ingest
from clara.knowledge.passages import PROFILE
from clara.processes.preparation import ensure_corpus, running_container
from clara.quality.dataset import Question
from clara.quality.measures import MEASURES as OUTCOME_MEASURES
from clara.quality.measures import interval
from clara.quality.release import asking, completed, read_evaluation, run
from clara.retrieval.hybrid import hybrid
from clara.retrieval.options.policies import CONFIDENT, Policy, by_policy, subject_of
from clara.retrieval.options.rerankers import HeuristicReranker, HeuristicWeights, reranked
from clara.retrieval.passage import Query, Retrieve
from clara.retrieval.profile import Profile
from clara.settings import load_settings, resources
from clara_lab.bench.summary import Estimate, estimate
from clara_lab.benchmark import MEASURES, Benchmark, BenchmarkError, missing_files, read_benchmark
from clara_lab.templates import rendered

# As many as the largest k measured; MRR looks no further.
LIMIT = 20
# Questions asked before the clock counts; of fewer, all but the last.
WARMING = 5
CLARA_MEASURES = ("hit@1", "section_hit@1", "set_recall@3", "in_scope_answered", "refusal_recall", "auroc")
CANDIDATES = 20


Goals = Mapping[str, Mapping[str, float]]
PANEL_INCHES = (7.5, 0.28)
COLOUR, BEST_COLOUR, GOAL_COLOUR = "#8aa1b8", "#1f5fa8", "#c0392b"


@dataclass(frozen=True, slots=True)
class AblationRow:
    """One variant on one benchmark. Latencies are of one question, in milliseconds, memory is the process's peak in MB."""

    benchmark: str
    variant: str
    questions: int
    measures: Mapping[str, Estimate]
    p50: float
    p95: float
    memory: float


def markdown(rows: Sequence[AblationRow], goals: Goals) -> str:
    """Write one table a benchmark; the best of each measure is bold."""
    groups = _groups(rows)
    wanted = {name: ", ".join(f"{measure} {goal:.2f}" for measure, goal in goals.get(name, {}).items()) for name in groups}
    return rendered("ablation.md", groups=groups.items(), wanted=wanted).rstrip("\n") + "\n"


def plot(rows: Sequence[AblationRow], goals: Goals, folder: Path) -> None:
    """Draw each benchmark's first measure with its intervals, as PNG and SVG."""
    groups = _groups(rows)
    heights = [len(group) + 3 for group in groups.values()]
    figure = Figure(figsize=(PANEL_INCHES[0], PANEL_INCHES[1] * sum(heights)), layout="constrained")
    panels = figure.subplots(len(groups), 1, squeeze=False, gridspec_kw={"height_ratios": heights})
    for panel, (benchmark, group) in zip(panels[:, 0], groups.items(), strict=True):
        name = next(iter(group[0].measures))
        values = [row.measures[name] for row in group]
        best = max(value.mean for value in values)
        panel.barh(
            [row.variant for row in group],
            [value.mean for value in values],
            xerr=[[value.mean - value.low for value in values], [value.high - value.mean for value in values]],
            color=[BEST_COLOUR if value.mean == best else COLOUR for value in values],
            error_kw={"elinewidth": 0.8, "capsize": 2},
        )
        for place, value in enumerate(values):
            panel.annotate(f"{value.mean:.3f}", (0.005, place), va="center", fontsize=7, color="white", xycoords="data")
        if name in goals.get(benchmark, {}):
            panel.axvline(goals[benchmark][name], color=GOAL_COLOUR, linewidth=1, linestyle="--", label="goal")
            panel.legend(loc="lower right", fontsize=7)
        panel.invert_yaxis()
        panel.set_xlim(0, 1)
        panel.set_title(f"{benchmark}: {name}, 95 % interval", fontsize=9, loc="left")
        panel.tick_params(labelsize=7)
    for kind in ("png", "svg"):
        figure.savefig(folder / f"ablation.{kind}", dpi=150)


def _groups(rows: Sequence[AblationRow]) -> dict[str, list[AblationRow]]:
    """Give the rows of each benchmark, which stand together."""
    return {name: list(group) for name, group in groupby(rows, lambda row: row.benchmark)}


@dataclass(frozen=True, slots=True)
class Variant:
    """One way to search: what differs from the corpus's profile, and what is put around it.

    `only` names the benchmarks that it makes sense for; empty means all.
    """

    name: str
    change: Mapping[str, Any] = field(default_factory=dict)
    reranker: str = "none"
    policy: Policy = "none"
    only: Sequence[str] = ()

    def fits(self, benchmark: str) -> bool:
        """Whether to measure it on a benchmark."""
        return not self.only or benchmark in self.only


def read_variants(file: Path) -> list[Variant]:
    """Read the variants. Raises BenchmarkError."""
    try:
        return [Variant(**entry) for entry in tomllib.loads(file.read_text("utf-8"))["variant"]]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise BenchmarkError(f"{file}: {error}") from error


def wrapping(variant: Variant, profile: Profile, confidence: float) -> Callable[[Retrieve], Retrieve]:
    """Give what a variant puts around a retriever. `confidence` is enough for a policy to stop."""
    vocabulary = subject_of(profile, resources() / "data")

    def wrap(retrieve: Retrieve) -> Retrieve:
        if variant.reranker == "heuristic":
            retrieve = reranked(retrieve, HeuristicReranker(HeuristicWeights(curated=frozenset())), candidates=CANDIDATES)
        return by_policy(variant.policy, retrieve, vocabulary, confidence)

    return wrap


def measure(corpora: Corpora, benchmark: Benchmark, variant: Variant, progress: Callable[[int, int], None]) -> AblationRow:
    """Ask every question of a benchmark, and measure quality, latency and memory."""
    embedder = corpora.memorising_embedder(remember_queries=True)
    vectors = embedder.embed([question.text for question in benchmark.questions], "query")
    profile = corpora.profile(benchmark.profile)
    # Without a calibration nothing is ever confident, so a policy stops by what it grades.
    retrieve = wrapping(variant, profile, 1.0)(hybrid(embedder, corpora.gather(replace(profile, **variant.change)), None))
    corpus = benchmark.passages[0].corpus
    values: dict[str, list[float]] = {name: [] for name in benchmark.measures}
    spent: list[float] = []
    warming = min(WARMING, len(benchmark.questions) - 1)
    for number, (question, vector) in enumerate(zip(benchmark.questions, vectors, strict=True), 1):
        started = perf_counter()
        found = retrieve(Query(question.text, corpus, limit=LIMIT, vector=tuple(vector)))
        milliseconds = (perf_counter() - started) * 1000
        ranked = [hit.passage.document_id for hit in found.hits]
        for name in benchmark.measures:
            values[name].append(MEASURES[name](ranked, question.gold))
        if number > warming:
            spent.append(milliseconds)
        progress(number, len(benchmark.questions))
    estimates: dict[str, Estimate] = {name: estimate(of) for name, of in values.items()}
    return AblationRow(benchmark.name, variant.name, len(benchmark.questions), estimates, *_spent(spent))


def _spent(milliseconds: Sequence[float]) -> tuple[float, float, float]:
    """Give p50 and p95 of one question, and the peak of this process's memory in MB."""
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return median(milliseconds), sorted(milliseconds)[int(0.95 * len(milliseconds))], memory


def measure_clara(
    corpora: Corpora, snapshot: KnowledgeSnapshot, variant: Variant, questions: Sequence[Question]
) -> AblationRow:
    """Ask Clara's own development questions of a variant of her hybrid tier."""
    profile = corpora.profile(PROFILE)
    retrieve = snapshot.chains.variant(
        corpora.gather(replace(profile, **variant.change)), wrapping(variant, profile, CONFIDENT)
    )
    ask = asking(snapshot)
    texts = [question.query for question in questions]
    vectors = dict(zip(texts, corpora.memorising_embedder(remember_queries=True).embed(texts, "query"), strict=True))

    def with_vector(question: Question) -> Query:
        return replace(ask(question), vector=tuple(vectors[question.query]))

    with _bar(len(questions), f"clara: {variant.name}") as progress:
        outcomes = completed(questions, run(questions, retrieve, with_vector, progress))
    measures = {name: OUTCOME_MEASURES[name] for name in CLARA_MEASURES}
    estimates = {name: Estimate(of(outcomes) or 0.0, *(interval(of, outcomes) or (0.0, 0.0))) for name, of in measures.items()}
    spent = _spent([outcome.milliseconds for outcome in outcomes])
    return AblationRow("clara", variant.name, len(questions), estimates, *spent)


def load(corpora: Corpora, benchmark: Benchmark, progress: Callable[[int, int], None]) -> None:
    """Make the benchmark's corpus searchable; what was loaded before stays."""
    profile = corpora.profile(benchmark.profile)
    corpus = benchmark.passages[0].corpus
    ingest(corpus, benchmark.passages, corpora.passages(profile), corpora.memorising_embedder(), progress=progress)


@contextmanager
def _bar(total: int, label: str) -> Iterator[Callable[[int, int], None]]:
    with click.progressbar(length=total, label=f"{label:<44}", file=sys.stderr) as bar:
        yield lambda done, _total: bar.update(done - bar.pos)


def _check(given: Iterable[str], known: Iterable[str], option: str) -> None:
    if unknown := sorted(set(given) - set(known)):
        raise click.BadParameter(f"{', '.join(unknown)}; choose of {', '.join(known)}", param_hint=option)


@click.command()
@click.option("--data", required=True, type=click.Path(file_okay=False, path_type=Path), help="Folder of the data sets.")
@click.option("--only", multiple=True, help="Only this benchmark; may be repeated.")
@click.option("--variant", "wanted", multiple=True, help="Only this variant; may be repeated.")
@click.option("--questions", "most", type=click.IntRange(1), default=500, show_default=True, help="At most so many of each.")
@click.option("--out", default="build/ablation", show_default=True, type=click.Path(file_okay=False, path_type=Path))
def main(data: Path, only: tuple[str, ...], wanted: tuple[str, ...], most: int, out: Path) -> None:
    """Compare every variant on every benchmark; write the table and the plot."""
    with running():
        _compare(data, only, wanted, most, out)


def _compare(data: Path, only: Sequence[str], wanted: Sequence[str], most: int, out: Path) -> None:
    folder = resources() / "eval"
    benchmarks = {file.stem: file for file in sorted((folder / "benchmarks").glob("*.toml"))}
    known = {variant.name: variant for variant in read_variants(folder / "variants.toml")}
    _check(only, ["clara", *benchmarks], "--only")
    _check(wanted, known, "--variant")
    files = [file for name, file in benchmarks.items() if not only or name in only]
    variants = [variant for name, variant in known.items() if not wanted or name in wanted]
    if missing := missing_files(files, data):
        raise BenchmarkError(
            f"{data.absolute()} lacks {', '.join(missing)}. Fetch the data sets that {folder / 'benchmarks'} names and give "
            "their folder (make ablation DATA=FOLDER, or --data FOLDER), or leave them out with --only"
        )
    rows: list[AblationRow] = []
    goals: dict[str, Mapping[str, float]] = {}
    say = partial(click.echo, err=True)
    with running_container(load_settings(), say, prepare="schema") as container:
        if not only or "clara" in only:
            ensure_corpus(container, say)
            snapshot = container.snapshot()
            questions = [question for question in read_evaluation(snapshot) if question.split == "dev"]
            questions += read_evaluation(snapshot, folder / "clara" / "development.jsonl")
            rows += [measure_clara(container, snapshot, one, questions) for one in variants if one.fits("clara")]
            _write(out, rows, goals)
        for file in files:
            benchmark = read_benchmark(file, data).sampled(most)
            goals[benchmark.name] = benchmark.goals
            with _bar(len(benchmark.passages), f"{benchmark.name}: loading") as progress:
                load(container, benchmark, progress)
            for variant in (one for one in variants if one.fits(benchmark.name)):
                with _bar(len(benchmark.questions), f"{benchmark.name}: {variant.name}") as progress:
                    rows.append(measure(container, benchmark, variant, progress))
            _write(out, rows, goals)
    click.echo(markdown(rows, goals))


def _write(out: Path, rows: Sequence[AblationRow], goals: Goals) -> None:
    """Write what was measured so far: a run that is stopped keeps its finished benchmarks."""
    out.mkdir(parents=True, exist_ok=True)
    (out / "ablation.md").write_text(markdown(rows, goals), "utf-8")
    plot(rows, goals, out)


if __name__ == "__main__":
    main()
