"""Making the documents of a run searchable, as its strategy says. What was made before, by any run, is used again.

Clara's own search is also a peer among others: over documents and vectors that are given.
"""

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Final

from clara.adapters.postgres.corpus.passages import alone_with
from clara.container import Container
from clara.container.corpora import Corpora
from clara.ingestion.journey import ingest
from clara.logs import configure_logs
from clara.retrieval.hybrid import hybrid
from clara.retrieval.passage import Passage, Query, Retrieve, Status
from clara.retrieval.ports import Embedder, IndexUnavailableError, Role
from clara.retrieval.profile import Profile
from clara.settings import Settings
from clara_lab.bench.dataset import BenchData, BenchDocument
from clara_lab.bench.peers import Floats, PeerSetting
from clara_lab.bench.plan import CONTEXTUAL_HYBRID, PROFILE, SIMPLE_VECTOR, RunPlan, planned
from clara_lab.bench.writers import Enriched, Situate, enriched

# Corpora of the bench are told by this; `clara corpus list` shows them, `clara corpus drop` removes one.
PREFIX: Final = "bench-"
# Tells what is being done, how much of it is, and of how much.
Progress = Callable[[str, int, int], None]


@dataclass(frozen=True, slots=True)
class Situating:
    """What writes the sentences that situate passages: `name` is part of a corpus's identity."""

    name: str
    situate: Situate
    at_once: int


@dataclass(frozen=True, slots=True)
class Indexed:
    """A corpus that a run asks. `embedded` counts the vectors made now; `unenriched` says which passages lack a sentence."""

    corpus: str
    profile: Profile
    passages: int
    embedded: int
    unenriched: Mapping[str, str] = field(default_factory=dict)


def profile_of(corpora: Corpora, plan: RunPlan) -> Profile:
    """Give the weights of a strategy. Raises ProfileError.

    SIMPLE_VECTOR asks the vectors alone; CONTEXTUAL_HYBRID fuses both legs by reciprocal ranks. Their names stand for what
    `clara search --corpus` does with the corpus afterwards: search it as prose.
    """
    pool = max(plan.retrieval_pre_fusion_k, plan.candidates)
    usual = Profile("prose", language=plan.retrieval_bm25_language, pool=pool, strategy=plan.retrieval_order)
    if plan.retrieval_strategy == SIMPLE_VECTOR:
        return replace(usual, dense=1.0, lexical=0.0)
    if plan.retrieval_strategy == CONTEXTUAL_HYBRID:
        dense, lexical = plan.retrieval_vector_weight, plan.retrieval_bm25_weight
        return replace(usual, dense=dense, lexical=lexical, by_ranks=True, rank_constant=plan.retrieval_rrf_k)
    return replace(corpora.profile(plan.retrieval_strategy.removeprefix(PROFILE)), strategy=plan.retrieval_order)


def index(
    corpora: Corpora, plan: RunPlan, data: BenchData, embedder: Embedder, situating: Situating | None, progress: Progress
) -> Indexed:
    """Enrich, embed and store the documents, each as one passage, in one transaction.

    A corpus is known by everything that shapes it, so that a run of the same documents finds it whole. One that was killed left
    nothing but vectors that are remembered. Raises CorpusUnavailableError, EmbedderUnavailableError.
    """
    profile = profile_of(corpora, plan)
    corpus = corpus_of(data, embedder, situating, profile)
    passages = [passage_of(document, corpus, profile.language) for document in data.documents if document.text.strip()]
    store = corpora.passages(profile, embedder)
    with alone_with(corpora.engine, corpus, "load"):
        if len(store.stored(corpus).passages) == len(passages):
            return Indexed(corpus, profile, len(passages), 0)
        made = Enriched(tuple(passages), {})
        if situating is not None:
            told = partial(progress, "enriching")
            parents = parents_of(data.documents)
            made = enriched(passages, parents, situating.situate, at_once=situating.at_once, progress=told)
        if made.failures:  # not under the name of the whole one, which a later run would take for it
            corpus = f"{corpus}-{hashlib.sha256(''.join(sorted(made.failures)).encode()).hexdigest()[:8]}"
        report = ingest(
            corpus,
            [replace(passage, corpus=corpus) for passage in made.passages],
            store,
            corpora.memorising_embedder(embedder),
            progress=partial(progress, "embedding"),
        )
    return Indexed(corpus, profile, len(passages), report.embedded, made.failures)


