"""The tables of what operators and schedules did, and of what is expected of schedules."""

from sqlalchemy import (
    BigInteger,
    CheckConstraint,
    Column,
    DateTime,
    Identity,
    Index,
    Integer,
    LargeBinary,
    Table,
    Text,
    func,
    text,
)
from sqlalchemy.dialects.postgresql import JSONB

from clara.adapters.postgres.schema import metadata

job_runs = Table(
    "job_runs",
    metadata,
    Column("id", BigInteger, Identity(always=True), primary_key=True),
    Column("job", Text, nullable=False, comment="ingestion, drift, boe, publish, undo, withdraw"),
    Column("arguments", Text, nullable=False, server_default=""),
    Column("process", Text, nullable=False, server_default="", comment="machine and number of the process"),
    Column("started_at", DateTime(timezone=True), nullable=False, server_default=func.now()),
    Column("alive_at", DateTime(timezone=True), nullable=False, server_default=func.now(), comment="last sign of life"),
    Column("finished_at", DateTime(timezone=True)),
    Column("exit_code", Integer, comment="0 fine, 1 findings, 2 could not run; empty: it runs, or died"),
    Column("report", JSONB, nullable=False, server_default="{}"),
    Column("error", Text),
    CheckConstraint("exit_code between 0 and 2", name="exit_code"),
    Index(None, "job", "started_at"),
    Index("ix_job_runs_unfinished", "job", postgresql_where=text("finished_at is null")),
    comment="what ran, when, and how it ended: a run that is missing is an alarm",
)

schedules = Table(
    "schedules",
    metadata,
    Column("job", Text, primary_key=True),
    Column("enabled_at", DateTime(timezone=True), nullable=False, server_default=func.now()),
    comment="since when a job is expected to run by itself: one that has never run is late by this",
)

audit_log = Table(
    "audit_log",
    metadata,
    Column("id", BigInteger, Identity(always=True), primary_key=True),
    Column("at", DateTime(timezone=True), nullable=False, server_default=func.now()),
    Column("actor", Text, nullable=False, comment="operator, reader, stranger or cli: never the name of a person"),
    Column("act", Text, nullable=False),
    Column("subject", Text, nullable=False, server_default=""),
    Column("outcome", Text, nullable=False, server_default="done"),
    Column("details", JSONB, nullable=False, server_default="{}"),
    Column(
        "digest",  # made by a trigger
        LargeBinary,
        nullable=False,
        comment="SHA-256 of the digest before it and of this act: a change is seen from here on",
    ),
    Index(None, "at"),
    comment="every act of an operator; rows are added, never changed",
)
