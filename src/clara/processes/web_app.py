"""The web application on its adapters: what it takes in, what its health is asked of, what operators do."""

import os
import sys
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, fields
from functools import cache, partial
from multiprocessing.util import Finalize
from pathlib import Path
from threading import Thread
from typing import Any

import structlog
from flask import Flask
from sqlalchemy import Engine

from clara.adapters.postgres.connections import DatabaseUnavailableError
from clara.adapters.postgres.corpus.embedding_memory import PostgresEmbeddingMemory
from clara.adapters.postgres.delivery.inbox import PostgresInbox, TurnTask
from clara.adapters.postgres.delivery.overview import PostgresOverview, ask
from clara.adapters.postgres.delivery.status_reports import PostgresReports
from clara.adapters.postgres.editorial.facts import PostgresStaleness
from clara.adapters.postgres.editorial.findings import PostgresReview
from clara.adapters.postgres.editorial.gazette import PostgresGazette
from clara.adapters.postgres.operations.audit import PostgresAudit
from clara.adapters.postgres.operations.metrics import PostgresMetrics
from clara.adapters.postgres.operations.runs import PostgresRuns
from clara.adapters.postgres.statements import AtOnce
from clara.adapters.procrastinate.engine import QUEUE, TASK, TurnScheduler
from clara.adapters.spool.spool import FileSpool
from clara.container import Container
from clara.delivery.intake import Drainer, SpoolingInbox
from clara.delivery.limits import Limits
from clara.delivery.overview import OVERDUE_SECONDS, DeliveryStatus
from clara.delivery.triage import LongReader, TriagingInbox
from clara.editorial.review import Decider, Verdicts, read_decisions
from clara.errors import Unavailable
from clara.knowledge.freshness import freshness_of
from clara.knowledge.sources import RegisteredSource, read_sources
from clara.logs import configure_logs
from clara.processes.request_bounds import RequestBounds, WholeRequests
from clara.processes.schedule import enabled, probe_schedule, scheduling
from clara.processes.worker import SWITCH_SECONDS, build_worker
from clara.settings import Settings, resources
from clara.web.admin import AdminDesk, Decision
from clara.web.app import MAX_BODY_BYTES, Edge, create_app
from clara.web.calls import ChannelIntake
from clara.web.health import Part

log = structlog.get_logger()


def build_admin(container: Container) -> AdminDesk:
    """Build what the addresses for operators call."""
    engine = container.engine
    audit, review, gazette = PostgresAudit(engine), PostgresReview(engine), PostgresGazette(engine)

    return AdminDesk(
        counters=PostgresMetrics(engine).read,
        memory=PostgresEmbeddingMemory(engine).statistics,
        satisfaction=PostgresOverview(engine).satisfaction,
        freshness=lambda: freshness_of(PostgresStaleness(engine).held(registered())),
        findings=review.findings,
        finding=review.finding,
        gazette_days=gazette.days,
        gazette_items=lambda limit, before, unseen: gazette.items(limit, before, unseen=unseen),
        gazette_seen=gazette.seen,
        runs=PostgresRuns(engine).runs,
        schedule=lambda: schedule(container.settings, engine),
        acts=audit.entries,
        record=audit.record,
        description=lambda: (resources() / "data" / "openapi.json").read_text("utf-8"),
        reviewing=partial(decide, container),
    )


def decide(container: Container, number: int, decision: Decision) -> Mapping[str, Any]:
    """Decide a finding as `clara review` does. Raises NotFound, Refused, Invalid, Unavailable."""
    # Not above: 8 MB, with readers of pages and norms, that hardly any web process uses.
    from clara.processes.editorial import build_editorial

    editorial = build_editorial(container)
    said: list[str] = []
    by = Decider(decision.by, decision.reason, embeds=False)  # this process never runs a model
    if decision.accepted:
        settled = editorial.accept(number, Verdicts(read_decisions(list(decision.facts), "decisions")), by, said.append)
    else:
        settled = editorial.reject(number, decision.reason, Decider(decision.by), said.append)
    return {
        "state": settled.finding.state,
        "snapshot": settled.snapshot,
        "drafts": settled.drafts,
        "undecided": settled.finding.undecided,
        "said": said,
    }


def schedule(settings: Settings, engine: Engine) -> Sequence[Mapping[str, Any]]:
    """Give what runs by itself: when, and whether it is late. Raises DatabaseUnavailableError."""
    rows = probe_schedule(settings, engine).rows
    return [
        {"job": job.job, "cron": job.cron, "command": " ".join(("clara", *job.arguments)), **rows[job.job]}
        for job in enabled(settings)
    ]


@cache
def registered() -> Mapping[str, RegisteredSource]:
    """Read the registry of sources, once a process. Raises DataError."""
    return read_sources(resources() / "data")


WORKER_SEEN_WITHIN_SECONDS = 10


def build_app(container: Container, door: "Door | None" = None) -> Flask:
    """Build the application on its adapters."""
    return create_app(build_edge(container, door or open_door(container)))