def parents_of(documents: Sequence[BenchDocument]) -> dict[str, str]:
    """Give the text of the parent of each document that has one: that document, or else all pieces of it in their order."""
    pieces: dict[str, list[str]] = {}
    for document in documents:
        if document.parent:
            pieces.setdefault(document.parent, []).append(document.text)
    whole = {document.id: document.text for document in documents if document.id in pieces}
    texts = {parent: whole.get(parent) or "\n\n".join(parts) for parent, parts in pieces.items()}
    return {document.id: texts[document.parent] for document in documents if document.parent}


def corpus_of(data: BenchData, embedder: Embedder, situating: Situating | None, profile: Profile) -> str:
    """Name the corpus by all that shapes it: documents, model, sentences, names and language."""
    shaping = (embedder.model, situating.name if situating else "", str(profile.follows_names), profile.language)
    digest = hashlib.sha256("\n".join(shaping).encode())
    for document in data.documents:
        digest.update("\0".join((document.id, document.title, document.text, document.parent, "")).encode("utf-8", "replace"))
    return f"{PREFIX}{digest.hexdigest()[:32]}"


def passage_of(document: BenchDocument, corpus: str, language: str) -> Passage:
    """Make the one passage of a document."""
    # The title is indexed with the text, as a heading: measured better than the text alone (see Passage.indexed_text).
    return Passage(
        document.id, corpus, "bench", document.id, "", (document.title,) if document.title else (), document.text, language
    )


CORPUS = "peers"


class _GivenVectors:
    """Gives the vectors of the texts that are ingested; questions come with theirs."""

    model = "given"

    def __init__(self, dimensions: int) -> None:
        self.dimensions = dimensions
        self.known: dict[str, list[float]] = {}

    def embed(self, texts: Sequence[str], role: Role) -> list[list[float]]:
        """Give the known vectors."""
        del role
        return [self.known[text] for text in texts]


class OwnPeer:
    """A strategy of the bench without enrichment, asked through its HNSW index as `clara search` does."""

    def __init__(self, setting: PeerSetting) -> None:
        configure_logs()  # what happens goes to standard error, which is kept
        plan = planned({**setting.options, "RETRIEVAL_STRATEGY": setting.way}, whole=False)
        self._services = Container(Settings(), setting.url)
        self._services.migrate()
        self._profile = profile_of(self._services, plan)
        self._embedder = _GivenVectors(setting.dimensions)
        self._search: Retrieve = hybrid(self._embedder, self._services.gather(self._profile, self._embedder), None)

    def load(self, documents: Sequence[BenchDocument], vectors: Floats) -> None:
        """Ingest the documents, each as one passage."""
        passages = [passage_of(document, CORPUS, self._profile.language) for document in documents]
        texts = (passage.indexed_text for passage in passages)
        self._embedder.known = dict(zip(texts, vectors.tolist(), strict=True))
        ingest(CORPUS, passages, self._services.passages(self._profile, self._embedder), self._embedder)
        self._embedder.known = {}

    def search(self, text: str, vector: Sequence[float], limit: int) -> list[str]:
        """Search as the strategy says. Raises IndexUnavailableError when a part of it was out."""
        found = self._search(Query(text, CORPUS, limit=limit, vector=tuple(vector)))
        if found.outages or found.failures or found.status is Status.OUTAGE:
            raise IndexUnavailableError(f"not all of the search answered: {[*found.outages, *found.failures]}")
        return list(dict.fromkeys(hit.passage.document_id for hit in found.hits))

    def close(self) -> None:
        """Close the pool."""
        self._services.close()
