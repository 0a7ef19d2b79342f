"""Deciding whether the evidence is good enough to show: a calibrated probability, never "some rows came back"."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from clara.retrieval.passage import Hit, Query

# Beyond this the probability is 0 or 1 in floating point, and the exponential would overflow.
CERTAIN = 500.0


@dataclass(frozen=True, slots=True)
class Calibration:
    """A logistic model of "the corpus holds an answer", fitted on development questions and stored as data.

    The features are `cosine` (the best similarity of the vectors), `coverage` (the best share of the question's term
    weight found in one passage), `named` (1 when the question names a document), `margin` (how far the first document's score
    is ahead of the others') and `foreign` (1 when question and passage are in different languages, which lowers every
    cosine). Cosine alone separates badly.
    """

    weights: Mapping[str, float]
    intercept: float
    threshold: float

    def probability(self, query: Query, hits: Sequence[Hit]) -> float:
        """Give the probability (0..1) that these hits answer the question; 0 without hits."""
        if not hits:
            return 0.0
        features = features_of(query, hits)
        total = self.intercept + sum(weight * features[name] for name, weight in self.weights.items())
        return 1 / (1 + math.exp(-max(-CERTAIN, min(CERTAIN, total))))

    def confident(self, query: Query, hits: Sequence[Hit]) -> bool:
        """Whether the probability reaches the threshold."""
        return self.probability(query, hits) >= self.threshold


def _margin(hits: Sequence[Hit]) -> float:
    """Give how far the first hit's score is ahead of the best one of another document; 1 when there is no other."""
    others = [hit.score for hit in hits if hit.passage.document_id != hits[0].passage.document_id]
    return hits[0].score - max(others) if others else 1.0


def features_of(query: Query, hits: Sequence[Hit]) -> dict[str, float]:
    """Measure the hits of one search."""
    return {
        "cosine": max(hit.cosine or 0.0 for hit in hits),
        "coverage": max(hit.coverage or 0.0 for hit in hits),
        "named": float(bool(query.documents)),
        "margin": _margin(hits),
        "foreign": float(query.language is not None and query.language != hits[0].passage.language),
    }
