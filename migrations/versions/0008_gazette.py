"""The gazette's monitor: which days were read, and which items concern us.

The previous release knows none of these tables, so its processes may go on during an upgrade.

Revision: 0008, after 0007
"""

from alembic import op

revision = "0008"
down_revision = "0007"
branch_labels = None
depends_on = None

TABLES = """
create table gazette_days (
    day DATE NOT NULL,
    state TEXT NOT NULL,
    issues INTEGER DEFAULT '0' NOT NULL,
    items INTEGER DEFAULT '0' NOT NULL,
    tries INTEGER DEFAULT '1' NOT NULL,
    error TEXT,
    read_at TIMESTAMP WITH TIME ZONE DEFAULT now() NOT NULL,
    CONSTRAINT pk_gazette_days PRIMARY KEY (day),
    CONSTRAINT ck_gazette_days_state CHECK (state in ('read', 'none', 'failed'))
);
comment on table gazette_days is 'a failed day is never a quiet day: it is read again';
comment on column gazette_days.state is 'read, none (no issue on that day) or failed';
create table gazette_items (
    id TEXT NOT NULL,
    day DATE NOT NULL,
    section TEXT NOT NULL,
    department TEXT NOT NULL,
    title TEXT NOT NULL,
    url TEXT NOT NULL,
    score FLOAT NOT NULL,
    reasons JSONB NOT NULL,
    norms TEXT[] DEFAULT '{}' NOT NULL,
    facts TEXT[] DEFAULT '{}' NOT NULL,
    procedures TEXT[] DEFAULT '{}' NOT NULL,
    found_at TIMESTAMP WITH TIME ZONE DEFAULT now() NOT NULL,
    notified_at TIMESTAMP WITH TIME ZONE,
    seen_at TIMESTAMP WITH TIME ZONE,
    CONSTRAINT pk_gazette_items PRIMARY KEY (id)
);
create index ix_gazette_items_day ON gazette_items (day);
comment on table gazette_items is 'items of the gazette that concern norms we cite, or our matters';
comment on column gazette_items.id is 'as in the gazette: BOE-A-2026-1';
comment on column gazette_items.reasons is 'why it concerns us: norms with the relation, keywords';
comment on column gazette_items.notified_at is 'when it was told to somebody; never twice';
comment on column gazette_items.seen_at is 'when a person said that they have looked at it';
"""


def upgrade() -> None:
    op.execute(TABLES)


def downgrade() -> None:
    op.execute("drop table gazette_items, gazette_days")
