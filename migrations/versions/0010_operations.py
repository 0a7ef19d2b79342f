"""What ran and what operators did.

The previous release knows none of these tables, so its processes may go on during an upgrade.

Revision: 0010, after 0009
"""

from alembic import op

revision = "0010"
down_revision = "0009"
branch_labels = None
depends_on = None

TABLES = """
create table job_runs (
    id BIGINT GENERATED ALWAYS AS IDENTITY,
    job TEXT NOT NULL,
    arguments TEXT DEFAULT '' NOT NULL,
    process TEXT DEFAULT '' NOT NULL,
    started_at TIMESTAMP WITH TIME ZONE DEFAULT now() NOT NULL,
    alive_at TIMESTAMP WITH TIME ZONE DEFAULT now() NOT NULL,
    finished_at TIMESTAMP WITH TIME ZONE,
    exit_code INTEGER,
    report JSONB DEFAULT '{}' NOT NULL,
    error TEXT,
    CONSTRAINT pk_job_runs PRIMARY KEY (id),
    CONSTRAINT ck_job_runs_exit_code CHECK (exit_code between 0 and 2)
);
create index ix_job_runs_job_started_at ON job_runs (job, started_at);
create index ix_job_runs_unfinished ON job_runs (job) WHERE finished_at is null;
comment on table job_runs is 'what ran, when, and how it ended: a run that is missing is an alarm';
comment on column job_runs.job is 'ingestion, drift, boe, publish, undo, withdraw';
comment on column job_runs.process is 'machine and number of the process';
comment on column job_runs.alive_at is 'last sign of life';
comment on column job_runs.exit_code is '0 fine, 1 findings, 2 could not run; empty: it runs, or died';
create table schedules (
    job TEXT NOT NULL,
    enabled_at TIMESTAMP WITH TIME ZONE DEFAULT now() NOT NULL,
    CONSTRAINT pk_schedules PRIMARY KEY (job)
);
comment on table schedules is 'since when a job is expected to run by itself: one that has never run is late by this';
create table audit_log (
    id BIGINT GENERATED ALWAYS AS IDENTITY,
    at TIMESTAMP WITH TIME ZONE DEFAULT now() NOT NULL,
    actor TEXT NOT NULL,
    act TEXT NOT NULL,
    subject TEXT DEFAULT '' NOT NULL,
    outcome TEXT DEFAULT 'done' NOT NULL,
    details JSONB DEFAULT '{}' NOT NULL,
    CONSTRAINT pk_audit_log PRIMARY KEY (id)
);
create index ix_audit_log_at ON audit_log (at);
comment on table audit_log is 'every act of an operator; rows are added, never changed';
create function refuse_change() returns trigger language plpgsql as $$
begin
    raise exception 'rows of % are added, never changed or removed', tg_table_name;
end $$;
create trigger added_only before update or delete on audit_log for each statement execute function refuse_change();
comment on column audit_log.actor is 'operator, reader, stranger or cli: never the name of a person';
"""


def upgrade() -> None:
    op.execute(TABLES)


def downgrade() -> None:
    op.execute("drop table audit_log, schedules, job_runs; drop function refuse_change")
