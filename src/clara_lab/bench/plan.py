"""What a run of the bench is told: every variable by its name, checked together before anything is read or asked."""

import tomllib
from collections.abc import Iterable, Iterator, Mapping
from difflib import get_close_matches
from pathlib import Path
from typing import Annotated, Any, Final, Literal

from dotenv import dotenv_values
from pydantic import AliasGenerator, BaseModel, ConfigDict, Field, SecretStr, ValidationError, field_validator

from clara.errors import Invalid
from clara.settings import environment_of

# Where the numbers of questions and documents are not limited.
ALL: Final = 0
SIMPLE_VECTOR: Final = "SIMPLE_VECTOR"
CONTEXTUAL_HYBRID: Final = "CONTEXTUAL_HYBRID"
# Before the name of a profile of data/profiles.json: search as that kind of corpus is searched.
PROFILE: Final = "PROFILE:"
LOCAL: Final = "local"
EXTRACTIVE: Final = "extractive"
GEMINI: Final = "gemini-"


class PlanError(Invalid):
    """The configuration has faults. The message names every one, a line each, with the remedy."""


Name = Annotated[str, Field(min_length=1, max_length=200)]
Address = Annotated[str, Field(pattern=r"^(https?://\S+)?$", max_length=500)]
Share = Annotated[float, Field(ge=0, le=100, allow_inf_nan=False)]
Many = Annotated[int, Field(ge=0, le=10_000_000)]


