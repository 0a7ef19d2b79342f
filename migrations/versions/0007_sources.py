"""Snapshots of sources and norms, the last look at each, and what was found to have changed.

The previous release knows none of these tables, so its processes may go on during an upgrade.

Revision: 0007, after 0006
"""

from alembic import op

revision = "0007"
down_revision = "0006"
branch_labels = None
depends_on = None

TABLES = """
create table snapshots (
    id BIGINT GENERATED ALWAYS AS IDENTITY,
    source_id TEXT NOT NULL,
    kind TEXT NOT NULL,
    url TEXT NOT NULL,
    digest TEXT NOT NULL,
    content TEXT NOT NULL,
    version_date DATE,
    etag TEXT,
    last_modified TEXT,
    fetched_at TIMESTAMP WITH TIME ZONE DEFAULT now() NOT NULL,
    state TEXT DEFAULT 'waiting' NOT NULL,
    ingestion JSONB,
    CONSTRAINT pk_snapshots PRIMARY KEY (id),
    CONSTRAINT ck_snapshots_state CHECK (state in ('waiting', 'served', 'past', 'rejected')),
    CONSTRAINT ck_snapshots_kind CHECK (kind in ('norm', 'html', 'pdf', 'xml')),
    CONSTRAINT uq_snapshots_source_id_digest UNIQUE (source_id, digest)
);
create unique index ix_snapshots_served ON snapshots (source_id) WHERE state = 'served';
comment on table snapshots is 'what a source said, and when';
comment on column snapshots.source_id is 'of the registry, or the id of a norm in the gazette';
comment on column snapshots.kind is 'norm, html, pdf or xml';
comment on column snapshots.digest is 'of the content';
comment on column snapshots.content is 'the text that was read; of a norm its JSON';
comment on column snapshots.version_date is 'of a norm: the day from which this wording holds';
comment on column snapshots.state is 'waiting for review, served, past or rejected';
create table checks (
    source_id TEXT NOT NULL,
    checked_at TIMESTAMP WITH TIME ZONE DEFAULT now() NOT NULL,
    reached_at TIMESTAMP WITH TIME ZONE,
    outcome TEXT NOT NULL,
    detail TEXT DEFAULT '' NOT NULL,
    CONSTRAINT pk_checks PRIMARY KEY (source_id)
);
comment on column snapshots.ingestion is 'of a norm: which run last brought it into the index, and what that did';
comment on table checks is 'the last look at each source';
comment on column checks.reached_at is 'when it last answered; empty: never';
comment on column checks.outcome is 'unchanged, cosmetic, substantive, unreachable or new';
create table findings (
    id BIGINT GENERATED ALWAYS AS IDENTITY,
    source_id TEXT NOT NULL,
    kind TEXT NOT NULL,
    weight TEXT NOT NULL,
    place TEXT DEFAULT '' NOT NULL,
    title TEXT NOT NULL,
    before TEXT,
    after TEXT,
    figures JSONB DEFAULT '{}' NOT NULL,
    snapshot_id BIGINT,
    digest TEXT NOT NULL,
    found_at TIMESTAMP WITH TIME ZONE DEFAULT now() NOT NULL,
    state TEXT DEFAULT 'open' NOT NULL,
    decided_at TIMESTAMP WITH TIME ZONE,
    decided_by TEXT,
    reason TEXT,
    CONSTRAINT pk_findings PRIMARY KEY (id),
    CONSTRAINT ck_findings_state CHECK (state in ('open', 'accepted', 'rejected', 'superseded')),
    CONSTRAINT ck_findings_weight CHECK (weight in ('cosmetic', 'substantive')),
    CONSTRAINT fk_findings_snapshot_id FOREIGN KEY(snapshot_id) REFERENCES snapshots (id) ON DELETE CASCADE,
    CONSTRAINT uq_findings_digest UNIQUE (digest)
);
create index ix_findings_open ON findings (source_id) WHERE state = 'open';
comment on table findings is 'what was found to differ from what is served';
comment on column findings.kind is 'article, page or unreachable';
comment on column findings.weight is 'cosmetic or substantive';
comment on column findings.place is 'of a norm: the key of the provision';
comment on column findings.before is 'empty: it is new';
comment on column findings.after is 'empty: it is gone';
comment on column findings.figures is 'figures that went, came';
comment on column findings.snapshot_id is 'the new state';
comment on column findings.digest is 'of source, place, before and after: found once';
create table finding_facts (
    finding_id BIGINT NOT NULL,
    fact_id TEXT NOT NULL,
    relation TEXT NOT NULL,
    proposal JSONB,
    CONSTRAINT pk_finding_facts PRIMARY KEY (finding_id, fact_id),
    CONSTRAINT fk_finding_facts_finding_id FOREIGN KEY(finding_id) REFERENCES findings (id) ON DELETE CASCADE
);
create index ix_finding_facts_fact_id ON finding_facts (fact_id);
comment on table finding_facts is 'the facts that a finding touches';
comment on column finding_facts.relation is 'provision, norm or source: what of the fact the finding touches';
comment on column finding_facts.proposal is 'the fact with the new figures in place of the old, where that is certain';
"""


def upgrade() -> None:
    op.execute(TABLES)


def downgrade() -> None:
    op.execute("drop table finding_facts, findings, checks, snapshots")
