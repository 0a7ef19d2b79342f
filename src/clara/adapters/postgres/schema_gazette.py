"""The tables of the gazette's monitor: which days were read, and which items concern us."""

from sqlalchemy import CheckConstraint, Column, Date, DateTime, Float, Index, Integer, Table, Text, func
from sqlalchemy.dialects.postgresql import ARRAY, JSONB

from clara.adapters.postgres.schema import metadata

gazette_days = Table(
    "gazette_days",
    metadata,
    Column("day", Date, primary_key=True),
    Column("state", Text, nullable=False, comment="read, none (no issue on that day) or failed"),
    Column("issues", Integer, nullable=False, server_default="0"),
    Column("items", Integer, nullable=False, server_default="0"),
    Column("tries", Integer, nullable=False, server_default="1"),
    Column("error", Text),
    Column("read_at", DateTime(timezone=True), nullable=False, server_default=func.now()),
    CheckConstraint("state in ('read', 'none', 'failed')", name="state"),
    comment="a failed day is never a quiet day: it is read again",
)

gazette_items = Table(
    "gazette_items",
    metadata,
    Column("id", Text, primary_key=True, comment="as in the gazette: BOE-A-2026-1"),
    Column("day", Date, nullable=False),
    Column("section", Text, nullable=False),
    Column("department", Text, nullable=False),
    Column("title", Text, nullable=False),
    Column("url", Text, nullable=False),
    Column("score", Float, nullable=False),
    Column("reasons", JSONB, nullable=False, comment="why it concerns us: norms with the relation, keywords"),
    Column("norms", ARRAY(Text), nullable=False, server_default="{}"),
    Column("facts", ARRAY(Text), nullable=False, server_default="{}"),
    Column("procedures", ARRAY(Text), nullable=False, server_default="{}"),
    Column("found_at", DateTime(timezone=True), nullable=False, server_default=func.now()),
    Column("notified_at", DateTime(timezone=True), comment="when it was told to somebody; never twice"),
    Column("seen_at", DateTime(timezone=True), comment="when a person said that they have looked at it"),
    Index(None, "day"),
    comment="items of the gazette that concern norms we cite, or our matters",
)
