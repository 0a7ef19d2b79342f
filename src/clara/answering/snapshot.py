"""A knowledge snapshot: everything built from one version of the knowledge. Its parts never mix two versions."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import date

from clara.answering.journey import Tools
from clara.answering.texts import Texts
from clara.answering.tool_factory import ToolFactory, build_prover
from clara.answering.verification.prover import Prover
from clara.knowledge.knowledge_base import Knowledge, KnowledgeVersion
from clara.knowledge.retriever_chains import ChainParts, RetrieverChains
from clara.once import Once
from clara.retrieval.passage import Retrieve
from clara.retrieval.ports import Embedder


@dataclass(frozen=True, slots=True)
class SnapshotParts:
    """What snapshots of all versions are built with. `embedder` gives the bundled model, loaded when it is asked for."""

    chains: ChainParts
    tools: ToolFactory
    embedder: Callable[[], Embedder]


class KnowledgeSnapshot:
    """What answers from one version of the knowledge; each part is built on first use."""

    def __init__(self, version: KnowledgeVersion, parts: SnapshotParts) -> None:
        self.version = version
        self._parts = parts

    def of(self, version: KnowledgeVersion) -> "KnowledgeSnapshot":
        """Give the same of another version."""
        return KnowledgeSnapshot(version, self._parts)

    def on(self, day: date) -> "KnowledgeSnapshot":
        """Give the same on another day."""
        return self.of(replace(self.version, today=lambda: day))

    def embedding_by(self, embedder: Embedder) -> "KnowledgeSnapshot":
        """Give the same with another engine for the bundled model."""
        return KnowledgeSnapshot(self.version, replace(self._parts, embedder=lambda: embedder))

    @property
    def knowledge(self) -> Knowledge:
        """Give what is known."""
        return self.version.knowledge

    @property
    def texts(self) -> Texts:
        """Give the fixed texts."""
        return self._parts.tools.texts

    @property
    def embedder(self) -> Embedder:
        """Give what embeds for the bundled model."""
        return self._parts.embedder()

    @Once
    def chains(self) -> RetrieverChains:
        """Give what assembles chains of retrievers."""
        return RetrieverChains(self.version, self._parts.chains, self._parts.embedder)

    @Once
    def prover(self) -> Prover:
        """Give what proves replies against the facts they cite."""
        return build_prover(self.version)

    @Once
    def retriever(self) -> Retrieve:
        """Give the whole chain, as the settings ask for."""
        return self.chains.whole()

    @Once
    def safe_retriever(self) -> Retrieve:
        """Give the chain without database and model."""
        return self.chains.safe()

    @Once
    def tools(self) -> Tools:
        """Give the tools with every model that the settings ask for."""
        return self._parts.tools.whole(self.version, self.retriever, self._parts.embedder, lambda: self.prover)

    @Once
    def unaided_tools(self) -> Tools:
        """Give the tools without a served model."""
        return self._parts.tools.unaided(self.version, self.chains.unaided(), self._parts.embedder)

    @Once
    def safe_tools(self) -> Tools:
        """Give the tools without the embedder too, for a message that keeps breaking its worker."""
        return self._parts.tools.safe(self.version, self.safe_retriever)
