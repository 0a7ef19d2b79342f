"""What operators read and do over HTTP, joined to where it is kept."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache
from typing import Any

from clara.adapters.postgres import findings
from clara.adapters.postgres.audit import PostgresAudit
from clara.adapters.postgres.desk import outages
from clara.adapters.postgres.embedding_memory import PostgresEmbeddingMemory
from clara.adapters.postgres.fact_decisions import UntouchedFactError
from clara.adapters.postgres.gazette_reading import PostgresGazetteReading
from clara.adapters.postgres.metrics import PostgresMetrics
from clara.adapters.postgres.review_reading import PostgresReview
from clara.adapters.postgres.runs import PostgresRuns, Run
from clara.adapters.postgres.satisfaction import PostgresSatisfaction
from clara.adapters.postgres.staleness import PostgresStaleness
from clara.bootstrap import Services
from clara.delivery.ports import StoreUnavailableError
from clara.ingestion.decisions import read_decisions
from clara.ingestion.ports import StoreUnavailableError as KnowledgeUnavailableError
from clara.jobs import expecting, reviewing
from clara.jobs.scheduling import enabled
from clara.knowledge.faults import DataError
from clara.knowledge.freshness import Freshness, freshness_of
from clara.knowledge.sources import RegisteredSource, read_sources
from clara.settings import resources
from clara.web.admin_desk import AdminDesk, BadDecisionsError, DecidedFindingError, UnknownFindingError

DESCRIPTION = "openapi.json"


def build_admin(services: Services) -> AdminDesk:
    """Build what the addresses for operators call."""
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
        reviewing=Decisions(services),
    )


class Decisions:
    """Decides findings as `clara review` does, in the words of the web layer."""

    def __init__(self, services: Services) -> None:
        self._services = services

    def accept(self, number: int, reason: str, decided_by: str, decisions: Sequence[object] = ()) -> Mapping[str, Any]:
        """Let the finding be right, and decide about its facts.

        Raises UnknownFindingError, DecidedFindingError, BadDecisionsError, StoreUnavailableError.
        """
        said: list[str] = []
        with _in_words_of_the_web():
            by = reviewing.Decider(decided_by, reason, embeds=False)  # this process never runs a model
            verdicts = reviewing.Verdicts(read_decisions(list(decisions), "decisions"))
            settled = reviewing.accept(self._services, number, verdicts, say=said.append, by=by)
        return _told(settled, said)

    def reject(self, number: int, reason: str, decided_by: str) -> Mapping[str, Any]:
        """Let the finding be wrong. Raises UnknownFindingError, DecidedFindingError, StoreUnavailableError."""
        said: list[str] = []
        with _in_words_of_the_web():
            settled = reviewing.reject(self._services, number, reason, said.append, reviewing.Decider(decided_by))
        return _told(settled, said)


def _told(settled: findings.Settled, said: Sequence[str]) -> Mapping[str, Any]:
    return {
        "state": settled.finding.state,
        "snapshot": settled.snapshot,
        "drafts": settled.drafts,
        "undecided": settled.finding.undecided,
        "said": said,
    }


@contextmanager
def _in_words_of_the_web() -> Iterator[None]:
    try:
        yield
    except findings.UnknownFindingError as error:
        raise UnknownFindingError from error
    except findings.DecidedFindingError as error:
        raise DecidedFindingError from error
    except (DataError, UntouchedFactError) as error:
        raise BadDecisionsError(str(error)) from error
    except KnowledgeUnavailableError as error:
        raise StoreUnavailableError(str(error)) from error


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
