"""The hybrid tier: one embedding, one statement, and a decision whether the evidence is good enough to show."""

from collections.abc import Callable, Sequence
from time import perf_counter

from clara.retrieval.passage import Found, Hit, Query, Retrieve, Status
from clara.retrieval.ports import Embedder, HybridIndex

TIER = "pgvector"

Confident = Callable[[Query, Sequence[Hit]], bool]


def hybrid(embedder: Embedder, index: HybridIndex, confident: Confident) -> Retrieve:
    """Search by meaning and by words, and keep the hits only when `confident` accepts them."""

    def search(query: Query) -> Found:
        started = perf_counter()
        (vector,) = embedder.embed([query.text], "query")
        embedded = perf_counter()
        hits = tuple(index.search(query, vector)) if any(vector) else ()
        done = perf_counter()
        timings = {"embed": (embedded - started) * 1000, "search": (done - embedded) * 1000}
        if hits and confident(query, hits):
            return Found(Status.FOUND, TIER, hits, timings_ms=timings)
        return Found(Status.NOT_FOUND, TIER, timings_ms=timings)

    return search
