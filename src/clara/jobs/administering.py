"""What operators read and do over HTTP, joined to where it is kept."""

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

from clara.adapters.postgres.audit import PostgresAudit
from clara.adapters.postgres.desk import outages
from clara.adapters.postgres.embedding_memory import PostgresEmbeddingMemory
from clara.adapters.postgres.gazette_reading import PostgresGazetteReading
from clara.adapters.postgres.metrics import PostgresMetrics
from clara.adapters.postgres.review_reading import PostgresReview
from clara.adapters.postgres.runs import PostgresRuns, Run
from clara.adapters.postgres.satisfaction import PostgresSatisfaction
from clara.adapters.postgres.staleness import PostgresStaleness
from clara.bootstrap import Services
from clara.jobs import expecting
from clara.jobs.scheduling import enabled
from clara.knowledge.freshness import Freshness, freshness_of
from clara.knowledge.sources import RegisteredSource, read_sources
from clara.settings import resources
from clara.web.admin_desk import AdminDesk, Reviewing

DESCRIPTION = "openapi.json"


def build_admin(services: Services, reviewing: Reviewing | None = None) -> AdminDesk:
    """Build what the addresses for operators call. `reviewing` decides findings."""
    engine = services.engine.get()
    audit, runs = PostgresAudit(engine), PostgresRuns(engine)
    review, gazette = PostgresReview(engine), PostgresGazetteReading(engine)

    def ran(limit: int, before: int | None, job: str | None) -> Sequence[Run]:
        with outages():
            return runs.runs(limit, before, job)

    return AdminDesk(
        counters=PostgresMetrics(engine).read,
        memory=PostgresEmbeddingMemory(engine).statistics,
        satisfaction=PostgresSatisfaction(engine).of_last,
        freshness=lambda: freshness(services),
        findings=review.findings,
        finding=review.finding,
        gazette_days=gazette.days,
        gazette_items=lambda limit, before, unseen: gazette.items(limit, before, unseen=unseen),
        gazette_seen=gazette.seen,
        runs=ran,
        schedule=lambda: schedule(services),
        acts=audit.entries,
        record=audit.record,
        description=lambda: (resources() / "data" / DESCRIPTION).read_text("utf-8"),
        reviewing=reviewing,
    )


def freshness(services: Services) -> Freshness:
    """Judge how fresh what is served is. Raises StoreUnavailableError, DataError."""
    return freshness_of(PostgresStaleness(services.engine.get()).held(registered()))


def schedule(services: Services) -> Sequence[Mapping[str, Any]]:
    """Give what runs by itself: when, and whether it is late. Raises StoreUnavailableError."""
    with outages():
        rows = expecting.probe(services).rows
    return [
        {"job": job.job, "cron": job.cron, "command": " ".join(("clara", *job.arguments)), **rows[job.job]}
        for job in enabled(services.settings)
    ]


@cache
def registered() -> Mapping[str, RegisteredSource]:
    """Read the registry of sources, once a process. Raises DataError."""
    return read_sources(resources() / "data")
