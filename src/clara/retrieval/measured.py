"""Counting what retrieval does: which tier served, how long each stage took, what was out or failed."""

import re
from collections import defaultdict
from collections.abc import Callable, Iterable
from itertools import repeat
from threading import Lock
from time import perf_counter

from clara.retrieval.counters import (
    CACHE,
    CACHE_EVENTS,
    ERROR,
    FAILURES,
    MODEL_CALLS,
    MODEL_MS,
    OUTAGES,
    REFUSALS,
    RELAXED,
    RETRIEVALS,
    STAGE_BUCKETS,
    STAGE_MS,
    TOTAL,
    Counters,
    MetricsStore,
    MetricsUnavailableError,
    Series,
    bucket_of,
    summary,
)
from clara.retrieval.passage import Found, Query, Retrieve, Status

# The outcome of a call that gave an answer. Only its milliseconds are summed: the others end when a guard or a deadline says.
ANSWERED = "answered"
LAYERS = ("exact", "semantic")
# Labels are names that the program gives to its own parts. Whatever else gets there, such as the text of an error, counts as
# "other": a label with what a person wrote in it would be public, and every new one a new series for ever.
NAME = re.compile(r"[A-Za-z][A-Za-z0-9_.-]{0,39}")
OTHER = "other"


class RetrievalMetrics:
    """Thread-safe counters of one process: what was counted since it started, and what of it was not handed on yet."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._counted: defaultdict[Series, float] = defaultdict(float)
        self._fresh: defaultdict[Series, float] = defaultdict(float)

    def record(self, found: Found, milliseconds: float) -> None:
        """Count one retrieval and how long it took as a whole."""
        layer = found.trace.get("cache")
        once = [
            Series(RETRIEVALS, (_name(found.tier), found.status.value)),
            Series(CACHE, (layer if layer in LAYERS else "none",)),
            *(Series(OUTAGES, (_name(tier),)) for tier in found.outages),
            *(Series(FAILURES, (_name(failure.partition(":")[0]),)) for failure in found.failures),
        ]
        # A miss with a confidence had evidence, which was judged too weak to show.
        once += [Series(REFUSALS)] if found.status is Status.NOT_FOUND and found.confidence is not None else []
        once += [Series(RELAXED)] if found.relaxed else []
        spent = {**found.timings_ms, TOTAL: milliseconds}
        once += [Series(STAGE_BUCKETS, (_name(stage), bucket_of(taken))) for stage, taken in spent.items()]
        self._add([*zip(once, repeat(1.0)), *((Series(STAGE_MS, (_name(stage),)), taken) for stage, taken in spent.items())])

    def record_error(self) -> None:
        """Count a retrieval that no tier could serve."""
        self._add([(Series(RETRIEVALS, (ERROR, ERROR)), 1.0)])

    def record_cache(self, event: str) -> None:
        """Count what the cache did for one question."""
        self._add([(Series(CACHE_EVENTS, (_name(event),)), 1.0)])

    def record_call(self, part: str, outcome: str, milliseconds: float) -> None:
        """Count one call of a served model: which part made it, what came of it, and how long an answer took."""
        counted = [(Series(MODEL_CALLS, (_name(part), _name(outcome))), 1.0)]
        if outcome == ANSWERED:
            counted.append((Series(MODEL_MS, (_name(part),)), milliseconds))
        self._add(counted)

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

    def snapshot(self) -> dict[str, object]:
        """Give the counters since the process started, as JSON: see `summary`."""
        with self._lock:
            counted = dict(self._counted)
        return summary(counted)

    def _add(self, increments: Iterable[tuple[Series, float]]) -> None:
        with self._lock:
            for series, value in increments:
                self._counted[series] += value
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


def _name(label: str) -> str:
    return label if NAME.fullmatch(label) else OTHER
