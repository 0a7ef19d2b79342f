"""The chain of retrievers over one version of the knowledge: hybrid search, keywords, directory, and what wraps them."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from datetime import date
from pathlib import Path

import structlog

from clara.knowledge.keyword_tier import DIRECTORY, KEYWORD, directory, keyword
from clara.knowledge.knowledge_base import KnowledgeVersion
from clara.knowledge.passages import Flagged, marked
from clara.knowledge.places import Places
from clara.once import Once
from clara.retrieval.calibration import read_calibration
from clara.retrieval.hybrid import TIER as HYBRID
from clara.retrieval.hybrid import by_vectors_of, hybrid
from clara.retrieval.metrics import RetrievalMetrics, measured
from clara.retrieval.passage import Found, Gather, Hit, Passage, Query, Retrieve, Status
from clara.retrieval.ports import Embedder, IndexUnavailableError
from clara.retrieval.served_corpora import ServedCorpora, Standing
from clara.retrieval.tiers import Tier, tiers
from clara.retrieval.validation import validated

log = structlog.get_logger()


@dataclass(frozen=True, slots=True)
class ChainParts:
    """What the chains of all versions are made of.

    `gather` searches by an embedder's vectors. The whole chain does so when it is `searched`; else the search is out for the
    reason `outage`, or switched off where there is none. Without `fallback` the first tier answers alone. `rerank` orders what
    the search found, `wrap` stands around a chain. `metrics` counts, None for nothing.
    """

    data: Path
    corpora: ServedCorpora
    gather: Callable[[Embedder], Gather]
    searched: bool
    outage: str | None
    fallback: bool
    rerank: Callable[[Retrieve], Retrieve]
    wrap: Callable[[Retrieve, Embedder], Retrieve]
    metrics: RetrievalMetrics | None


class RetrieverChains:
    """Assembles chains over one version. `embedder` gives the bundled model; the chain without it does not ask for it."""

    def __init__(self, version: KnowledgeVersion, parts: ChainParts, embedder: Callable[[], Embedder]) -> None:
        self._version = version
        self._parts = parts
        self._embedder = embedder

    def whole(self) -> Retrieve:
        """Assemble the chain that the settings ask for; a part that is off is not built."""
        parts = self._parts
        left_out = [_out(parts.outage)] if parts.outage else []

        def build(embedder: Embedder) -> Retrieve:
            first = [self._hybrid(embedder)] if parts.searched else left_out
            chain = [*first, self._keyword, self._directory]
            # Where keywords alone answer, too, what is remembered belongs to the corpus that is served.
            return parts.wrap(tiers(chain if parts.fallback else chain[:1], _log_outage), embedder)

        return self._by_model(build)

    def unaided(self) -> Retrieve:
        """Assemble the chain without any paid model, for whoever has used up the day's share of them.

        It remembers nothing: its results must not pass for those of the whole chain. A corpus that is searched by a paid
        embedder's vectors is answered from keywords.
        """
        bundled = self._embedder().model

        def build(embedder: Embedder) -> Retrieve:
            if embedder.model == bundled:
                first = Tier(HYBRID, self._judged(self._parts.gather(embedder), embedder))
            else:
                first = _out("left out, because the day's share of paid models is used up")
            return tiers([first, self._keyword, self._directory], _log_outage)

        return self._by_model(build)

    def safe(self) -> Retrieve:
        """Assemble the chain without database and model, for a message that keeps breaking the other one.

        The search that is left out counts as an outage: what it would have found is unknown.
        """
        left_out = _out("left out, because this message failed before")
        return self._finished(tiers([left_out, self._keyword, self._directory], _log_outage))

    def tier(self, name: str) -> Retrieve:
        """Give one tier of the chain alone, for measuring it."""
        if name == HYBRID:
            return self._by_model(lambda embedder: self._hybrid(embedder).retrieve)
        return self._finished((self._keyword if name == KEYWORD else self._directory).retrieve)

    def variant(self, gather: Gather, wrap: Callable[[Retrieve], Retrieve]) -> Retrieve:
        """Give the hybrid tier over another search and wrapped otherwise, for measuring it."""
        return self._finished(wrap(self._judged(gather, self._embedder())))

    def _standing(self, name: str) -> Standing:
        """Give what stands behind a name in this version: always the same corpus, searched by the model that it has now."""
        corpora, physical = self._parts.corpora, self._version.corpora.get(name)
        if physical is None:
            return corpora.standing(name)
        held = corpora.itself(physical)
        # A version that was dropped under a question that takes that long is no reason to find nothing.
        return held if held.version is not None else corpora.standing(name)

    def _by_model(self, build: Callable[[Embedder], Retrieve]) -> Retrieve:
        return self._finished(self._parts.corpora.by_model(build, self._embedder(), self._standing))

    def _finished(self, retrieve: Retrieve) -> Retrieve:
        """Keep a chain to what holds today where the person lives, as the catalogue says it; mark what is in doubt, measure."""
        version, metrics = self._version, self._parts.metrics
        kept = located(dated(retrieve, version.today), version.knowledge.catalogue.places)
        marked = warned(vouched(kept, version.knowledge.passages), version.flagged)
        return validated(measured(marked, metrics) if metrics else marked)

    def _hybrid(self, embedder: Embedder) -> Tier:
        return Tier(HYBRID, self._parts.rerank(self._judged(self._parts.gather(embedder), embedder)))

    def _judged(self, gather: Gather, embedder: Embedder) -> Retrieve:
        """Search and judge. The judgement hangs on what is understood, not on cosines, so it holds for any embedder."""
        knowledge = self._version.knowledge
        understand = knowledge.understand
        if embedder.model != knowledge.intent.embedder:
            understand = by_vectors_of(self._embedder(), understand)
        return hybrid(embedder, gather, read_calibration(self._parts.data, HYBRID), understand)

    @Once
    def _keyword(self) -> Tier:
        knowledge = self._version.knowledge
        calibration = read_calibration(self._parts.data, KEYWORD)
        return Tier(KEYWORD, keyword(knowledge.passages, knowledge.understand, calibration))

    @Once
    def _directory(self) -> Tier:
        return Tier(DIRECTORY, directory(self._version.knowledge.passages))


def _out(reason: str) -> Tier:
    def refuse(_query: Query) -> Found:
        raise IndexUnavailableError(reason)

    return Tier(HYBRID, refuse)


def _log_outage(tier: str, error: IndexUnavailableError) -> None:
    log.warning("tier is out", tier=tier, error=str(error))


def warned(retrieve: Retrieve, flagged: Flagged) -> Retrieve:
    """Mark what is in doubt among what was found. Nothing is left out for it: a doubtful fact with its source is of use.

    It stands around whatever remembers results, because a flag is younger than they are.
    """

    def marking(query: Query) -> Found:
        found = retrieve(query)
        doubts = flagged()
        if not any(hit.passage.id in doubts for hit in found.known):
            return found
        hits, ended = (
            tuple(replace(hit, passage=marked(hit.passage, doubts)) for hit in part) for part in (found.hits, found.ended)
        )
        return replace(found, hits=hits, ended=ended)

    return marking


def located(retrieve: Retrieve, places: Places) -> Retrieve:
    """When the question names a place, look only for what holds there: in it, its province, its comunidad or the state."""

    def locating(query: Query) -> Found:
        place = places.territory_of(query.text)
        return retrieve(replace(query, territories=tuple(places.around(place.code))) if place else query)

    return locating


def dated(retrieve: Retrieve, today: Callable[[], date]) -> Retrieve:
    """Look only for what is true today; a corpus is filled once, and figures change at midnight.

    It stands around whatever remembers results, which remembers them by all that a query says.
    """
    return lambda query: retrieve(replace(query, today=today()))


def vouched(retrieve: Retrieve, passages: Iterable[Passage]) -> Retrieve:
    """Give every hit as the catalogue has it, with its own scores; leave out what the catalogue does not know.

    When it knows none of the evidence nothing was found, or it is an outage where a part could not be asked.
    """
    known = {passage.id: passage for passage in passages}

    def vouching(query: Query) -> Found:
        found = retrieve(query)
        hits, ended = _known(found.hits, known), _known(found.ended, known)
        if found.status is Status.FOUND and not (hits or ended):
            return replace(found, status=Status.OUTAGE if found.outages else Status.NOT_FOUND, hits=(), ended=())
        return replace(found, hits=hits, ended=ended)

    return vouching


def _known(hits: Iterable[Hit], known: dict[str, Passage]) -> tuple[Hit, ...]:
    """Keep of the row which corpus it stands in: the catalogue does not know under which name it is served."""
    told = ((hit, known[hit.passage.id]) for hit in hits if hit.passage.id in known)
    return tuple(replace(hit, passage=replace(passage, corpus=hit.passage.corpus)) for hit, passage in told)
