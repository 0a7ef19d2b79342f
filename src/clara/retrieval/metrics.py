"""What retrieval counts: tiers, times and failures; how the counts of many processes become one."""

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from itertools import repeat
from math import inf
from threading import Lock
from time import perf_counter
from typing import Protocol

from clara.errors import Unavailable
from clara.retrieval.passage import Found, Query, Retrieve, Status

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


class MetricsUnavailableError(Unavailable):
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

    def read(self) -> Counters:
        """Give every counter; empty before the first was added."""


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
        "model_calls": _calls(counters),
        "rates": {
            "found": _share(statuses.get("found", 0), served),
            "cache_hit": _share(sum(count for layer, count in layers.items() if layer != "none"), served),
        },
        "mean_ms": stages[TOTAL].mean_ms if TOTAL in stages else 0.0,
        "stages": {stage: _latency(histogram) for stage, histogram in stages.items()},
    }


def _by_label(counters: Counters, name: str, place: int = 0) -> dict[str, int]:
    summed: Counter[str] = Counter()
    for series, value in sorted(counters.items()):
        if series.name == name:
            summed[series.labels[place]] += int(value)
    return dict(summed)


def _calls(counters: Counters) -> dict[str, dict[str, int]]:
    found: defaultdict[str, dict[str, int]] = defaultdict(dict)
    for series, value in sorted(counters.items()):
        if series.name == MODEL_CALLS:
            found[series.labels[0]][series.labels[1]] = int(value)
    return dict(found)


def _share(part: int, whole: int) -> float:
    return round(part / whole, 4) if whole else 0.0


def _latency(histogram: Histogram) -> dict[str, float]:
    told = {"mean_ms": histogram.mean_ms, "p50_ms": histogram.quantile(0.5), "p95_ms": histogram.quantile(0.95)}
    return {"count": histogram.count, **{name: round(value, 2) for name, value in told.items()}}


# The outcome of a call that gave an answer. Only its milliseconds are summed: the others end when a guard or a deadline says.
ANSWERED = "answered"
LAYERS = ("exact", "semantic")
# Labels are names that the program gives to its own parts. Whatever else gets there, such as the text of an error, counts as
# "other": a label with what a person wrote in it would be public, and every new one a new series for ever.
NAME = re.compile(r"[A-Za-z][A-Za-z0-9_.-]{0,39}")
OTHER = "other"


class RetrievalMetrics:
    """Thread-safe counters of one process: what was counted and not handed on yet."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._fresh: defaultdict[Series, float] = defaultdict(float)

    def record(self, found: Found, milliseconds: float) -> None:
        """Count one retrieval and how long it took as a whole."""
        layer = found.trace.get("cache")
        spent = {**found.timings_ms, TOTAL: milliseconds}
        once = [
            _series(RETRIEVALS, found.tier, found.status.value),
            _series(CACHE, layer if layer in LAYERS else "none"),
            *(_series(OUTAGES, tier) for tier in found.outages),
            *(_series(FAILURES, failure.partition(":")[0]) for failure in found.failures),
            *(Series(STAGE_BUCKETS, (_name(stage), bucket_of(taken))) for stage, taken in spent.items()),
        ]
        # A miss with a confidence had evidence, which was judged too weak to show.
        once += [Series(REFUSALS)] if found.status is Status.NOT_FOUND and found.confidence is not None else []
        once += [Series(RELAXED)] if found.relaxed else []
        self._add([*zip(once, repeat(1.0)), *((_series(STAGE_MS, stage), taken) for stage, taken in spent.items())])

    def record_error(self) -> None:
        """Count a retrieval that no tier could serve."""
        self._add([(_series(RETRIEVALS, ERROR, ERROR), 1.0)])

    def record_cache(self, event: str) -> None:
        """Count what the cache did for one question."""
        self._add([(_series(CACHE_EVENTS, event), 1.0)])

    def record_call(self, part: str, outcome: str, milliseconds: float) -> None:
        """Count one call of a served model: which part made it, what came of it, and how long an answer took."""
        answered = [(_series(MODEL_MS, part), milliseconds)] if outcome == ANSWERED else []
        self._add([(_series(MODEL_CALLS, part, outcome), 1.0), *answered])

    def take_fresh(self) -> Counters:
        """Give what was counted since this was last asked, to be handed on: the caller has it now."""
        with self._lock:
            fresh, self._fresh = self._fresh, defaultdict(float)
            return fresh

    def give_back(self, counted: Counters) -> None:
        """Take back what could not be handed on."""
        with self._lock:
            for series, value in counted.items():
                self._fresh[series] += value

    def _add(self, increments: Iterable[tuple[Series, float]]) -> None:
        with self._lock:
            for series, value in increments:
                self._fresh[series] += value


def measured(retrieve: Retrieve, metrics: RetrievalMetrics) -> Retrieve:
    """Record every retrieval; change nothing."""

    def recording(query: Query) -> Found:
        started = perf_counter()
        try:
            found = retrieve(query)
        except Exception:
            metrics.record_error()
            raise
        metrics.record(found, (perf_counter() - started) * 1000)
        return found

    return recording


def hand_on(metrics: RetrievalMetrics, store: MetricsStore, on_failure: Callable[[MetricsUnavailableError], None]) -> None:
    """Add what was counted since the last time to the store; when it is out, keep it for the next time.

    To be called when nobody waits, as after a turn. A store that leaves after it stored and before it said so is told twice.
    """
    counted = metrics.take_fresh()
    if not counted:
        return
    try:
        store.add(counted)
    except MetricsUnavailableError as error:
        metrics.give_back(counted)
        on_failure(error)


def _series(name: str, *labels: str) -> Series:
    return Series(name, tuple(map(_name, labels)))


def _name(label: str) -> str:
    return label if NAME.fullmatch(label) else OTHER
