"""The tables of what editors work on: sources and findings, publications, the gazette."""

from sqlalchemy import (
    BigInteger,
    CheckConstraint,
    Column,
    Date,
    DateTime,
    Float,
    ForeignKey,
    Identity,
    Index,
    Integer,
    Table,
    Text,
    UniqueConstraint,
    func,
    text,
)
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
