"""Building what speaks of one version of the knowledge: its retrievers, its tools, its proof. They never mix two versions."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import date
from typing import TYPE_CHECKING

import structlog

from clara.answering.journey import Tools
from clara.answering.verification.prover import Prover
from clara.container.knowledge import Knowledge, read_calibration
from clara.container.lazily import Lazily
from clara.container.proof import prover
from clara.container.tooling import Toolbox
from clara.knowledge.keyword_tier import DIRECTORY, KEYWORD, directory, keyword
from clara.knowledge.passages import CORPUS, PROFILE
from clara.knowledge.retriever_wrappers import Flagged, dated, located, madrid_today, vouched, warned
from clara.retrieval.corpus_alias import Standing
from clara.retrieval.hybrid import TIER as HYBRID
from clara.retrieval.hybrid import by_vectors_of, hybrid
from clara.retrieval.metrics import measured
from clara.retrieval.passage import Found, Gather, Query, Retrieve
from clara.retrieval.ports import Embedder, IndexUnavailableError
from clara.retrieval.tiers import Tier, tiers
from clara.retrieval.validation import validated

if TYPE_CHECKING:
    from clara.container import Container

log = structlog.get_logger()


@dataclass(frozen=True, slots=True)
class Version:
    """One version of the knowledge: what is known, and which corpora are searched under which names (others: as served).

    `publication` is the number of what is served, None for what is not. `today` decides what is valid, `flagged` what is in
    doubt.
    """

    knowledge: Knowledge
    corpora: Mapping[str, str] = field(default_factory=dict)
    publication: int | None = None
    today: Callable[[], date] = madrid_today
    flagged: Flagged = dict

    @property
    def physical(self) -> str:
        """Give the corpus of Clara's own knowledge."""
        return self.corpora.get(CORPUS, CORPUS)


