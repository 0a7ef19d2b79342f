"""The data set of a run, the part of it that is used, and what the run would cost."""

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import replace
from math import ceil
from pathlib import Path
from typing import Final

from platformdirs import user_cache_path

from clara_lab.bench.dataset import BenchData, BenchDataError, BenchDocument, BenchQuestion, Kept, assemble, digest_of
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
    data = subset_of(whole, plan)
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


def subset_of(data: BenchData, plan: RunPlan) -> BenchData:
    """Give the part of the data that a plan uses, with the digest of that part. Raises BenchDataError.

    DEV_MODE draws questions, keeps all documents that answer them, and fills up with others; the other limits mean nothing.

    Cutting the corpus may cut away documents that answer a question. Such a question stays, and so does its list of answering
    documents: recall counts what can no longer be found, as it would with a poor search. `origin` counts these questions.
    A corpus that is not whole is easier to search, so the result is marked `relative_only`.
    """
    documents = _shuffled(data.documents, plan.corpus_shuffle_seed, "document")
    questions = _shuffled(data.questions, plan.corpus_shuffle_seed, "question")
    if plan.dev_mode:
        questions, documents = _development(questions, documents, plan)
    else:
        questions = questions[: plan.eval_max_queries or None]
        documents = documents[: plan.eval_max_corpus or None]
    held = {document.id for document in documents}
    origin = {
        **data.origin,
        "shuffle_seed": "none" if plan.corpus_shuffle_seed < 0 else plan.corpus_shuffle_seed,
        "development": plan.dev_mode,
        "documents_of_source": len(data.documents),
        "questions_of_source": len(data.questions),
        "questions_missing_some_gold": sum(bool(question.gold - held) for question in questions),
        "questions_missing_all_gold": sum(bool(question.gold) and not question.gold & held for question in questions),
    }
    return replace(
        data,
        documents=tuple(documents),
        questions=tuple(questions),
        digest=digest_of(documents, questions),
        origin=origin,
        relative_only=data.relative_only or len(documents) < len(data.documents),
    )


def _shuffled(rows: Sequence[Kept], seed: int, kind: str) -> Sequence[Kept]:
    """Order by a digest of seed and id: the same for every order of the source, every release of Python and every size."""
    if seed < 0:
        return rows
    return sorted(rows, key=lambda row: (hashlib.sha256(f"{seed}/{kind}/{row.id}".encode()).digest(), row.id))


def _development(
    questions: Sequence[BenchQuestion], documents: Sequence[BenchDocument], plan: RunPlan
) -> tuple[Sequence[BenchQuestion], Sequence[BenchDocument]]:
    held = {document.id for document in documents}
    answerable = [question for question in questions if question.gold and question.gold <= held]
    drawn = answerable[: plan.dev_queries]
    gold = frozenset().union(*(question.gold for question in drawn))
    if not drawn:
        raise BenchDataError(
            "DEV_MODE found no question whose answering documents are all there; DEV_QUERIES must be 1 or more"
        )
    if len(gold) > plan.dev_corpus_size:
        raise BenchDataError(
            f"DEV_CORPUS_SIZE={plan.dev_corpus_size} is too small: {len(drawn)} questions are answered by {len(gold)} "
            f"documents; set DEV_CORPUS_SIZE to {len(gold)} or more, or lower DEV_QUERIES"
        )
    others = [document.id for document in documents if document.id not in gold]
    kept = gold | set(others[: plan.dev_corpus_size - len(gold)])
    return drawn, [document for document in documents if document.id in kept]


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
    tokens = (characters + sum(len(question.text) for question in data.questions)) // CHARACTERS
    texts = len(data.documents) + len(data.questions)
    batches = ceil(len(data.documents) / plan.embedding_batch_size) + ceil(len(data.questions) / plan.embedding_batch_size)
    where = "on this machine" if plan.embedding_model_name == LOCAL else f"{batches} requests"
    yield f"embedding ({plan.embedding_model_name}): {texts} texts, about {tokens:,} tokens, {where}"
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
