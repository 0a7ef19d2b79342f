"""The web process: gunicorn with threads, and the worker beside it when it runs inline."""

import ctypes
import os
import signal
import sys
from dataclasses import dataclass
from pathlib import Path
from threading import Thread
from typing import Any

import structlog
from flask import Flask
from gunicorn.app.base import BaseApplication
from sqlalchemy import text

from clara.adapters.postgres.engine import translated
from clara.adapters.postgres.inbox import PostgresInbox
from clara.adapters.postgres.overview import ask
from clara.adapters.postgres.reports import PostgresReports
from clara.adapters.postgres.usage import Kind
from clara.adapters.procrastinate.engine import QUEUE, TASK, TurnScheduler, Worker
from clara.adapters.procrastinate.periodic import PeriodicWorker
from clara.adapters.spool.spool import FileSpool
from clara.adapters.twilio.codes import retryable_report
from clara.bootstrap import Services
from clara.delivery.limits import Limits
from clara.delivery.receiving import Drainer, SpoolingInbox
from clara.jobs import expecting
from clara.jobs.administering import build_admin
from clara.jobs.delivering import probe
from clara.jobs.scheduling import build_schedule, enabled
from clara.jobs.working import build_worker
from clara.settings import Settings
from clara.web.app import Edge, create_app

THREADS = 8
PR_SET_PDEATHSIG = 1  # linux/prctl.h
log = structlog.get_logger()
WORKER_SEEN_WITHIN_SECONDS = 10


def build_app(services: Services, door: "Door | None" = None) -> Flask:
    """Build the application on its adapters."""
    return create_app(build_edge(services, door or open_door(services)))


def build_edge(services: Services, door: "Door") -> Edge:
    """Wire the web layer to its adapters."""
    settings = services.settings
    genuine = None
    if settings.clara_channel == "twilio" and settings.twilio_auth_token is not None:
        from clara.adapters.twilio.signature import TwilioSignature  # noqa: PLC0415  not needed by the local channel

        genuine = TwilioSignature(settings.twilio_auth_token.get_secret_value()).genuine_form
    texts = services.texts.get()
    return Edge(
        inbox=door.receiving,
        replies=door.inbox,
        reports=door.receiving,
        probes={
            "database": lambda: _database(services),
            "worker": lambda: _worker(services),
            "delivery": lambda: probe(services, door.spool.waiting),
            "jobs": lambda: expecting.probe(services),
        },
        direction=texts.direction,
        genuine=genuine,
        public_url=settings.clara_public_url if genuine else None,
        admin=build_admin(services),
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


def open_door(services: Services) -> Door:
    """Build what takes messages in. The drainer is not started."""
    settings, engine, sealer = services.settings, services.engine.get(), services.sealer.get()
    schedule = TurnScheduler().schedule
    limits = limits_of(settings) if settings.clara_channel == "twilio" else None  # the chat page has one user
    inbox = PostgresInbox(engine, settings.pseudonym_key, sealer, Kind(QUEUE, TASK), limits)
    reports = PostgresReports(engine, schedule, retryable_report)
    spool = FileSpool(settings.spool, settings.clara_spool_mb * 1024 * 1024)
    receiving = SpoolingInbox(inbox, reports, spool, sealer, spool.set_aside)
    return Door(inbox, spool, receiving, Drainer(receiving, lambda: ask(engine)))


def limits_of(settings: Settings) -> Limits:
    """Read the limits from the settings."""
    return Limits(
        sender_per_minute=settings.clara_sender_per_minute,
        sender_per_day=settings.clara_sender_per_day,
        everyone_per_minute=settings.clara_everyone_per_minute,
        everyone_per_day=settings.clara_everyone_per_day,
    )


class WebServer(BaseApplication):  # type: ignore[misc]  # gunicorn ships no types
    """Gunicorn, configured here instead of in a file."""

    def __init__(self, services: Services) -> None:
        self._services = services
        self._worker: list[Worker] = []
        self._schedule: list[PeriodicWorker] = []
        self._door: list[Door] = []
        super().__init__()

    def load_config(self) -> None:
        """Set gunicorn's options."""
        settings = self._services.settings
        options: dict[str, Any] = {
            "bind": f"{settings.clara_host}:{settings.port}",
            "workers": 1,
            "worker_class": "gthread",
            "threads": THREADS,
            "timeout": 30,
            "graceful_timeout": 8,
            "loglevel": "warning",
            "control_socket_disable": True,
            "post_fork": _end_with_arbiter,
            "post_worker_init": self._start_companions,
            "worker_exit": self._stop_companions,
        }
        for name, value in options.items():
            self.cfg.set(name, value)

    def load(self) -> Flask:
        """Build the application inside gunicorn's worker process, after the fork."""
        self._door.append(open_door(self._services))
        return build_app(self._services, self._door[0])

    def _start_companions(self, _process: object) -> None:
        warn_of_spool(self._services.settings.spool)
        for door in self._door:
            door.drainer.start()
        if self._services.settings.clara_worker == "inline":
            worker = build_worker(self._services)
            self._worker.append(worker)
            Thread(target=worker.run, kwargs={"handle_signals": False}, name="inline-worker").start()
            if schedule := build_schedule(self._services, enabled(self._services.settings)):
                self._schedule.append(schedule)
                schedule.start()

    def _stop_companions(self, _arbiter: object, _process: object) -> None:
        for worker in self._worker:
            worker.stop()
        for schedule in self._schedule:
            schedule.stop()
        for door in self._door:
            door.drainer.stop()
            door.receiving.close()
            door.spool.close()
        self._services.close()


def _end_with_arbiter(_arbiter: object, _process: object) -> None:
    """Have the kernel end this process when gunicorn's arbiter is killed: an orphan holds the port and serves nobody.

    Linux only; elsewhere gunicorn's own look, some seconds later, does it. What was acknowledged is stored.
    """
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


def serve(services: Services) -> None:
    """Serve until SIGTERM or SIGINT."""
    # Gunicorn forks what serves. A connection opened before would be shared by every child that comes after another, with the
    # prepared statements, and the open transaction, of the one that died.
    for engine in services.engine.reset():
        engine.dispose()
    for versions in services.versions.reset():
        versions.close()
    for flags in services.flags.reset():
        flags.close()
    WebServer(services).run()


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


def _database(services: Services) -> str:
    with translated(), services.engine.get().connect() as connection:
        held = connection.scalar(text("select sum(passages) from corpora"))
    if not held:
        raise NothingIngestedError
    return f"{held} passages"


def _worker(services: Services) -> str:
    # Those of the schedule, which answer nobody, have numbers below zero.
    recent = """
        select count(*) from procrastinate_workers
        where id > 0 and last_heartbeat > now() - make_interval(secs => :seconds)
    """
    with translated(), services.engine.get().connect() as connection:
        alive = connection.scalar(text(recent), {"seconds": WORKER_SEEN_WITHIN_SECONDS})
    if not alive:
        msg = f"no worker was seen in the last {WORKER_SEEN_WITHIN_SECONDS} seconds (process {os.getpid()} asked)"
        raise NoWorkerError(msg)
    return f"{alive} alive"


class NothingIngestedError(Exception):
    """The database answers but holds no passage. Run `clara ingest`."""


class NoWorkerError(Exception):
    """Messages are taken in, but nobody answers them. Start one with `clara worker`, or set CLARA_WORKER=inline."""