class Edition:
    """Everything that hangs on one version, each part built on first use."""

    def __init__(self, services: "Container", version: Version) -> None:
        self._services = services
        self.version = version
        self.knowledge: Lazily[Knowledge] = Lazily(lambda: version.knowledge)
        self.prover: Lazily[Prover] = Lazily(lambda: prover(version.knowledge, version.today))
        self.retriever: Lazily[Retrieve] = Lazily(self._build_retriever)
        self.safe_retriever: Lazily[Retrieve] = Lazily(self._build_safe_retriever)
        self._keyword: Lazily[Tier] = Lazily(self._build_keyword_tier)
        self.toolbox = Toolbox(services, self)
        self.tools: Lazily[Tools] = Lazily(lambda: self.toolbox.whole(self.retriever.get(), services.listener()))
        self.unaided_tools: Lazily[Tools] = Lazily(lambda: self.toolbox.unaided(self._build_unaided_retriever()))
        self.safe_tools: Lazily[Tools] = Lazily(lambda: self.toolbox.safe(self.safe_retriever.get()))

    def standing(self, name: str) -> Standing:
        """Give what stands behind a name in this version: always the same corpus, searched by the model that it has now."""
        physical = self.version.corpora.get(name)
        if physical is None:
            return self._services.standing(name)
        held = self._services.itself(physical)
        # A version that was dropped under a question that takes that long is no reason to find nothing.
        return held if held.version is not None else self._services.standing(name)

    def _by_model(self, build: Callable[[Embedder], Retrieve]) -> Retrieve:
        return self._services.by_served_model(build, self.standing)

    def _build_retriever(self) -> Retrieve:
        """Assemble the chain that the flags ask for; a part that is off is not built."""
        services = self._services
        searched = services.settings.rag_enabled and services.database_url is not None
        left_out = _out(services.outage) if services.settings.rag_enabled else None

        def build(embedder: Embedder) -> Retrieve:
            return self._wrapped(self._tiers(self._hybrid_tier(embedder) if searched else left_out), embedder)

        # Where keywords alone answer, too, what is remembered belongs to the corpus that is served.
        return self._finished(self._by_model(build) if services.database_url else build(services.embedder.get()))

    def _tiers(self, hybrid_tier: Tier | None) -> Retrieve:
        chain = [*([hybrid_tier] if hybrid_tier else []), self._keyword_tier(), self._directory_tier()]
        return tiers(chain if self._services.settings.rag_fallback_chain else chain[:1], _log_outage)

    def _wrapped(self, retrieve: Retrieve, embedder: Embedder) -> Retrieve:
        wrappers = self._services.wrappers
        return wrappers.caching(wrappers.translating(wrappers.policy(retrieve, embedder)), embedder)

    def tier(self, name: str) -> Retrieve:
        """Give one tier of the chain alone, for measuring it."""
        if name == HYBRID:
            return self._finished(self._by_model(lambda embedder: self._hybrid_tier(embedder).retrieve))
        return self._finished((self._keyword_tier() if name == KEYWORD else self._directory_tier()).retrieve)

    def _build_unaided_retriever(self) -> Retrieve:
        """Assemble the chain without any paid model, for whoever has used up the day's share of them.

        It remembers nothing: its results must not pass for those of the whole chain. A corpus that is searched by a paid
        embedder's vectors is answered from keywords.
        """
        services = self._services

        def build(embedder: Embedder) -> Retrieve:
            if embedder.model != services.embedder.get().model:
                return self._tiers(_out("left out, because the day's share of paid models is used up"))
            unaided = Tier(HYBRID, self._judged(services.gather(services.profile(PROFILE), embedder), embedder))
            return tiers([unaided, self._keyword_tier(), self._directory_tier()], _log_outage)

        return self._finished(self._by_model(build))

    def _build_safe_retriever(self) -> Retrieve:
        """Assemble the chain without database and model, for a message that keeps breaking the other one.

        The search that is left out counts as an outage: what it would have found is unknown.
        """
        left_out = _out("left out, because this message failed before")
        return self._finished(tiers([left_out, self._keyword_tier(), self._directory_tier()], _log_outage))

    def _finished(self, retrieve: Retrieve) -> Retrieve:
        """Keep a chain to what holds today where the person lives, as the catalogue says it; mark what is in doubt, measure."""
        version, services = self.version, self._services
        kept = located(dated(retrieve, version.today), version.knowledge.catalogue.places)
        marked = warned(vouched(kept, version.knowledge.passages), version.flagged)
        return validated(measured(marked, services.metrics) if services.settings.rag_metrics_enabled else marked)

    def _hybrid_tier(self, embedder: Embedder) -> Tier:
        services = self._services
        judged = self._judged(services.gather(services.profile(PROFILE), embedder), embedder)
        return Tier(HYBRID, services.wrappers.reranking(judged))

    def _judged(self, gather: Gather, embedder: Embedder) -> Retrieve:
        """Search and judge. The judgement hangs on what is understood, not on cosines, so it holds for any embedder."""
        knowledge = self.version.knowledge
        understand = knowledge.understand
        if embedder.model != knowledge.intent.embedder:
            understand = by_vectors_of(self._services.embedder.get(), understand)
        return hybrid(embedder, gather, read_calibration(HYBRID), understand)

    def variant(self, gather: Gather, wrap: Callable[[Retrieve], Retrieve]) -> Retrieve:
        """Give the hybrid tier over another search and wrapped otherwise, for measuring it."""
        return self._finished(wrap(self._judged(gather, self._services.embedder.get())))

    def _keyword_tier(self) -> Tier:
        return self._keyword.get()

    def _build_keyword_tier(self) -> Tier:
        knowledge = self.version.knowledge
        return Tier(KEYWORD, keyword(knowledge.passages, knowledge.understand, read_calibration(KEYWORD)))

    def _directory_tier(self) -> Tier:
        return Tier(DIRECTORY, directory(self.version.knowledge.passages))


def _out(reason: str) -> Tier:
    def refuse(_query: Query) -> Found:
        raise IndexUnavailableError(reason)

    return Tier(HYBRID, refuse)


def _log_outage(tier: str, error: IndexUnavailableError) -> None:
    log.warning("tier is out", tier=tier, error=str(error))
