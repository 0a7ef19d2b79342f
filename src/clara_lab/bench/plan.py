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

    embedding_model_name: Name = Field(LOCAL, description="Model that embeds; `local` is the bundled one.")
    embedding_base_url: Address = Field("", description="Where it is served, ending in /v1; empty for the bundled one.")
    embedding_model_type: Literal["asymmetric", "symmetric"] = Field(
        "asymmetric", description="Whether questions and passages are told apart (`input_type`)."
    )
    embedding_batch_size: int = Field(5, ge=1, le=2048, description="Texts in one request, and in one step of a load.")

    llm_base_url: Address = Field("", description="Where the writing model is served, ending in /v1.")
    llm_model_name: Name = Field(
        EXTRACTIVE, description="Model that writes, enriches and judges; `extractive` needs no service."
    )
    nim_api_key: SecretStr = Field(SecretStr(""), description="Bearer token of the served models; from the environment.")
    gemini_api_key: SecretStr = Field(SecretStr(""), description="Key of Gemini; from the environment.")
    gemini_base_url: Address = Field("", description="Another address than Google's, for a gateway or a stand-in.")
    nim_max_concurrent_requests: int = Field(32, ge=1, le=512, description="Requests under way at the same time.")
    nim_request_timeout: float = Field(120.0, gt=0, le=3600, description="Seconds for one request.")
    nim_max_retries: int = Field(3, ge=0, le=20, description="Tries after the first one.")

    retrieval_strategy: Name = Field(
        SIMPLE_VECTOR, description="SIMPLE_VECTOR, CONTEXTUAL_HYBRID, or PROFILE:<name of data/profiles.json>."
    )
    retrieval_order: Literal["hybrid", "similarity", "mmr", "boosted", "rrf"] = Field(
        "hybrid", description="What orders the candidates: the fused score, or another of the engine's strategies."
    )
    retrieval_policy: Literal["none", "self", "corrective", "adaptive"] = Field(
        "none", description="What is put around the search."
    )
    retrieval_k: int = Field(20, ge=1, le=100, description="Documents that the retrieval measures are of.")
    retrieval_pre_fusion_k: int = Field(
        150, ge=1, le=1000, description="Candidates of each leg before fusion; at most 100 of them go to the reranker."
    )
    retrieval_rrf_k: int = Field(60, ge=1, le=10_000, description="Constant of reciprocal rank fusion.")
    retrieval_bm25_weight: Share = Field(0.5, description="Weight of the words in the fusion.")
    retrieval_vector_weight: Share = Field(0.5, description="Weight of the vectors in the fusion.")
    retrieval_bm25_language: str = Field("en", pattern=r"^[a-z]{2,4}$", description="Language whose word forms are joined.")
    retrieval_exact: bool = Field(
        True, description="Compare every vector, so that two runs give the same ids; `false` asks the HNSW index."
    )
    retrieval_context_max_tokens: int = Field(150, ge=1, le=2000, description="Tokens of the sentence that situates a passage.")
    retrieval_context_batch_size: int = Field(10, ge=1, le=512, description="Passages enriched at the same time.")

    reranker_enabled: bool = Field(False, description="Whether a reranker orders the candidates.")
    reranker_base_url: Address = Field("", description="Where it is served, ending in /v1.")
    reranker_model_name: str = Field("", max_length=200, description="Model that reranks.")
    reranker_top_n: int = Field(5, ge=1, le=100, description="Documents that generation is given after reranking.")

    mteb_dataset_name: str = Field("hotpotqa", pattern=r"^[A-Za-z0-9._-]{1,100}$", description="Name of the data set.")
    bench_data: str = Field("", max_length=1000, description="Folder or file of the data; empty: the S3 storage below.")
    bench_data_where: str = Field("", max_length=200, description="Only questions with this field, as `split=open`.")
    eval_max_queries: Many = Field(ALL, description="Questions at most; 0 all.")
    eval_max_corpus: Many = Field(ALL, description="Documents at most; 0 all.")
    corpus_shuffle_seed: int = Field(42, ge=-1, description="Shuffles before cutting; -1 keeps the order.")
    dev_mode: bool = Field(False, description="A small run: all right documents of some questions, and distractors.")
    dev_queries: int = Field(200, ge=1, description="Questions of a small run.")
    dev_corpus_size: int = Field(4000, ge=1, description="Documents of a small run.")

    generation_enabled: bool = Field(True, description="Whether answers are written and measured.")
    generation_max_context_chars: Many = Field(
        ALL, description="Characters given to the writer; 0: as many as the model says that it reads."
    )
    judge_enabled: bool = Field(True, description="Whether a served model judges faithfulness and use of the context.")

    minio_endpoint: Address = Field("", description="Address of the S3-compatible storage.")
    minio_access_key: SecretStr = Field(SecretStr(""), description="Its access key; from the environment.")
    minio_secret_key: SecretStr = Field(SecretStr(""), description="Its secret key; from the environment.")
    minio_bucket_name: str = Field("", max_length=63, description="Bucket of the data sets.")
    s3_datasets_prefix: str = Field("datasets/evaluation", max_length=500, description="Folder of the data sets in it.")

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
    given = {name.upper(): value for name, value in values.items()}
    faults: dict[str, str] = {}
    try:
        plan = RunPlan.model_validate(given)
    except ValidationError as error:
        for fault in error.errors(include_url=False, include_input=False):
            name = str(fault["loc"][0])
            faults[f"{name} {fault['msg']}"] = _told(name, fault)
            given.pop(name, None)
        plan = RunPlan.model_validate(given)
    wrong = {key.partition(" ")[0] for key in faults}
    told = [*faults.values()]
    if whole:
        told += [fault for fault in contradictions(plan) if not any(name in fault for name in wrong)]
    if told:
        raise PlanError("\n".join(told))
    return plan