class RunPlan(BaseModel):
    """One run. The names are those of the seed, in small letters here; what is empty is not used.

    Without EMBEDDING_BASE_URL the bundled embedder is used, without LLM_BASE_URL the extractive writer and enricher, which
    need no service; a model whose name begins with "gemini-" is asked through Gemini's own interface, with GEMINI_API_KEY.
    """

    model_config = ConfigDict(
        frozen=True,
        extra="forbid",
        hide_input_in_errors=True,
        alias_generator=AliasGenerator(validation_alias=str.upper, serialization_alias=str.upper),
    )

    embedding_model_name: Annotated[Name, Field(description="Model that embeds; `local` is the bundled one.")] = LOCAL
    embedding_base_url: Annotated[
        Address, Field(description="Where it is served, ending in /v1; empty for the bundled one.")
    ] = ""
    embedding_model_type: Annotated[
        Literal["asymmetric", "symmetric"], Field(description="Whether questions and passages are told apart (`input_type`).")
    ] = "asymmetric"
    embedding_batch_size: Annotated[
        int, Field(ge=1, le=2048, description="Texts in one request, and in one step of a load.")
    ] = 5

    llm_base_url: Annotated[Address, Field(description="Where the writing model is served, ending in /v1.")] = ""
    llm_model_name: Annotated[
        Name, Field(description="Model that writes, enriches and judges; `extractive` needs no service.")
    ] = EXTRACTIVE
    nim_api_key: Annotated[SecretStr, Field(description="Bearer token of the served models; from the environment.")] = (
        SecretStr("")
    )
    gemini_api_key: Annotated[SecretStr, Field(description="Key of Gemini; from the environment.")] = SecretStr("")
    gemini_base_url: Annotated[Address, Field(description="Another address than Google's, for a gateway or a stand-in.")] = ""
    nim_max_concurrent_requests: Annotated[int, Field(ge=1, le=512, description="Requests under way at the same time.")] = 32
    nim_request_timeout: Annotated[float, Field(gt=0, le=3600, description="Seconds for one request.")] = 120.0
    nim_max_retries: Annotated[int, Field(ge=0, le=20, description="Tries after the first one.")] = 3

    retrieval_strategy: Annotated[
        Name, Field(description="SIMPLE_VECTOR, CONTEXTUAL_HYBRID, or PROFILE:<name of data/profiles.json>.")
    ] = SIMPLE_VECTOR
    retrieval_order: Annotated[
        Literal["hybrid", "similarity", "mmr", "boosted", "rrf"],
        Field(description="What orders the candidates: the fused score, or another of the engine's strategies."),
    ] = "hybrid"
    retrieval_policy: Annotated[
        Literal["none", "self", "corrective", "adaptive"], Field(description="What is put around the search.")
    ] = "none"
    retrieval_k: Annotated[int, Field(ge=1, le=100, description="Documents that the retrieval measures are of.")] = 20
    retrieval_pre_fusion_k: Annotated[
        int, Field(ge=1, le=1000, description="Candidates of each leg before fusion; at most 100 of them go to the reranker.")
    ] = 150
    retrieval_rrf_k: Annotated[int, Field(ge=1, le=10_000, description="Constant of reciprocal rank fusion.")] = 60
    retrieval_bm25_weight: Annotated[Share, Field(description="Weight of the words in the fusion.")] = 0.5
    retrieval_vector_weight: Annotated[Share, Field(description="Weight of the vectors in the fusion.")] = 0.5
    retrieval_bm25_language: Annotated[
        str, Field(pattern=r"^[a-z]{2,4}$", description="Language whose word forms are joined.")
    ] = "en"
    retrieval_exact: Annotated[
        bool, Field(description="Compare every vector, so that two runs give the same ids; `false` asks the HNSW index.")
    ] = True
    retrieval_context_max_tokens: Annotated[
        int, Field(ge=1, le=2000, description="Tokens of the sentence that situates a passage.")
    ] = 150
    retrieval_context_batch_size: Annotated[int, Field(ge=1, le=512, description="Passages enriched at the same time.")] = 10

    reranker_enabled: Annotated[bool, Field(description="Whether a reranker orders the candidates.")] = False
    reranker_base_url: Annotated[Address, Field(description="Where it is served, ending in /v1.")] = ""
    reranker_model_name: Annotated[str, Field(max_length=200, description="Model that reranks.")] = ""
    reranker_top_n: Annotated[int, Field(ge=1, le=100, description="Documents that generation is given after reranking.")] = 5

    mteb_dataset_name: Annotated[str, Field(pattern=r"^[A-Za-z0-9._-]{1,100}$", description="Name of the data set.")] = (
        "hotpotqa"
    )
    bench_data: Annotated[
        str, Field(max_length=1000, description="Folder or file of the data; empty: the S3 storage below.")
    ] = ""
    bench_data_where: Annotated[str, Field(max_length=200, description="Only questions with this field, as `split=open`.")] = ""
    eval_max_queries: Annotated[Many, Field(description="Questions at most; 0 all.")] = ALL
    eval_max_corpus: Annotated[Many, Field(description="Documents at most; 0 all.")] = ALL
    corpus_shuffle_seed: Annotated[int, Field(ge=-1, description="Shuffles before cutting; -1 keeps the order.")] = 42
    dev_mode: Annotated[bool, Field(description="A small run: all right documents of some questions, and distractors.")] = False
    dev_queries: Annotated[int, Field(ge=1, description="Questions of a small run.")] = 200
    dev_corpus_size: Annotated[int, Field(ge=1, description="Documents of a small run.")] = 4000

    generation_enabled: Annotated[bool, Field(description="Whether answers are written and measured.")] = True
    generation_max_context_chars: Annotated[
        Many, Field(description="Characters given to the writer; 0: as many as the model says that it reads.")
    ] = ALL
    judge_enabled: Annotated[bool, Field(description="Whether a served model judges faithfulness and use of the context.")] = (
        True
    )

    minio_endpoint: Annotated[Address, Field(description="Address of the S3-compatible storage.")] = ""
    minio_access_key: Annotated[SecretStr, Field(description="Its access key; from the environment.")] = SecretStr("")
    minio_secret_key: Annotated[SecretStr, Field(description="Its secret key; from the environment.")] = SecretStr("")
    minio_bucket_name: Annotated[str, Field(max_length=63, description="Bucket of the data sets.")] = ""
    s3_datasets_prefix: Annotated[str, Field(max_length=500, description="Folder of the data sets in it.")] = (
        "datasets/evaluation"
    )

    @field_validator("retrieval_strategy")
    @classmethod
    def _known_strategy(cls, value: str) -> str:
        if value in {SIMPLE_VECTOR, CONTEXTUAL_HYBRID} or value.removeprefix(PROFILE) not in {"", value}:
            return value
        raise ValueError(f"give {SIMPLE_VECTOR}, {CONTEXTUAL_HYBRID} or {PROFILE}<name of data/profiles.json>")

    @property
    def in_storage(self) -> bool:
        """Whether the data are in S3-compatible storage."""
        return not self.bench_data

    @property
    def served_llm(self) -> bool:
        """Whether a model behind a network writes, enriches and judges."""
        return self.llm_model_name != EXTRACTIVE

    @property
    def enriches(self) -> bool:
        """Whether every passage gets a sentence that situates it."""
        return self.retrieval_strategy == CONTEXTUAL_HYBRID

    @property
    def candidates(self) -> int:
        """Documents that the search gives: for the reranker as many as it may see, else those that are measured."""
        return max(self.retrieval_k, min(self.retrieval_pre_fusion_k, 100)) if self.reranker_enabled else self.retrieval_k

    def shown(self) -> dict[str, Any]:
        """Give every variable by its name as JSON, without the secrets: whether each is set."""
        values = self.model_dump(mode="json", by_alias=True)
        return {name: bool(value) if name in SECRETS else value for name, value in values.items()}


