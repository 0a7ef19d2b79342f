"""How unlike each other the hits of a list are, and choosing them so that they are."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from clara.retrieval.passage import Hit


@dataclass(frozen=True, slots=True)
class Diversity:
    """How unlike each other hits are: 0 when all say the same, 1 when their vectors are at right angles (2 at most).

    `mean` is 1 - the mean cosine of all pairs. `least` is 1 - the highest, the figure that DevMatrix proposes: a single pair
    of twins takes it to 0, however different the rest.
    """

    mean: float
    least: float


def unit_vectors(hits: Sequence[Hit]) -> NDArray[np.float64]:
    """Give one row of length 1 for each hit; a row of zeros for the zero vector. Every hit must have a vector."""
    rows = np.array([hit.vector for hit in hits], dtype=np.float64) if hits else np.zeros((0, 0))
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    return rows / np.where(lengths > 0, lengths, 1.0)


def diversity(hits: Sequence[Hit]) -> Diversity | None:
    """Measure the hits that have a vector; None when there are fewer than two."""
    vectors = unit_vectors([hit for hit in hits if hit.vector is not None])
    pairs = (vectors @ vectors.T)[np.triu_indices(len(vectors), k=1)]
    return Diversity(mean=float(1 - pairs.mean()), least=float(1 - pairs.max())) if pairs.size else None


def diversified(candidates: Sequence[Hit], balance: float, limit: int, pool: int) -> list[Hit]:
    """Choose up to `limit` hits by maximal marginal relevance (Carbonell and Goldstein 1998), best first.

    From the `pool` candidates nearest to the question, each time the one with the highest balance * sim(question, it)
    - (1 - balance) * max sim(chosen, it); of equals the nearer, then the earlier. The similarity to the question is the hit's
    cosine, so nothing is embedded again. Candidates without a vector or a cosine follow at the end, in their order.
    """
    weighed = [hit for hit in candidates if hit.vector is not None and _nearness(hit) > -math.inf]
    nearest = sorted(weighed, key=_nearness, reverse=True)[:pool]
    rest = [hit for hit in candidates if hit.vector is None or _nearness(hit) == -math.inf]
    return ([nearest[place] for place in _greedy(nearest, balance, limit)] + rest)[:limit]


def _nearness(hit: Hit) -> float:
    return -math.inf if hit.cosine is None or math.isnan(hit.cosine) else hit.cosine


def _greedy(hits: Sequence[Hit], balance: float, limit: int) -> list[int]:
    vectors = unit_vectors(hits)
    gains = balance * np.array([_nearness(hit) for hit in hits])
    closest = np.zeros(len(hits))  # nothing is chosen yet, so nothing is repeated
    chosen: list[int] = []
    for _ in range(min(limit, len(hits))):
        marginal = gains - (1 - balance) * closest
        marginal[chosen] = -np.inf
        best = int(np.argmax(marginal))
        alike = vectors @ vectors[best]
        closest = np.maximum(closest, alike) if chosen else alike
        chosen.append(best)
    return chosen
