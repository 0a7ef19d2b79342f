"""The web application on its adapters: what it takes in, and what its health is asked of."""

import os
from dataclasses import dataclass

from flask import Flask
from sqlalchemy import text

from clara.adapters.postgres.engine import translated
from clara.adapters.postgres.inbox import PostgresInbox
from clara.adapters.postgres.overview import ask
from clara.adapters.postgres.reports import PostgresReports
from clara.adapters.postgres.usage import Kind
from clara.adapters.procrastinate.engine import QUEUE, TASK, TurnScheduler
from clara.adapters.spool.spool import FileSpool
from clara.adapters.twilio.codes import retryable_report
from clara.bootstrap import Services
from clara.delivery.limits import Limits
from clara.delivery.receiving import Drainer, SpoolingInbox
from clara.delivery.triage import LongReader, TriagingInbox
from clara.jobs import expecting
from clara.jobs.administering import build_admin
from clara.jobs.delivering import probe
from clara.settings import Settings
from clara.web.app import Edge, create_app

WORKER_SEEN_WITHIN_SECONDS = 10


def build_app(services: Services, door: "Door | None" = None) -> Flask:
    """Build the application on its adapters."""
    return create_app(build_edge(services, door or open_door(services)))


def build_edge(services: Services, door: "Door") -> Edge:
    """Wire the web layer to its adapters."""
    settings = services.settings
    signed = None
    if settings.clara_channel == "twilio" and settings.twilio_auth_token is not None:
        from clara.adapters.twilio.signature import TwilioSignature  # noqa: PLC0415  not needed by the local channel

        signed = TwilioSignature(settings.twilio_auth_token.get_secret_value()).signed_fields
    texts, danger = services.texts.get(), services.danger.get()

    def in_danger(said: str) -> bool:
        return bool(danger.recognise(said))

    return Edge(
        inbox=TriagingInbox(door.receiving, in_danger, LongReader(in_danger, door.inbox.hasten).read),
        replies=door.inbox,
        reports=door.receiving,
        probes={
            "database": lambda: _database(services),
            "worker": lambda: _worker(services),
            "delivery": lambda: probe(services, door.spool.waiting),
            "jobs": lambda: expecting.probe(services),
        },
        direction=texts.direction,
        signed=signed,
        public_url=settings.clara_public_url if signed else None,
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