SECRETS: Final = frozenset(name.upper() for name, field in RunPlan.model_fields.items() if "SecretStr" in str(field.annotation))
VARIABLES: Final = tuple(name.upper() for name in RunPlan.model_fields)


def planned(values: Mapping[str, Any], *, whole: bool = True) -> RunPlan:
    """Check all values together. Raises PlanError, which names all that is unknown, wrong, contradictory or missing.

    Not `whole`, they are for a part of a run: what is missing or contradictory is not looked for.
    """
    faults: list[str] = []
    plan = RunPlan()
    try:
        plan = RunPlan.model_validate({name.upper(): value for name, value in values.items()})
    except ValidationError as error:
        faults += [_told(str(fault["loc"][0]), fault) for fault in error.errors(include_url=False, include_input=False)]
        wrong = {str(fault["loc"][0]) for fault in error.errors(include_url=False, include_input=False)}
        rest = {name: value for name, value in values.items() if name.upper() not in wrong}
        plan = RunPlan.model_validate({name.upper(): value for name, value in rest.items()})
        faults += [fault for fault in contradictions(plan) if whole and not any(name in fault for name in wrong)]
    else:
        faults += contradictions(plan) if whole else ()
    if faults:
        raise PlanError("\n".join(faults))
    return plan


def _told(name: str, fault: Any) -> str:  # noqa: ANN401  pydantic's error is a TypedDict with optional keys
    if fault["type"] == "extra_forbidden":
        near = _nearest(name)
        return f"{name}: there is no such variable" + (f"; do you mean {near}?" if near else "; remove it")
    return f"{name}: {str(fault['msg']).removeprefix('Value error, ')}"


def _nearest(name: str) -> str:
    return next(iter(get_close_matches(name, VARIABLES, 1, 0.6)), "")


def contradictions(plan: RunPlan) -> Iterator[str]:
    """Say which variables do not go together, or lack another one, and what to do."""
    yield from _of_data(plan)
    yield from _of_model(plan, "EMBEDDING", plan.embedding_model_name, plan.embedding_base_url, LOCAL)
    yield from _of_model(plan, "LLM", plan.llm_model_name, plan.llm_base_url, EXTRACTIVE)
    if plan.reranker_enabled:
        yield from _missing(plan, ("reranker_base_url", "reranker_model_name"), "RERANKER_ENABLED to false")
    together = {
        "DEV_MODE: contradicts EVAL_MAX_QUERIES and EVAL_MAX_CORPUS; set these to 0, or DEV_MODE to false": plan.dev_mode
        and (plan.eval_max_queries or plan.eval_max_corpus),
        "RETRIEVAL_BM25_WEIGHT: with RETRIEVAL_VECTOR_WEIGHT 0 as well nothing is searched; raise one": not (
            plan.retrieval_bm25_weight or plan.retrieval_vector_weight
        ),
        "RETRIEVAL_PRE_FUSION_K: smaller than RETRIEVAL_K; raise it, or lower RETRIEVAL_K": plan.retrieval_pre_fusion_k
        < plan.retrieval_k,
    }
    yield from (fault for fault, found in together.items() if found)


