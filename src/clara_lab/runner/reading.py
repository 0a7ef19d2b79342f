"""Reading the data set of a run, from S3-compatible storage or from here, and choosing the part that is used."""

from pathlib import Path

from platformdirs import user_cache_path

from clara_lab.bench.assembling import assemble
from clara_lab.bench.dataset import BenchData, BenchDataError
from clara_lab.bench.formats import PARQUET, read_rows, recognise
from clara_lab.bench.plan import RunPlan
from clara_lab.bench.subset import Subset, subset_of
from clara_lab.datasets import read_parquet, read_stored


def read_data(plan: RunPlan) -> BenchData:
    """Read what a plan works on. Raises BenchDataError."""
    if plan.in_storage:
        whole = read_stored(plan, user_cache_path("clara") / "bench")
    else:
        whole = read_source(Path(plan.bench_data), plan.mteb_dataset_name, plan.bench_data_where)
    data = subset_of(whole, cut_of(plan))
    if not data.questions:
        where = f" with {plan.bench_data_where}" if plan.bench_data_where else ""
        raise BenchDataError(f"{plan.mteb_dataset_name}: has no question{where}; check BENCH_DATA_WHERE and EVAL_MAX_QUERIES")
    return data


def read_source(source: Path, name: str, where: str = "") -> BenchData:
    """Read a whole data set from a folder or file, whatever its format. Raises BenchDataError."""
    if not source.exists():
        raise BenchDataError(f"{source}: does not exist; set BENCH_DATA to the folder or file of the data")
    if recognise(source) == PARQUET:
        return read_parquet(name, source)
    field, _, value = where.partition("=")
    return assemble(name, read_rows(source, {field: value} if field else None))


def cut_of(plan: RunPlan) -> Subset:
    """Say which part a plan uses."""
    return Subset(
        shuffle_seed=None if plan.corpus_shuffle_seed < 0 else plan.corpus_shuffle_seed,
        max_questions=plan.eval_max_queries,
        max_documents=plan.eval_max_corpus,
        development=plan.dev_mode,
        development_questions=plan.dev_queries,
        development_documents=plan.dev_corpus_size,
    )
