"""Counters: what a process counts, how the counts of many processes become one, and what can be read off the sum."""

from collections.abc import Mapping
from dataclasses import dataclass
from math import inf
from typing import Protocol

# Upper bounds in milliseconds. A keyword search takes 1 ms, embedding a question 30, a search 10, a remote model a second: the
# steps are finest where one machine answers.
BOUNDS_MS = (1.0, 2.5, 5.0, 10.0, 25.0, 50.0, 75.0, 100.0, 150.0, 250.0, 500.0, 1_000.0, 2_500.0, 5_000.0, 10_000.0, inf)

RETRIEVALS = "retrievals"  # by tier and status
CACHE = "cache"  # by layer
CACHE_EVENTS = "cache_events"  # by event
OUTAGES = "outages"  # by tier
FAILURES = "failures"  # by part
REFUSALS = "refusals"
RELAXED = "relaxed"
MODEL_CALLS = "model_calls"  # by part and outcome
MODEL_MS = "model_ms"  # by part, of the calls that were answered
STAGE_BUCKETS = "stage_buckets"  # by stage and upper bound; each retrieval is in one bucket of a stage
STAGE_MS = "stage_ms"  # by stage

ERROR = "error"
TOTAL = "total"


class MetricsUnavailableError(Exception):
    """The store of the counters could not be asked or written. Nothing was added."""


@dataclass(frozen=True, slots=True, order=True)
class Series:
    """One counter: what it counts, and the values of its labels in the order that is fixed for that name."""

    name: str
    labels: tuple[str, ...] = ()


Counters = Mapping[Series, float]


class MetricsStore(Protocol):
    """Sums the counters of all processes. Both methods may raise MetricsUnavailableError."""

    def add(self, counted: Counters) -> None:
        """Add to the counters, all or none; nothing is ever taken away."""
        ...

    def read(self) -> Counters:
        """Give every counter; empty before the first was added."""
        ...


@dataclass(frozen=True, slots=True)
class Histogram:
    """How long a stage took.

    `counts` has, for each upper bound in milliseconds, ascending, how many were at most that long and above the bound before.
    """

    counts: tuple[tuple[float, int], ...]
    total_ms: float

    @property
    def count(self) -> int:
        """Give how many were measured."""
        return sum(count for _, count in self.counts)

    @property
    def mean_ms(self) -> float:
        """Give the mean, 0 when nothing was measured."""
        return self.total_ms / self.count if self.count else 0.0

    def quantile(self, share: float) -> float:
        """Estimate the milliseconds within which this share (0..1) was done, as if each bucket were evenly filled.

        Of what is above the last finite bound only that bound is known. 0 when nothing was measured.
        """
        rank, below, lower = share * self.count, 0, 0.0
        for upper, count in self.counts:
            if count and below + count >= rank:
                return lower if upper == inf else lower + (upper - lower) * (rank - below) / count
            below, lower = below + count, upper
        return 0.0


def bucket_of(milliseconds: float) -> str:
    """Name the bucket of a duration by its upper bound."""
    return f"{next(bound for bound in BOUNDS_MS if milliseconds <= bound):g}"


def histograms(counters: Counters) -> dict[str, Histogram]:
    """Give the histogram of each stage that was ever measured, with every bound that was in use when it was."""
    found: dict[str, dict[float, int]] = {}
    for series, value in sorted(counters.items()):
        if series.name == STAGE_BUCKETS:
            stage, bound = series.labels
            found.setdefault(stage, dict.fromkeys(BOUNDS_MS, 0))[float(bound)] = int(value)
    return {
        stage: Histogram(tuple(sorted(counts.items())), counters.get(Series(STAGE_MS, (stage,)), 0.0))
        for stage, counts in found.items()
    }


def summary(counters: Counters) -> dict[str, object]:
    """Give JSON for people and dashboards: counts, rates (0..1), and milliseconds by stage.

    An error is a retrieval that no tier could serve: it counts as the tier "error" and as nothing else.
    """
    statuses = _by_label(counters, RETRIEVALS, 1)
    statuses.pop(ERROR, None)
    layers = _by_label(counters, CACHE)
    served, stages = sum(statuses.values()), histograms(counters)
    return {
        "retrievals": served,
        "tiers": _by_label(counters, RETRIEVALS),
        "statuses": statuses,
        "refusals": int(counters.get(Series(REFUSALS), 0)),
        "relaxed": int(counters.get(Series(RELAXED), 0)),
        "outages": _by_label(counters, OUTAGES),
        "failures": _by_label(counters, FAILURES),
        "cache": layers,
        "cache_events": _by_label(counters, CACHE_EVENTS),
        "model_calls": _by_labels(counters, MODEL_CALLS),
        "rates": {
            "found": _share(statuses.get("found", 0), served),
            "cache_hit": _share(sum(count for layer, count in layers.items() if layer != "none"), served),
        },
        "mean_ms": stages[TOTAL].mean_ms if TOTAL in stages else 0.0,
        "stages": {stage: _latency(histogram) for stage, histogram in stages.items()},
    }


def _by_label(counters: Counters, name: str, place: int = 0) -> dict[str, int]:
    summed: dict[str, int] = {}
    for series, value in sorted(counters.items()):
        if series.name == name:
            summed[series.labels[place]] = summed.get(series.labels[place], 0) + int(value)
    return summed


def _by_labels(counters: Counters, name: str) -> dict[str, dict[str, int]]:
    found: dict[str, dict[str, int]] = {}
    for series, value in sorted(counters.items()):
        if series.name == name:
            found.setdefault(series.labels[0], {})[series.labels[1]] = int(value)
    return found


def _share(part: int, whole: int) -> float:
    return round(part / whole, 4) if whole else 0.0


def _latency(histogram: Histogram) -> dict[str, float]:
    return {
        "count": histogram.count,
        "mean_ms": round(histogram.mean_ms, 2),
        "p50_ms": round(histogram.quantile(0.5), 2),
        "p95_ms": round(histogram.quantile(0.95), 2),
    }
