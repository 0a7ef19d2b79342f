"""The data set of a run, the part of it that is used, and what the run would cost."""

from collections.abc import Iterator
from math import ceil
from pathlib import Path
from typing import Final

from platformdirs import user_cache_path

from clara_lab.bench.dataset import BenchData, BenchDataError, Subset, assemble, subset_of
from clara_lab.bench.formats import PARQUET, read_rows, recognise
from clara_lab.bench.plan import LOCAL, RunPlan
from clara_lab.parquet.files import read_folder, read_store, write
from clara_lab.parquet.storage import DatasetLocation, ObjectStore


def read_data(plan: RunPlan) -> BenchData:
    """Read what a plan works on. Raises BenchDataError."""
    if plan.in_storage:
        store = _store(plan, plan.minio_bucket_name)
        whole = read_store(plan.mteb_dataset_name, store, plan.s3_datasets_prefix, user_cache_path("clara") / "bench")
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
        return read_folder(name, source)
    field, _, value = where.partition("=")
    return assemble(name, read_rows(source, {field: value} if field else None))


def pack(data: BenchData, target: str, plan: RunPlan, *, overwrite: bool) -> DatasetLocation:
    """Write a data set as Parquet into a folder, or with s3://BUCKET/PREFIX into the plan's storage; give where it is.

    Raises BenchDataError.
    """
    place = DatasetLocation(target)
    if target.startswith("s3://"):
        bucket, _, prefix = target.removeprefix("s3://").partition("/")
        place = DatasetLocation(prefix, _store(plan, bucket))
    write(data, place, overwrite=overwrite)
    return place


def _store(plan: RunPlan, bucket: str) -> ObjectStore:
    keys = plan.minio_access_key.get_secret_value(), plan.minio_secret_key.get_secret_value()
    return ObjectStore(plan.minio_endpoint, bucket, *keys)


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


# Characters of a token, roughly, in the languages of Europe: an estimate for a bill, not a measure.
CHARACTERS: Final = 4
# Instructions around what a model is given, in tokens.
AROUND: Final = 150
ANSWER_TOKENS: Final = 100
VERDICTS: Final = 2


def sizes(data: BenchData) -> str:
    """Say how much a run works on."""
    relative = "; not the whole corpus: figures compare strategies on it, and nothing else" if data.relative_only else ""
    return f"{data.name}: {len(data.questions)} questions, {len(data.documents)} documents, digest {data.digest[:12]}{relative}"


def estimates(plan: RunPlan, data: BenchData) -> Iterator[str]:
    """Say, a line each, how often every part is asked and about how many tokens it reads and writes."""
    characters = sum(len(document.title) + len(document.text) for document in data.documents)
    asked = sum(len(question.text) for question in data.questions)
    texts = len(data.documents) + len(data.questions)
    batches = ceil(len(data.documents) / plan.embedding_batch_size) + ceil(len(data.questions) / plan.embedding_batch_size)
    where = "on this machine" if plan.embedding_model_name == LOCAL else f"{batches} requests"
    yield f"embedding ({plan.embedding_model_name}): {texts} texts, about {_tokens(characters + asked)} tokens, {where}"
    mean = characters / max(1, len(data.documents))
    if plan.enriches:
        read = len(data.documents) * AROUND + characters // CHARACTERS
        yield _of_model(plan, "enriching", len(data.documents), read, len(data.documents) * plan.retrieval_context_max_tokens)
    if plan.reranker_enabled:
        read = round(len(data.questions) * plan.candidates * mean / CHARACTERS)
        yield f"reranking ({plan.reranker_model_name}): {len(data.questions)} requests, about {read:,} tokens"
    if plan.generation_enabled:
        given = plan.reranker_top_n if plan.reranker_enabled else plan.retrieval_k
        context = given * mean
        if plan.generation_max_context_chars:
            context = min(context, plan.generation_max_context_chars)
        read = round(len(data.questions) * (AROUND + context / CHARACTERS))
        yield _of_model(plan, "answering", len(data.questions), read, len(data.questions) * ANSWER_TOKENS)
        if plan.judge_enabled and plan.served_llm:
            count = VERDICTS * len(data.questions)
            yield _of_model(plan, "judging", count, VERDICTS * read, count * ANSWER_TOKENS)


def _of_model(plan: RunPlan, part: str, requests: int, read: int, written: int) -> str:
    if not plan.served_llm:
        return f"{part} ({plan.llm_model_name}): {requests} texts, on this machine"
    return f"{part} ({plan.llm_model_name}): {requests} requests, about {read:,} tokens read and at most {written:,} written"


def _tokens(characters: int) -> str:
    return f"{characters // CHARACTERS:,}"