def build_edge(container: Container, door: "Door") -> Edge:
    """Wire the web layer to its adapters."""
    settings, engine, texts, danger = container.settings, container.engine, container.texts, container.danger

    def in_danger(said: str) -> bool:
        return bool(danger.recognise(said))

    triaging = TriagingInbox(door.receiving, in_danger, LongReader(in_danger, door.inbox.hasten).read)
    intake = ChannelIntake(triaging, door.receiving, door.inbox, texts.direction)
    return Edge(
        channels=[channel.routes(intake) for channel in container.channels.values()],
        probes={
            "database": lambda: _database(engine),
            "worker": lambda: _worker(engine),
            "delivery": lambda: delivery_part(PostgresOverview(engine).status(), door.spool.waiting()),
            "jobs": lambda: probe_schedule(settings, engine),
        },
        admin=build_admin(container),
        admin_token_sha256=settings.clara_admin_token_sha256,
        reader_token_sha256=settings.clara_reader_token_sha256,
    )


@dataclass(frozen=True, slots=True)
class Door:
    """Where messages come in: the database, the spool in front of it, and who moves what was spooled."""

    inbox: PostgresInbox
    spool: FileSpool
    receiving: SpoolingInbox
    drainer: Drainer


def open_door(container: Container) -> Door:
    """Build what takes messages in. The drainer is not started."""
    settings, engine, sealer = container.settings, container.engine, container.sealer
    schedule = TurnScheduler().schedule
    limits = None if settings.channels == ("local",) else limits_of(settings)  # the chat page has one user
    inbox = PostgresInbox(engine, settings.pseudonym_key, sealer, TurnTask(QUEUE, TASK), limits)
    reports = PostgresReports(engine, schedule)
    spool = FileSpool(settings.spool, settings.clara_spool_mb * 1024 * 1024)
    receiving = SpoolingInbox(inbox, reports, spool, sealer, spool.set_aside)
    return Door(inbox, spool, receiving, Drainer(receiving, lambda: ask(engine)))


def limits_of(settings: Settings) -> Limits:
    """Read the limits from the settings."""
    return Limits(**{field.name: getattr(settings, f"clara_{field.name}") for field in fields(Limits)})


def delivery_part(found: DeliveryStatus, spooled: int) -> Part:
    """Judge by the age of the oldest message without a reply, which is said in seconds whatever the judgement."""
    age = round(found.unanswered_for, 1)
    counted = f"{found.unanswered} unanswered, {found.unsent} unsent, {found.set_aside} set aside, {spooled} spooled"
    rows = {"waiting": {"unanswered": found.unanswered, "oldest_seconds": age, "allowed_seconds": OVERDUE_SECONDS}}
    if age > OVERDUE_SECONDS:
        return Part(ok=False, detail=f"the oldest message waits for {age:.0f} s; {counted}", rows=rows)
    return Part(ok=True, detail=counted, rows=rows)


def _database(engine: Engine) -> str:
    held = AtOnce(engine, DatabaseUnavailableError).value("passage.held")
    if not held:
        raise NothingIngestedError
    return f"{held} passages"


def _worker(engine: Engine) -> str:
    alive = AtOnce(engine, DatabaseUnavailableError).value("overview.workers", seconds=WORKER_SEEN_WITHIN_SECONDS)
    if not alive:
        msg = f"no worker was seen in the last {WORKER_SEEN_WITHIN_SECONDS} seconds (process {os.getpid()} asked)"
        raise NoWorkerError(msg)
    return f"{alive} alive"


class NothingIngestedError(Unavailable):
    """The database answers but holds no passage. Run `clara ingest`."""


class NoWorkerError(Unavailable):
    """Messages are taken in, but nobody answers them. Start one with `clara worker`, or set CLARA_WORKER=inline."""


def start_web(settings: Settings, database_url: str, threads: int) -> WholeRequests:
    """Build everything that serves in this process, on so many threads, and start it; it is stopped when this process ends."""
    configure_logs()
    sys.setswitchinterval(SWITCH_SECONDS)
    container = Container(settings, database_url)
    door = open_door(container)
    app = build_app(container, door)
    warn_of_spool(settings.spool)
    door.drainer.start()
    stops = ExitStack()  # the last first
    for stop in (container.close, door.spool.close, door.receiving.close, door.drainer.stop):
        stops.callback(stop)
    _start_inline(container, stops)
    Finalize(None, stops.close, exitpriority=0)
    return WholeRequests(app, threads, RequestBounds(MAX_BODY_BYTES))


def _start_inline(container: Container, stops: ExitStack) -> None:
    """Start the worker here, and its schedule, when that is asked for."""
    if container.settings.clara_worker == "inline":
        worker = build_worker(container)
        stops.enter_context(scheduling(container))
        stops.callback(worker.stop)
        Thread(target=worker.run, kwargs={"handle_signals": False}, name="inline-worker").start()


def warn_of_spool(folder: Path) -> None:
    """Say at the start, not in the first outage, that nothing can be kept while the database is away."""
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        os.close(os.open(folder, os.O_RDONLY | os.O_DIRECTORY))
        usable = os.access(folder, os.W_OK | os.X_OK)
    except OSError:
        usable = False
    if not usable:
        log.warning("spool cannot be used", path=str(folder), reason="set CLARA_SPOOL to a folder that Clara may write")