def _told(name: str, fault: Any) -> str:  # noqa: ANN401  pydantic's error is a TypedDict with optional keys
    if fault["type"] == "extra_forbidden":
        near = get_close_matches(name, VARIABLES, 1, 0.6)
        return f"{name}: there is no such variable; {f'do you mean {near[0]}?' if near else 'remove it'}"
    return f"{name}: {str(fault['msg']).removeprefix('Value error, ')}"


def contradictions(plan: RunPlan) -> Iterator[str]:
    """Say which variables do not go together, or lack another one, and what to do."""
    yield from _of_data(plan)
    yield from _of_model(plan, "EMBEDDING", plan.embedding_model_name, plan.embedding_base_url, LOCAL)
    yield from _of_model(plan, "LLM", plan.llm_model_name, plan.llm_base_url, EXTRACTIVE)
    if plan.reranker_enabled:
        yield from _missing(plan, ("reranker_base_url", "reranker_model_name"), "RERANKER_ENABLED to false")
    if plan.dev_mode and (plan.eval_max_queries or plan.eval_max_corpus):
        yield "DEV_MODE: contradicts EVAL_MAX_QUERIES and EVAL_MAX_CORPUS; set these to 0, or DEV_MODE to false"
    if not (plan.retrieval_bm25_weight or plan.retrieval_vector_weight):
        yield "RETRIEVAL_BM25_WEIGHT: with RETRIEVAL_VECTOR_WEIGHT 0 as well nothing is searched; raise one"
    if plan.retrieval_pre_fusion_k < plan.retrieval_k:
        yield "RETRIEVAL_PRE_FUSION_K: smaller than RETRIEVAL_K; raise it, or lower RETRIEVAL_K"


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
    yield from (f"{name.upper()}: missing; set it, or {otherwise}" for name in names if not getattr(plan, name))


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
    given: Mapping[str, Any] = {}
    try:
        if file and file.suffix == ".toml":
            given = tomllib.loads(file.read_text("utf-8"))
        elif file:
            with file.open(encoding="utf-8") as opened:
                given = dotenv_values(stream=opened)
    except OSError as error:
        remedy = f"`python -m clara_lab bench variables > {file}` writes a template"
        raise PlanError(f"{file}: {error.strerror}; {remedy}") from error
    except (UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise PlanError(f"{file}: {error}; write it as UTF-8, a variable a line") from error
    held = {name.upper(): value for name, value in given.items() if value is not None and value != ""}
    return {**held, **environment_of(VARIABLES)}
