"""Who is compared: Clara's strategies, and what an engineer would pick instead, with what each needs."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from clara_lab.bench.peers import HYBRID, VECTOR
from clara_lab.bench.plan import CONTEXTUAL_HYBRID, PROFILE, SIMPLE_VECTOR, RunPlan

_PEERS: Final = "clara_lab.peers"
_OWN: Final = "clara_lab.runner.own:OwnPeer"
# Variables of a run that shape a strategy; none is a secret.
_SHAPING: Final = (
    "RETRIEVAL_K",
    "RETRIEVAL_PRE_FUSION_K",
    "RETRIEVAL_RRF_K",
    "RETRIEVAL_BM25_WEIGHT",
    "RETRIEVAL_VECTOR_WEIGHT",
    "RETRIEVAL_BM25_LANGUAGE",
)


class UnknownPeerError(Exception):
    """No contender has that name. The message lists those there are."""


@dataclass(frozen=True, slots=True)
class Contender:
    """One row. `target` is module:class of its Peer; `environment` the folder of its own Python, empty for Clara's.

    `distribution` is the package whose version is told, `requirements` what is installed for it, NumPy included where the
    process needs it to read vectors.
    """

    name: str
    about: str
    target: str
    way: str
    distribution: str
    requirements: tuple[str, ...]
    environment: str = ""
    options: Mapping[str, Any] = field(default_factory=dict)

    def python(self, environments: Path) -> Path | None:
        """Give the Python of its own environment, if there is one."""
        python = environments / self.environment / "bin" / "python"
        return python if self.environment and python.exists() else None

    def remedy(self, environments: Path) -> str:
        """Say what to run so that it is installed."""
        if not self.environment:
            return f"pip install {' '.join(self.requirements)}"
        folder = environments / self.environment
        quoted = " ".join(f"'{requirement}'" for requirement in self.requirements)
        return f"python3 -m venv {folder} && {folder}/bin/pip install {quoted}"


def _framework(name: str, module: str, requirement: str, ways: Mapping[str, str]) -> Sequence[Contender]:
    package = requirement.partition(">")[0]
    return [
        Contender(
            name if way == VECTOR else f"{name}-{way}",
            about,
            f"{_PEERS}.{module}",
            way,
            package,
            ("numpy>=2", "packaging>=24", requirement),
            name,
        )
        for way, about in ways.items()
    ]


# The versions that were measured are the lowest that are promised to work.
PEERS: Final = (
    Contender(
        "plain",
        "psycopg and pgvector by hand: HNSW, one statement",
        f"{_PEERS}.plain:PlainPeer",
        VECTOR,
        "pgvector",
        ("psycopg[binary]", "pgvector", "numpy"),
    ),
    *_framework(
        "langchain",
        "langchain:LangChainPeer",
        "langchain-postgres>=0.0.19",
        {VECTOR: "PGVectorStore, HNSW", HYBRID: "PGVectorStore, HNSW and tsvector, reciprocal ranks"},
    ),
    *_framework(
        "haystack",
        "haystack:HaystackPeer",
        "pgvector-haystack>=8.1",
        {
            VECTOR: "PgvectorEmbeddingRetriever, HNSW",
            HYBRID: "with PgvectorKeywordRetriever, DocumentJoiner by reciprocal ranks",
        },
    ),
    *_framework(
        "llama-index",
        "llama_index:LlamaIndexPeer",
        "llama-index-vector-stores-postgres>=0.9",
        {VECTOR: "PGVectorStore, HNSW", HYBRID: "default and sparse retriever, QueryFusionRetriever by relative score"},
    ),
)


def contenders(plan: RunPlan) -> tuple[Contender, ...]:
    """Give all rows: Clara's two strategies, the profile of RETRIEVAL_STRATEGY if it names one, and the peers."""
    ways = {SIMPLE_VECTOR: "vectors, HNSW", CONTEXTUAL_HYBRID: "vectors and BM25 by reciprocal ranks, nothing enriched"}
    if plan.retrieval_strategy.startswith(PROFILE):
        ways[plan.retrieval_strategy] = "vectors and BM25 as data/profiles.json weighs this kind of corpus"
    shown = plan.shown()
    options = {name: shown[name] for name in _SHAPING}
    own = (
        Contender(way, about, _OWN, way, "clara-tramites", ("clara-tramites",), options=options) for way, about in ways.items()
    )
    return (*own, *PEERS)


def chosen_from(all_: Sequence[Contender], only: Sequence[str]) -> Sequence[Contender]:
    """Give those that are named, all where none is. Raises UnknownPeerError."""
    names = {contender.name for contender in all_}
    if unknown := sorted(set(only) - names):
        raise UnknownPeerError(f"there is no {', '.join(unknown)}; choose from {', '.join(sorted(names))}")
    return [contender for contender in all_ if not only or contender.name in only]
