"""Inbox, outbox and turns: what was asked, what was answered, what was delivered.

Revision: 0002, after 0001
"""

from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None

TABLES = """
create table inbox (
    id bigint generated always as identity constraint pk_inbox primary key,
    message_sid text not null constraint uq_inbox_message_sid unique,
    channel text not null,
    pseudonym text not null,
    sender text not null,
    recipient text not null,
    body text,
    media_types text[] not null default '{}',
    created_at timestamptz not null default now()
);
comment on column inbox.message_sid is 'signed by the channel: the key that stops replays';
comment on column inbox.pseudonym is 'keyed HMAC of the sender''s address';
create index ix_inbox_pseudonym on inbox (pseudonym);

create table outbox (
    id bigint generated always as identity constraint pk_outbox primary key,
    inbox_id bigint not null constraint uq_outbox_inbox_id unique
        constraint fk_outbox_inbox_id references inbox (id) on delete cascade,
    body text not null,
    status text not null default 'pending',
    provider_sid text constraint uq_outbox_provider_sid unique,
    error_code text,
    created_at timestamptz not null default now(),
    updated_at timestamptz not null default now()
);

create table turns (
    inbox_id bigint constraint pk_turns primary key constraint fk_turns_inbox_id references inbox (id) on delete cascade,
    pseudonym text not null,
    language text not null,
    status text not null,
    tier text,
    citations jsonb not null default '[]',
    timings_ms jsonb not null default '{}',
    total_ms double precision not null,
    created_at timestamptz not null default now()
);
create index ix_turns_pseudonym_created_at on turns (pseudonym, created_at);
"""


def upgrade() -> None:
    op.execute(TABLES)


def downgrade() -> None:
    op.execute("drop table turns, outbox, inbox")