def _of_data(plan: RunPlan) -> Iterator[str]:
    if plan.in_storage:
        storage = ("minio_endpoint", "minio_access_key", "minio_secret_key", "minio_bucket_name")
        yield from _missing(plan, storage, "BENCH_DATA to a folder or file with the data")
    elif plan.minio_endpoint:
        yield "BENCH_DATA: contradicts MINIO_ENDPOINT, data come from one place; unset one of them"
    if plan.bench_data_where and "=" not in plan.bench_data_where:
        yield "BENCH_DATA_WHERE: write it as field=value"


def _of_model(plan: RunPlan, part: str, name: str, address: str, usual: str) -> Iterator[str]:
    if name.startswith(GEMINI):
        if address:
            yield f"{part}_BASE_URL: contradicts {part}_MODEL_NAME {name}, a model of Gemini; unset it, or use GEMINI_BASE_URL"
        yield from _missing(plan, ("gemini_api_key",), f"{part}_MODEL_NAME to {usual}")
    elif name == usual and address:
        yield f"{part}_MODEL_NAME: missing; name the model that is served at {part}_BASE_URL"
    elif name != usual and not address:
        yield f"{part}_BASE_URL: missing; say where {name} is served, or set {part}_MODEL_NAME to {usual}"


def _missing(plan: RunPlan, names: Iterable[str], otherwise: str) -> Iterator[str]:
    yield from (f"{name.upper()}: missing; set it, or {otherwise}" for name in names if not _set(plan, name))


def _set(plan: RunPlan, name: str) -> bool:
    value = getattr(plan, name)
    return bool(value.get_secret_value() if isinstance(value, SecretStr) else value)


def as_environment(plan: RunPlan) -> str:
    """Write every variable with what it means and its value, as a .env file; secrets are left empty."""
    lines: list[str] = []
    for name, field in RunPlan.model_fields.items():
        value = "" if name.upper() in SECRETS else getattr(plan, name)
        shown = str(value).lower() if isinstance(value, bool) else str(value)
        lines += [f"# {field.description}", f"{name.upper()}={shown}", ""]
    return "\n".join(lines)


def read_plan(file: Path | None) -> RunPlan:
    """Read and check the variables of a run. Raises PlanError, which names every fault at once."""
    return planned(_values(file))


def read_storage(file: Path | None) -> RunPlan:
    """Read the variables of the storage alone, for writing a data set: what a run needs may be missing. Raises PlanError."""
    return planned({name: value for name, value in _values(file).items() if name.startswith("MINIO_")}, whole=False)


def _values(file: Path | None) -> dict[str, Any]:
    """Give what is set. An empty value in a file is one that is not, as the template leaves it."""
    values = _read(file) if file else {}
    given = {name.upper(): value for name, value in values.items() if value is not None and value != ""}
    return {**given, **environment_of(VARIABLES)}


def _read(file: Path) -> Mapping[str, Any]:
    try:
        if file.suffix == ".toml":
            return tomllib.loads(file.read_text("utf-8"))
        with file.open(encoding="utf-8") as opened:
            return dotenv_values(stream=opened)
    except OSError as error:
        raise PlanError(
            f"{file}: {error.strerror}; `python -m clara_lab bench variables > {file}` writes a template"
        ) from error
    except (UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise PlanError(f"{file}: {error}; write it as UTF-8, a variable a line") from error
