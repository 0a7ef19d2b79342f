"""Deciding whether the evidence is good enough to show: a calibrated probability, never "some rows came back"."""

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from clara.retrieval.passage import Hit, Query

# Beyond this the probability is 0 or 1 in floating point, and the exponential would overflow.
CERTAIN = 500.0
# Chances are kept this far from 0 and 1, so that their odds have a logarithm.
SMALLEST = 1e-6


class Judge(Protocol):
    """Tells how probable it is that the hits answer the question, and from what probability on they are shown."""

    @property
    def threshold(self) -> float:
        """The least probability (0..1) at which hits are shown."""

    def probability(self, query: Query, hits: Sequence[Hit]) -> float:
        """Give the probability (0..1); 0 without hits."""

    def evidence(self, query: Query, hits: Sequence[Hit]) -> dict[str, float]:
        """Give what the probability was computed from, by name; nothing without hits."""


@dataclass(frozen=True, slots=True)
class Calibration:
    """A logistic model of "the corpus holds an answer", fitted on development questions and stored as data.

    The features are `inside` (the logarithm of the odds that the question is about something in the corpus), `cosine` (the
    best similarity of the vectors), `coverage` (the best share of the question's term weight found in one passage), `margin`
    (how far the first document's score is ahead of the others') and `foreign` (1 when question and passage are in different
    languages, which lowers every cosine).
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

    def evidence(self, query: Query, hits: Sequence[Hit]) -> dict[str, float]:
        """Give the features that have a weight."""
        measured = features_of(query, hits) if hits else {}
        return {name: value for name, value in measured.items() if name in self.weights}


def _margin(hits: Sequence[Hit]) -> float:
    """Give how far the first hit's score is ahead of the best one of another document; 1 when there is no other."""
    others = [hit.score for hit in hits if hit.passage.document_id != hits[0].passage.document_id]
    return hits[0].score - max(others) if others else 1.0


def _log_odds(chance: float) -> float:
    kept = max(SMALLEST, min(1 - SMALLEST, chance))
    return math.log(kept / (1 - kept))


def features_of(query: Query, hits: Sequence[Hit]) -> dict[str, float]:
    """Measure the hits of one search."""
    return {
        "inside": _log_odds(1 - query.outside) if query.outside is not None else 0.0,
        "cosine": max(hit.cosine or 0.0 for hit in hits),
        "coverage": max(hit.coverage or 0.0 for hit in hits),
        "margin": _margin(hits),
        "foreign": float(query.language is not None and query.language != hits[0].passage.language),
    }


def read_calibration(data: Path, tier: str) -> Calibration:
    """Read the model that decides whether the evidence of a tier is good enough."""
    stored = json.loads((data / "calibration.json").read_text("utf-8"))["tiers"][tier]
    return Calibration(stored["weights"], stored["intercept"], stored["threshold"])
