"""The variables of a run: all faults at once, secrets never shown, and a template that reads as the usual plan."""

from io import StringIO

import pytest
from dotenv import dotenv_values

from clara_lab.bench.plan import SECRETS, VARIABLES, PlanError, RunPlan, as_environment, planned

SEED = """
EMBEDDING_MODEL_NAME EMBEDDING_BASE_URL EMBEDDING_MODEL_TYPE EMBEDDING_BATCH_SIZE LLM_BASE_URL LLM_MODEL_NAME
NIM_MAX_CONCURRENT_REQUESTS NIM_REQUEST_TIMEOUT NIM_MAX_RETRIES RETRIEVAL_STRATEGY RETRIEVAL_K RETRIEVAL_PRE_FUSION_K
RETRIEVAL_RRF_K
RETRIEVAL_BM25_WEIGHT RETRIEVAL_VECTOR_WEIGHT RETRIEVAL_BM25_LANGUAGE RETRIEVAL_CONTEXT_MAX_TOKENS RETRIEVAL_CONTEXT_BATCH_SIZE
RERANKER_ENABLED RERANKER_BASE_URL RERANKER_MODEL_NAME RERANKER_TOP_N MTEB_DATASET_NAME EVAL_MAX_QUERIES EVAL_MAX_CORPUS
GENERATION_ENABLED GENERATION_MAX_CONTEXT_CHARS CORPUS_SHUFFLE_SEED DEV_MODE DEV_QUERIES DEV_CORPUS_SIZE MINIO_ENDPOINT
MINIO_ACCESS_KEY MINIO_SECRET_KEY MINIO_BUCKET_NAME S3_DATASETS_PREFIX
"""
SERVED = {
    "BENCH_DATA": "/data",
    "EMBEDDING_MODEL_NAME": "embed",
    "EMBEDDING_BASE_URL": "http://127.0.0.1:8000/v1",
    "LLM_MODEL_NAME": "write",
    "LLM_BASE_URL": "http://127.0.0.1:8001/v1",
}


def faults(**values: object) -> list[str]:
    with pytest.raises(PlanError) as raised:
        planned({"BENCH_DATA": "/data", **values})
    return str(raised.value).splitlines()


def test_every_variable_of_the_seed_is_known() -> None:
    """Who has a .env of the seed keeps it."""
    assert set(SEED.split()) <= set(VARIABLES)


def test_usual_values() -> None:
    """Without a service, and with data from here, nothing has to be set."""
    plan = planned({"BENCH_DATA": "/data"})
    assert not plan.served_llm
    assert not plan.in_storage
    assert (plan.retrieval_k, plan.candidates) == (20, 20)


def test_all_faults_are_named_at_once() -> None:
    """Unknown, wrong, contradictory and missing values, each in a line with its remedy."""
    told = faults(EMBEDING_BATCH_SIZE="5", RETRIEVAL_K="many", DEV_MODE="true", EVAL_MAX_CORPUS="3", RERANKER_ENABLED="yes")
    assert [line.partition(":")[0] for line in told] == [
        "RETRIEVAL_K", "EMBEDING_BATCH_SIZE", "RERANKER_BASE_URL", "RERANKER_MODEL_NAME", "DEV_MODE",
    ]  # fmt: skip
    assert told[1].endswith("do you mean EMBEDDING_BATCH_SIZE?")


@pytest.mark.parametrize(
    ("values", "named"),
    [
        ({"LLM_MODEL_NAME": "write"}, "LLM_BASE_URL"),
        ({"LLM_BASE_URL": "http://127.0.0.1/v1"}, "LLM_MODEL_NAME"),
        ({"EMBEDDING_MODEL_NAME": "embed"}, "EMBEDDING_BASE_URL"),
        ({"LLM_MODEL_NAME": "gemini-3"}, "GEMINI_API_KEY"),
        (
            {"EMBEDDING_MODEL_NAME": "gemini-e", "GEMINI_API_KEY": "k", "EMBEDDING_BASE_URL": "http://x/v1"},
            "EMBEDDING_BASE_URL",
        ),
        ({"MINIO_ENDPOINT": "http://127.0.0.1:9000"}, "BENCH_DATA"),
        ({"RETRIEVAL_BM25_WEIGHT": 0, "RETRIEVAL_VECTOR_WEIGHT": 0}, "RETRIEVAL_BM25_WEIGHT"),
        ({"RETRIEVAL_PRE_FUSION_K": 10}, "RETRIEVAL_PRE_FUSION_K"),
        ({"RETRIEVAL_STRATEGY": "VECTOR"}, "RETRIEVAL_STRATEGY"),
        ({"RETRIEVAL_STRATEGY": "PROFILE:"}, "RETRIEVAL_STRATEGY"),
        ({"BENCH_DATA_WHERE": "open"}, "BENCH_DATA_WHERE"),
        ({"NIM_REQUEST_TIMEOUT": "inf"}, "NIM_REQUEST_TIMEOUT"),
    ],
)
def test_contradictions(values: dict[str, object], named: str) -> None:
    """What does not go together, or lacks another variable, is named."""
    assert [line.partition(":")[0] for line in faults(**values)] == [named]


def test_storage_needs_its_four_variables() -> None:
    """Without data from here, all that the storage needs is missed at once."""
    with pytest.raises(PlanError) as raised:
        planned({})
    assert len(str(raised.value).splitlines()) == 4


def test_secrets_are_never_shown() -> None:
    """The report, the log and messages say whether a secret is set, and nothing of it."""
    values = dict.fromkeys(SECRETS, "a-secret")
    plan = planned({**values, "BENCH_DATA": "/data"})
    assert "a-secret" not in str(plan.shown()) + as_environment(plan) + repr(plan)
    assert all(plan.shown()[name] is True for name in SECRETS)
    with pytest.raises(PlanError) as raised:
        planned({"MINIO_SECRET_KEY": ["a-secret"]})
    assert "a-secret" not in str(raised.value)


def test_the_template_reads_as_what_it_was_written_from() -> None:
    """Every variable is in it, with what it means."""
    plan = planned({**SERVED, "RERANKER_TOP_N": "7"})
    values = dotenv_values(stream=StringIO(as_environment(plan)))
    assert set(values) == set(VARIABLES)
    assert planned({name: value for name, value in values.items() if value}) == plan


def test_a_part_of_a_run_needs_less() -> None:
    """Writing a data set needs the storage alone."""
    assert planned({"MINIO_ENDPOINT": "http://127.0.0.1:9000"}, whole=False).minio_endpoint == "http://127.0.0.1:9000"


def test_as_many_candidates_as_a_reranker_may_see() -> None:
    """Without one, as many as are measured."""
    reranking = {"RERANKER_ENABLED": "true", "RERANKER_BASE_URL": "http://x/v1", "RERANKER_MODEL_NAME": "r"}
    assert planned({"BENCH_DATA": "/data", **reranking}).candidates == 100
    assert planned({"BENCH_DATA": "/data", **reranking, "RETRIEVAL_PRE_FUSION_K": 30}).candidates == 30


def test_usual_plan_is_empty_but_valid() -> None:
    """The class alone gives every usual value."""
    assert RunPlan().embedding_model_name == "local"
