"""The counters in Prometheus' text format: one series for all processes, which only ever grows."""

from collections.abc import Callable, Iterator
from ipaddress import ip_address
from math import inf
from urllib.parse import urlsplit

import structlog
from flask import Blueprint, Response, request
from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.core import CounterMetricFamily, HistogramMetricFamily, Metric
from prometheus_client.exposition import CONTENT_TYPE_PLAIN_0_0_4
from prometheus_client.registry import Collector

from clara.retrieval import metrics as counting
from clara.web.auth import Doorman, uncached

PREFIX = "clara_"
# What each counter says, and the names of its labels in their order.
FAMILIES = {
    counting.RETRIEVALS: (
        "Retrievals by the tier that served and what it found; tier error: none could serve",
        ("tier", "status"),
    ),
    counting.CACHE: ("Retrievals by the layer of the cache that knew the answer", ("layer",)),
    counting.CACHE_EVENTS: ("What the cache did: hits, misses, and what it could not keep or read", ("event",)),
    counting.OUTAGES: ("Tiers that could not be asked", ("tier",)),
    counting.FAILURES: ("Optional parts that were asked and did not serve", ("part",)),
    counting.MODEL_CALLS: ("Calls of served models by the part that made them and what came of them", ("part", "outcome")),
    counting.MODEL_MS: ("Milliseconds of the calls that were answered", ("part",)),
    counting.REFUSALS: ("Retrievals whose evidence was judged too weak to show", ()),
    counting.RELAXED: ("Retrievals that lowered a threshold to find anything", ()),
}
# Headers of a proxy, which makes everybody look like this machine.
FORWARDED = ("Forwarded", "X-Forwarded-For", "X-Real-IP", "Via")
log = structlog.get_logger()


class _Counted(Collector):
    def __init__(self, read: Callable[[], counting.Counters]) -> None:
        self._read = read

    def collect(self) -> Iterator[Metric]:
        counters = self._read()
        for name, (about, labels) in FAMILIES.items():
            family = CounterMetricFamily(f"{PREFIX}{name}", about, labels=labels)
            for series, value in sorted(counters.items()):
                if series.name == name:
                    family.add_metric(series.labels, value)
            yield family
        yield _durations(counters)


def _durations(counters: counting.Counters) -> HistogramMetricFamily:
    family = HistogramMetricFamily(f"{PREFIX}retrieval_seconds", "Time of each stage, and in total", labels=("stage",))
    for stage, histogram in counting.histograms(counters).items():
        buckets, below = [], 0
        for upper, count in histogram.counts:
            below += count
            buckets.append(("+Inf" if upper == inf else str(upper / 1000), below))
        family.add_metric([stage], buckets, histogram.total_ms / 1000)
    return family


def metrics_routes(counters: Callable[[], counting.Counters], doorman: Doorman) -> Blueprint:
    """Serve GET /metrics: to whoever has a token, or without one configured to programs on this machine only.

    401 without a token, 429 for guesses, 403 to another machine, 503 while the counters cannot be read. `counters` may raise
    MetricsUnavailableError.
    """
    routes = Blueprint("metrics", __name__)
    routes.after_request(uncached)
    registry = CollectorRegistry()
    registry.register(_Counted(counters))

    @routes.before_request
    def refuse_strangers() -> Response | None:
        if doorman.has_tokens:
            who = doorman.who()
            return who if isinstance(who, Response) else None
        if _from_this_machine():
            return None
        return Response("Set CLARA_ADMIN_TOKEN_SHA256 to read this from elsewhere.\n", 403, mimetype="text/plain")

    @routes.get("/metrics")
    def metrics() -> Response:
        try:
            return Response(generate_latest(registry), content_type=CONTENT_TYPE_PLAIN_0_0_4)
        except counting.MetricsUnavailableError as error:
            log.warning("counters could not be read", error=str(error))
            return Response("The database does not answer. Try again.\n", 503, mimetype="text/plain")

    return routes


def _from_this_machine() -> bool:
    """Whether the caller is local and called by a local name: neither through a proxy nor through a page of a stranger."""
    try:
        name = urlsplit(f"//{request.host}").hostname or ""
    except ValueError:
        return False
    proxied = any(header in request.headers for header in FORWARDED)
    return not proxied and _is_loopback(request.remote_addr or "") and (name == "localhost" or _is_loopback(name))


def _is_loopback(address: str) -> bool:
    try:
        return ip_address(address).is_loopback
    except ValueError:
        return False
