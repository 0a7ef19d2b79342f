"""Delivery that survives any death: fences, sealed addresses, parts of replies, tries to send, limits.

Everything that the previous release reads and writes stays as it is, so that its processes may go on during an upgrade.

Revision: 0004, after 0003
"""

from alembic import op

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None

CHANGES = """
alter table inbox
    alter column sender drop not null,
    alter column recipient drop not null,
    add column address bytea,
    add column received_at timestamptz not null default now(),
    add column fence bigint not null default 0,
    add column tries integer not null default 0,
    add column over_limit text,
    add column set_aside_at timestamptz,
    add column looked_at timestamptz;
update inbox set received_at = created_at;
comment on column inbox.sender is 'in clear only when the previous release wrote it; sealed by the next worker';
comment on column inbox.address is 'sender and recipient, sealed with AES-GCM; empty a day after the last delivery';
comment on column inbox.fence is 'grows with every beginning of the turn: what is written under an older one is refused';
comment on column inbox.tries is 'beginnings that have not led to a recorded reply';
comment on column inbox.over_limit is 'the limit that the message was over; empty: none';
comment on column inbox.set_aside_at is 'when it had broken its worker too often: a person should look at it';
create index ix_inbox_address_created_at on inbox (created_at) where address is not null or sender is not null;
create index ix_inbox_set_aside_at on inbox (set_aside_at) where set_aside_at is not null and looked_at is null;

alter table outbox
    add column part smallint not null default 0,
    add column attempts integer not null default 0,
    add column attempted_at timestamptz,
    add column resends integer not null default 0,
    add column superseded_sids text[] not null default '{}',
    drop constraint uq_outbox_inbox_id,
    add constraint uq_outbox_inbox_id_part unique (inbox_id, part);
comment on column outbox.attempted_at is 'when a try to send began whose outcome nobody recorded';
comment on column outbox.superseded_sids is 'ids of tries that the channel took and then failed for its rate';
create index ix_outbox_pending on outbox (id) where status = 'pending';

create table usage (
    scope text not null,
    window_start timestamptz not null,
    shard smallint not null default 0,
    used bigint not null default 0,
    constraint pk_usage primary key (scope, window_start, shard)
);
comment on table usage is 'messages and answers counted for the limits';
create index ix_usage_window_start on usage (window_start);
"""


def upgrade() -> None:
    op.execute(CHANGES)


def downgrade() -> None:
    op.execute("""
drop table usage;
drop index ix_outbox_pending;
delete from outbox where part > 0;
alter table outbox drop constraint uq_outbox_inbox_id_part, add constraint uq_outbox_inbox_id unique (inbox_id),
    drop column part, drop column attempts, drop column attempted_at, drop column resends, drop column superseded_sids;
delete from inbox where sender is null;
alter table inbox alter column sender set not null, alter column recipient set not null, drop column address,
    drop column received_at, drop column fence, drop column tries, drop column over_limit, drop column set_aside_at,
    drop column looked_at;
""")
