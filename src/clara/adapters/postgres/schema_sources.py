"""The tables of what is read from outside: snapshots of sources, and what was found to have changed."""

from sqlalchemy import (
    BigInteger,
    CheckConstraint,
    Column,
    Date,
    DateTime,
    ForeignKey,
    Identity,
    Index,
    Table,
    Text,
    UniqueConstraint,
    func,
    text,
)
from sqlalchemy.dialects.postgresql import JSONB

from clara.adapters.postgres.schema import metadata

snapshots = Table(
    "snapshots",
    metadata,
    Column("id", BigInteger, Identity(always=True), primary_key=True),
    Column("source_id", Text, nullable=False, comment="of the registry, or the id of a norm in the gazette"),
    Column("kind", Text, nullable=False, comment="norm, html, pdf or xml"),
    Column("url", Text, nullable=False),
    Column("digest", Text, nullable=False, comment="of the content"),
    Column("content", Text, nullable=False, comment="the text that was read; of a norm its JSON"),
    Column("version_date", Date, comment="of a norm: the day from which this wording holds"),
    Column("etag", Text),
    Column("last_modified", Text),
    Column("fetched_at", DateTime(timezone=True), nullable=False, server_default=func.now()),
    Column("state", Text, nullable=False, server_default="waiting", comment="waiting for review, served, past or rejected"),
    Column("ingestion", JSONB, comment="of a norm: which run last brought it into the index, and what that did"),
    CheckConstraint("state in ('waiting', 'served', 'past', 'rejected')", name="state"),
    CheckConstraint("kind in ('norm', 'html', 'pdf', 'xml')", name="kind"),
    UniqueConstraint("source_id", "digest"),
    Index("ix_snapshots_served", "source_id", unique=True, postgresql_where=text("state = 'served'")),
    comment="what a source said, and when",
)

checks = Table(
    "checks",
    metadata,
    Column("source_id", Text, primary_key=True),
    Column("checked_at", DateTime(timezone=True), nullable=False, server_default=func.now()),
    Column("reached_at", DateTime(timezone=True), comment="when it last answered; empty: never"),
    Column("outcome", Text, nullable=False, comment="unchanged, cosmetic, substantive, unreachable or new"),
    Column("detail", Text, nullable=False, server_default=""),
    comment="the last look at each source",
)

findings = Table(
    "findings",
    metadata,
    Column("id", BigInteger, Identity(always=True), primary_key=True),
    Column("source_id", Text, nullable=False),
    Column("kind", Text, nullable=False, comment="article, page or unreachable"),
    Column("weight", Text, nullable=False, comment="cosmetic or substantive"),
    Column("place", Text, nullable=False, server_default="", comment="of a norm: the key of the provision"),
    Column("title", Text, nullable=False),
    Column("before", Text, comment="empty: it is new"),
    Column("after", Text, comment="empty: it is gone"),
    Column("figures", JSONB, nullable=False, server_default="{}", comment="figures that went, came"),
    Column("snapshot_id", BigInteger, ForeignKey("snapshots.id", ondelete="CASCADE"), comment="the new state"),
    Column("digest", Text, nullable=False, unique=True, comment="of source, place, before and after: found once"),
    Column("found_at", DateTime(timezone=True), nullable=False, server_default=func.now()),
    Column("state", Text, nullable=False, server_default="open"),
    Column("decided_at", DateTime(timezone=True)),
    Column("decided_by", Text),
    Column("reason", Text),
    CheckConstraint("state in ('open', 'accepted', 'rejected', 'superseded')", name="state"),
    CheckConstraint("weight in ('cosmetic', 'substantive')", name="weight"),
    Index("ix_findings_open", "source_id", postgresql_where=text("state = 'open'")),
    comment="what was found to differ from what is served",
)

finding_facts = Table(
    "finding_facts",
    metadata,
    Column("finding_id", BigInteger, ForeignKey("findings.id", ondelete="CASCADE"), primary_key=True),
    Column("fact_id", Text, primary_key=True),
    Column("relation", Text, nullable=False, comment="provision, norm, source or formula: by what the finding touches it"),
    Column("proposal", JSONB, comment="the fact with the new figures in place of the old, where that is certain"),
    Column("decision", Text, comment="of a person, about this fact: corrected, or holds; empty: nobody decided"),
    Column("reason", Text, comment="why it holds"),
    Column("decided_at", DateTime(timezone=True)),
    Column("decided_by", Text),
    CheckConstraint("decision in ('corrected', 'holds')", name="decision"),
    Index(None, "fact_id"),
    comment="the facts that a finding touches",
)
