"""The hybrid tier: one embedding, one statement, and a decision whether the evidence is good enough to show."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from time import perf_counter
from typing import Any, Protocol

from clara.retrieval.calibration import Judge
from clara.retrieval.embedders import focused, vector_of
from clara.retrieval.passage import Found, Gather, Gathered, Hit, Query, Retrieve, Status
from clara.retrieval.ports import Embedder, EmbedderUnavailableError, Vector

TIER = "pgvector"

Understand = Callable[[Query, Vector | None], Query]


class HybridIndex(Protocol):
    """Searches the passages of a corpus by vector and by words at once."""

    def search(self, query: Query, vector: Vector) -> list[Hit]:
        """Give the best passages, best first; none for an unknown corpus. Raises IndexUnavailableError."""


def plainly(index: HybridIndex) -> Gather:
    """Search all collections of a corpus at once, with the vector that the query carries."""
    return lambda query: Gathered(tuple(index.search(query, query.vector or ())))


def as_asked(query: Query, _vector: Vector | None) -> Query:
    """Understand nothing more than what the query says."""
    return query


def by_vectors_of(embedder: Embedder, understand: Understand) -> Understand:
    """Understand by the vectors of the model that `understand` was trained on, whichever one searches.

    While that model is out, a question is understood by its letters alone.
    """

    def understood(query: Query, _vector: Vector | None) -> Query:
        try:
            vector, query = vector_of(replace(query, vector=None), embedder), focused(query, embedder)
        except EmbedderUnavailableError:
            return understand(replace(query, focused=()), None)
        return understand(query, vector)

    return understood


def hybrid(embedder: Embedder, gather: Gather, judge: Judge | None, understand: Understand = as_asked) -> Retrieve:
    """Search by meaning and by words; keep the hits only when `judge` is confident enough of them.

    A query that carries its vector is not embedded again, unless another model made it. Without a judge, as in a corpus that
    nobody calibrated, whatever is found is given, with no confidence.
    """

    def search(query: Query) -> Found:
        started = perf_counter()
        vector = vector_of(query, embedder)
        query = focused(query, embedder)
        after = perf_counter()
        understood = understand(query, vector)
        ready = perf_counter()
        gathered = gather(replace(understood, vector=tuple(vector), model=embedder.model)) if any(vector) else Gathered()
        done = perf_counter()
        hits = tuple(hit for hit in gathered.hits if not hit.ended)
        ended = tuple(hit for hit in gathered.hits if hit.ended)
        evidence = hits or ended  # where all that fits has ended, that is what there is to tell
        chance = judge.probability(understood, evidence) if judge else None
        timings = {
            "embed": (after - started) * 1000,
            "understand": (ready - after) * 1000,
            "search": (done - ready) * 1000,
        }
        trace = {**traced(understood, hits, judge, chance), "collections": dict(gathered.passed), **gathered.trace}
        if ended:
            trace["ended"] = [hit.passage.id for hit in ended]
        if evidence and (judge is None or (chance or 0.0) >= judge.threshold):
            found = Found(Status.FOUND, TIER, hits, (), timings, chance, relaxed=gathered.relaxed, trace=trace, ended=ended)
        else:
            # Where there was nothing to judge, as in a corpus that was never filled, a simpler tier may still know an answer.
            found = Found(Status.NOT_FOUND, TIER, (), (), timings, chance if evidence else None, trace=trace)
        return replace(found, likely=understood.likely, outside=understood.outside)

    return search


def traced(query: Query, hits: Sequence[Hit], judge: Judge | None, chance: float | None) -> dict[str, Any]:
    """Say as JSON what was understood, what each leg gave, and how it was judged; no word of the question."""
    trace: dict[str, Any] = {
        "understood": {
            "outside": query.outside,
            "documents": dict(query.documents),
            "sections": {f"{document}/{section}": weight for (document, section), weight in query.sections.items()},
            "passages": dict(query.passages),
        },
        "filters": {
            "territories": list(query.territories),
            "collections": list(query.collections),
            **{key: list(accepted) for key, accepted in query.filters.items()},
        },
        **({"today": query.today.isoformat()} if query.today else {}),
        "hits": [
            {
                "id": hit.passage.id,
                **{name: getattr(hit, name) for name in ("score", "cosine", "dense_rank")},
                "bm25": hit.lexical,
                **{name: getattr(hit, name) for name in ("lexical_rank", "linked", "coverage")},
            }
            for hit in hits
        ],
    }
    if judge is not None:
        trace["judged"] = {"confidence": chance, "threshold": judge.threshold, "evidence": judge.evidence(query, hits)}
    return trace
