"""The hybrid tier: one embedding, one statement, and a decision whether the evidence is good enough to show."""

from collections.abc import Callable, Sequence
from time import perf_counter

from clara.retrieval.calibration import Judge
from clara.retrieval.passage import Found, Hit, Query, Retrieve, Status
from clara.retrieval.ports import Embedder, HybridIndex, Vector

TIER = "pgvector"

Understand = Callable[[Query, Vector | None], Query]


def as_asked(query: Query, _vector: Vector | None) -> Query:
    """Understand nothing more than what the query says."""
    return query


def hybrid(embedder: Embedder, index: HybridIndex, judge: Judge, understand: Understand = as_asked) -> Retrieve:
    """Search by meaning and by words; keep the hits only when `judge` is confident enough of them."""

    def search(query: Query) -> Found:
        started = perf_counter()
        (vector,) = embedder.embed([query.text], "query")
        embedded = perf_counter()
        understood = understand(query, vector)
        ready = perf_counter()
        hits: Sequence[Hit] = index.search(understood, vector) if any(vector) else ()
        done = perf_counter()
        chance = judge.probability(understood, hits)
        timings = {
            "embed": (embedded - started) * 1000,
            "understand": (ready - embedded) * 1000,
            "search": (done - ready) * 1000,
        }
        if hits and chance >= judge.threshold:
            return Found(Status.FOUND, TIER, tuple(hits), timings_ms=timings, confidence=chance)
        # Where there was nothing to judge, as in a corpus that was never filled, a simpler tier may still know an answer.
        return Found(Status.NOT_FOUND, TIER, timings_ms=timings, confidence=chance if hits else None)

    return search
