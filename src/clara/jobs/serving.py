"""The web process: gunicorn with threads, and the worker beside it when it runs inline."""

import os
from threading import Thread
from typing import Any

from flask import Flask
from gunicorn.app.base import BaseApplication
from sqlalchemy import text

from clara.adapters.postgres.desk import PostgresDesk
from clara.adapters.postgres.embedding_memory import PostgresEmbeddingMemory
from clara.adapters.postgres.engine import translated
from clara.adapters.postgres.inbox import PostgresInbox
from clara.adapters.postgres.metrics import PostgresMetrics
from clara.adapters.procrastinate.engine import TurnScheduler, Worker
from clara.bootstrap import Services
from clara.jobs.working import build_worker
from clara.web.app import Edge, create_app

THREADS = 8
WORKER_SEEN_WITHIN_SECONDS = 10


def build_app(services: Services) -> Flask:
    """Wire the web layer to its adapters."""
    settings, engine = services.settings, services.engine.get()
    inbox = PostgresInbox(engine, settings.pseudonym_key, TurnScheduler().schedule)
    genuine = None
    if settings.clara_channel == "twilio" and settings.twilio_auth_token is not None:
        from clara.adapters.twilio.signature import TwilioSignature  # noqa: PLC0415  not needed by the local channel

        genuine = TwilioSignature(settings.twilio_auth_token.get_secret_value()).genuine_form
    texts = services.texts.get()
    return create_app(
        Edge(
            inbox=inbox,
            replies=inbox,
            reports=PostgresDesk(engine),
            probes={"database": lambda: _database(services), "worker": lambda: _worker(services)},
            direction=texts.direction,
            genuine=genuine,
            public_url=settings.clara_public_url if genuine else None,
            counters=PostgresMetrics(engine).read,
            memory=PostgresEmbeddingMemory(engine).statistics,
            admin_token_sha256=settings.clara_admin_token_sha256,
        )
    )


class WebServer(BaseApplication):  # type: ignore[misc]  # gunicorn ships no types
    """Gunicorn, configured here instead of in a file."""

    def __init__(self, services: Services) -> None:
        self._services = services
        self._worker: list[Worker] = []
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
            "post_worker_init": self._start_inline_worker,
            "worker_exit": self._stop_inline_worker,
        }
        for name, value in options.items():
            self.cfg.set(name, value)

    def load(self) -> Flask:
        """Build the application inside gunicorn's worker process, after the fork."""
        return build_app(self._services)

    def _start_inline_worker(self, _process: object) -> None:
        if self._services.settings.clara_worker == "inline":
            worker = build_worker(self._services)
            self._worker.append(worker)
            Thread(target=worker.run, kwargs={"handle_signals": False}, name="inline-worker").start()

    def _stop_inline_worker(self, _arbiter: object, _process: object) -> None:
        for worker in self._worker:
            worker.stop()
        self._services.close()


def serve(services: Services) -> None:
    """Serve until SIGTERM or SIGINT."""
    WebServer(services).run()


def _database(services: Services) -> str:
    with translated(), services.engine.get().connect() as connection:
        held = connection.scalar(text("select sum(passages) from corpora"))
    if not held:
        raise NothingIngestedError
    return f"{held} passages"


def _worker(services: Services) -> str:
    recent = "select count(*) from procrastinate_workers where last_heartbeat > now() - make_interval(secs => :seconds)"
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
