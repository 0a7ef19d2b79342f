"""A knowledge snapshot: everything built from one version of the knowledge. Its parts never mix two versions."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import date
from threading import Lock
from time import perf_counter

import structlog

from clara.answering.journey import Tools
from clara.answering.ports import TextModel
from clara.answering.safety.danger import Danger
from clara.answering.texts import Texts
from clara.answering.tool_factory import build_prover, grounded_writer, tools_from_data
from clara.answering.verification.prover import Prover
from clara.answering.voice_notes import Listener
from clara.answering.writing.extractive import ExtractiveWriter
from clara.answering.writing.frame import Framing
from clara.data_files import DataError
from clara.ingestion.ports import CorpusUnavailableError
from clara.knowledge.knowledge_base import Knowledge, KnowledgeVersion
from clara.knowledge.retriever_chains import ChainParts, RetrieverChains
from clara.once import Once
from clara.retrieval.classifier import vectors_for
from clara.retrieval.passage import Retrieve
from clara.retrieval.ports import Embedder
from clara.retrieval.served_corpora import Standing

log = structlog.get_logger()


@dataclass(frozen=True, slots=True)
class SnapshotParts:
    """What snapshots of all versions are built with. `embedder` gives the bundled model, loaded when it is asked for.

    `text_model` gives what writes answers, None for the extractive writer alone; `listener` what hears voice notes.
    """

    chains: ChainParts
    embedder: Callable[[], Embedder]
    texts: Texts
    danger: Danger
    human_contact: str | None
    text_model: Callable[[], TextModel | None]
    listener: Callable[[], Listener | None]


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
        return self._parts.texts

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
        """Give the tools with every model that the settings ask for; what proves is built only where one writes."""
        tools = replace(self._embedding(self.retriever), listener=self._parts.listener())
        model = self._parts.text_model()
        if model is None:
            return tools
        return replace(tools, writer=grounded_writer(self.knowledge, self._writer, tools.detector, self.prover, model))

    @Once
    def unaided_tools(self) -> Tools:
        """Give the tools without a served model."""
        return self._embedding(self.chains.unaided())

    @Once
    def safe_tools(self) -> Tools:
        """Give the tools without the embedder too, for a message that keeps breaking its worker."""
        return self._safe(self.safe_retriever)

    @Once
    def _writer(self) -> ExtractiveWriter:
        knowledge, version = self.knowledge, self.version
        framing = Framing(self.texts, knowledge.names, knowledge.passages, version.today, version.flagged, knowledge.next_steps)
        authorities = {name: procedure.authority for name, procedure in knowledge.catalogue.procedures.items()}
        return ExtractiveWriter(framing, authorities)

    def _safe(self, retrieve: Retrieve) -> Tools:
        """Build the tools without the embedder. What hangs on the text of facts is the version's own."""
        knowledge, parts = self.knowledge, self._parts
        base = tools_from_data(knowledge.base, parts.texts, parts.danger, parts.human_contact)
        procedures = knowledge.catalogue.procedures
        own = replace(base.dialogue.reaching, framing=self._writer.framing, procedures=procedures)
        dialogue = replace(base.dialogue, reaching=own)
        return replace(base, retrieve=retrieve, writer=self._writer, dialogue=dialogue)

    def _embedding(self, retrieve: Retrieve) -> Tools:
        tools, embedder = self._safe(retrieve), self._parts.embedder
        return replace(
            tools,
            guard=replace(tools.guard, vector=vectors_for(tools.guard.danger.model, embedder)),
            rights=replace(tools.rights, vector=vectors_for(tools.rights.model, embedder)),
            scope=replace(tools.scope, vector=vectors_for(tools.scope.model, embedder)),
        )


class ServedSnapshots:
    """Gives the snapshot of what is served, which one exchange with the database (`standing`) finds out.

    Whoever comes first after a switch builds the new one, and those who come meanwhile wait for it: nobody who asks after a
    switch is answered from before. While the database is away, what was known last is spoken; at first data/ alone (`build`
    of None).
    """

    def __init__(self, standing: Callable[[], Standing | None], build: Callable[[Standing | None], KnowledgeSnapshot]) -> None:
        self._standing = standing
        self._build = build
        self._lock = Lock()
        self._held: KnowledgeSnapshot | None = None

    def current(self) -> KnowledgeSnapshot:
        """Give the snapshot of what is served now; whoever got it keeps it to the end of what they do."""
        standing = self._standing()
        held = self._held
        if held is not None and (standing is None or _serves(held, standing)):
            return held
        with self._lock:
            if self._held is None or (standing is not None and not _serves(self._held, standing)):
                self._held = self._renewed(self._held, standing)
            return self._held

    def _renewed(self, held: KnowledgeSnapshot | None, standing: Standing | None) -> KnowledgeSnapshot:
        """Build the snapshot of what stands there; the one that is held, or data/ alone, where that cannot be read."""
        started = perf_counter()
        try:
            made = self._build(standing)
            if held is not None:
                _ = made.tools  # built before the first turn asks
        except (CorpusUnavailableError, DataError) as error:
            log.warning("knowledge not renewed", reason=str(error))
            return held or self._build(None)
        if held is not None:
            spent = round((perf_counter() - started) * 1000, 1)
            log.info("knowledge renewed", version=made.version.publication, total_ms=spent)
        return made


def _serves(held: KnowledgeSnapshot, standing: Standing) -> bool:
    return (held.version.physical, held.version.publication) == (standing.physical, standing.publication)
