"""The tables of what is served, what waits to be, and what was."""

from sqlalchemy import (
    BigInteger,
    CheckConstraint,
    Column,
    DateTime,
    ForeignKey,
    Identity,
    Index,
    Table,
    Text,
    func,
    text,
)
from sqlalchemy.dialects.postgresql import ARRAY, JSONB

from clara.adapters.postgres.schema import metadata

publications = Table(
    "publications",
    metadata,
    Column("id", BigInteger, Identity(always=True), primary_key=True),
    Column("corpus", Text, nullable=False, comment="the name under which it is asked: clara"),
    Column("physical", Text, nullable=False, comment="the corpus that holds it"),
    Column("state", Text, nullable=False, server_default="staged"),
    Column("revisions", ARRAY(BigInteger), nullable=False, server_default="{}", comment="ids of the corrections that it holds"),
    Column("gate", JSONB, nullable=False, server_default="{}", comment="measures of the evaluation, and what fell short"),
    Column("created_at", DateTime(timezone=True), nullable=False, server_default=func.now()),
    Column("served_at", DateTime(timezone=True)),
    Column("ended_at", DateTime(timezone=True)),
    CheckConstraint("state in ('staged', 'refused', 'served', 'past', 'undone')", name="state"),
    Index("ix_publications_served", "corpus", unique=True, postgresql_where=text("state = 'served'")),
    comment="versions of the knowledge, each in a corpus of its own",
)

served = Table(
    "served",
    metadata,
    Column("name", Text, primary_key=True),
    Column("physical", Text, ForeignKey("corpora.name"), nullable=False),
    Column("publication_id", BigInteger, ForeignKey("publications.id"), nullable=False),
    Column("switched_at", DateTime(timezone=True), nullable=False, server_default=func.now()),
    comment="which corpus stands behind a name; without a row the corpus of that name itself",
)

revisions = Table(
    "revisions",
    metadata,
    Column("id", BigInteger, Identity(always=True), primary_key=True),
    Column("fact_id", Text, nullable=False),
    Column("fields", JSONB, nullable=False, comment="fields of the fact that replace those of data/"),
    Column("base_digest", Text, nullable=False, comment="of the fact in data/ that it was made for: another one wins over it"),
    Column("reason", Text, nullable=False),
    Column("finding_id", BigInteger, ForeignKey("findings.id", ondelete="SET NULL")),
    Column("made_by", Text, nullable=False),
    Column("created_at", DateTime(timezone=True), nullable=False, server_default=func.now()),
    Column("publication_id", BigInteger, ForeignKey("publications.id"), comment="that served it first; empty: a draft"),
    Column("withdrawn_at", DateTime(timezone=True)),
    Index(None, "fact_id"),
    comment="facts that a person has corrected since the release",
)

evidence_versions = Table(
    "evidence_versions",
    metadata,
    Column("corpus", Text, primary_key=True, comment="the name under which it was asked"),
    Column("passage_id", Text, primary_key=True),
    Column("known_from", DateTime(timezone=True), primary_key=True),
    Column("known_until", DateTime(timezone=True), comment="empty: still served"),
    Column("digest", Text, nullable=False),
    Column("content", JSONB, nullable=False, comment="the passage, so that a past answer can be given again"),
    Index("ix_evidence_versions_open", "corpus", "passage_id", unique=True, postgresql_where=text("known_until is null")),
    comment="everything that was ever served, with the time during which it was",
)
