"""Clara's own search as a peer among others: one strategy of the bench over documents and vectors that are given."""

from collections.abc import Sequence

from clara.container import Container
from clara.ingestion.journey import ingest
from clara.logs import configure_logs
from clara.retrieval.hybrid import hybrid
from clara.retrieval.passage import Query, Retrieve, Status
from clara.retrieval.ports import IndexUnavailableError, Role
from clara.settings import Settings
from clara_lab.bench.dataset import BenchDocument
from clara_lab.bench.peers import Floats, PeerSetting
from clara_lab.bench.plan import planned
from clara_lab.runner.corpora import passage_of, profile_of

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
